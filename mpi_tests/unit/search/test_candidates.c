/* Pre-images among candidates that stay in their file, against those held in memory. */
#include <math.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/knn.h>
#include <dkmap/random.h>

#include "search/faiss_index.h"
#include "support/check.h"
#include "support/fixture_points.h"
#include "support/scratch.h"

enum { D = POINTS_D, NEW = POINTS_NEW, MANY = 140000, FEW = 50, INDEXED = 6000 };

static double candidate(dkm_idx i, dkm_idx k)
{
    return 1.5 * dkm_random_normal(13, 1, (uint64_t)i, (uint64_t)k);
}

static void write_candidates(dkm_ctx *ctx, dkm_idx n, char path[SCRATCH_LENGTH])
{
    dkm_data *C = objects_values(ctx, DKM_DENSE, n, D, candidate);

    scratch_path(ctx, "candidates.npy", path);
    CHECK_OK(ctx, dkm_data_write(C, path));
    dkm_data_destroy(&C);
}

static void open_candidates(dkm_ctx *ctx, const char *path, int stream, dkm_preimage_settings *pre)
{
    if (stream)
        CHECK_OK(ctx, dkm_source_open(ctx, path, DKM_OUTPUTS, NULL, &pre->stream));
    else
        CHECK_OK(ctx, dkm_data_read(ctx, path, DKM_OUTPUTS, NULL, &pre->candidates));
}

/* What is found for coordinates, with candidates in a file or in memory. */
static dkm_data *search(dkm_ctx *ctx, dkm_model *model, const char *path, int stream, dkm_idx top,
                        const dkm_data *Z)
{
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES, .top = top};
    dkm_data *Y = NULL;

    open_candidates(ctx, path, stream, &pre);
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK_OK(ctx, dkm_model_decode(model, Z, &Y));
    return Y;
}

static void check_same(const dkm_data *A, const dkm_data *B)
{
    dkm_idx count = dkm_data_local_rows(A) * dkm_data_cols(A);

    CHECK(dkm_data_local_rows(A) == dkm_data_local_rows(B));
    CHECK(dkm_data_cols(A) == dkm_data_cols(B));
    for (dkm_idx k = 0; k < count; k++) {
        double a = dkm_data_values_const(A)[k];
        CHECK_CLOSE(dkm_data_values_const(B)[k], a, 1e-12 * fabs(a));
    }
}

/* Held, passing by and passing by once more; @p bytes of memory are allowed while they pass. */
static void check_passing(dkm_ctx *ctx, dkm_model *model, const char *path, dkm_idx top,
                          const dkm_data *Z, double bytes)
{
    dkm_data *held = search(ctx, model, path, 0, top, Z), *passed, *again = NULL;

    dkm_ctx_set_memory(ctx, bytes);
    passed = search(ctx, model, path, 1, top, Z);
    CHECK_OK(ctx, dkm_model_decode(model, Z, &again));
    dkm_ctx_set_memory(ctx, 0);
    check_same(held, passed);
    check_same(held, again);
    dkm_data_destroy(&again);
    dkm_data_destroy(&passed);
    dkm_data_destroy(&held);
}

/* Coordinates are kept for the second time. */
static void compare(dkm_ctx *ctx, dkm_idx candidates)
{
    static const dkm_idx tops[] = {0, 1, 7};
    char path[SCRATCH_LENGTH];
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);
    dkm_data *Z = points_encode(ctx, model, NEW, points_new);

    write_candidates(ctx, candidates, path);
    for (int t = 0; t < 3; t++)
        check_passing(ctx, model, path, tops[t], Z, 0);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

static void those_in_a_file_are_found_as_those_in_memory(dkm_ctx *ctx)
{
    compare(ctx, FEW);
}

static void a_file_of_several_blocks_passes_by(dkm_ctx *ctx)
{
    compare(ctx, MANY);
}

/* With little memory allowed coordinates do not stay, and the file is read for every stretch. */
static void nothing_stays_where_memory_is_short(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);
    dkm_data *Z = points_encode(ctx, model, NEW, points_new);

    write_candidates(ctx, FEW, path);
    check_passing(ctx, model, path, 2, Z, 1);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

/* Generated strings, label sets and rows, more of them than one block, against the same in memory; of strings most
 * are left by the pivots, of label sets and rows almost none. Strings by their gaps: many have the same spectrum, and
 * which of those comes first is up to rounding. */
static void generated_ones_are_found_as_those_in_memory(dkm_ctx *ctx)
{
    static const struct {
        const char *line, *kernel;
        dkm_idx step; /* between the training objects */
    } rows[] = {{"strings abcd 1:6", "normalize(ssk(r=2, lambda=0.37))", 91},
                {"label-sets 20 0:4", "normalize(labels)", 101},
                {"grid -2:2:81 -1:1:91", "rbf(sigma=1.5)", 123}};
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "all.gen", path);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dkm_data *all = NULL, *X = NULL, *Q = NULL, *Z = NULL;
        dkm_idx train[50], some[7];
        dkm_model *model = NULL;

        for (dkm_idx i = 0; i < 50; i++)
            train[i] = 5 + i * rows[r].step;
        for (dkm_idx i = 0; i < 7; i++)
            some[i] = 17 + 611 * i;
        scratch_text(ctx, path, rows[r].line);
        CHECK_OK(ctx, dkm_data_read(ctx, path, DKM_OUTPUTS, NULL, &all));
        CHECK_OK(ctx, dkm_data_select(all, 50, train, &X));
        CHECK_OK(ctx, dkm_data_select(all, 7, some, &Q));
        CHECK_OK(ctx, points_fit_objects(ctx, X, rows[r].kernel, 12, &model));
        CHECK_OK(ctx, dkm_model_predict(model, Q, &Z));
        check_passing(ctx, model, path, 5, Z, 0);
        dkm_data_destroy(&Z);
        dkm_data_destroy(&Q);
        dkm_data_destroy(&X);
        dkm_data_destroy(&all);
        dkm_model_destroy(&model);
    }
    scratch_remove(ctx, path);
}

/* What an index finds of the points' true neighbors: all that was asked for, in memory as streamed. Every point is
 * in the sample whose recall is measured, so that a recall of 1 is the answer of a search through all. */
static void an_index_finds_what_was_asked_for(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);
    dkm_data *Z = points_encode(ctx, model, NEW, points_new), *exact;

    write_candidates(ctx, INDEXED, path);
    exact = search(ctx, model, path, 0, 7, Z);
    for (int stream = 0; stream < 2 && dkm_faiss_available(); stream++)
        for (int all = 0; all < 2; all++) {
            dkm_search_info info = {0};
            dkm_preimage_settings pre = {.top = 7, .approximate = all ? 1.0 : 0.6, .info = &info};
            dkm_data *Y = NULL, *again = NULL;
            open_candidates(ctx, path, stream, &pre);
            CHECK_OK(ctx, dkm_model_configure(model, &pre));
            dkm_preimage_settings_clear(&pre);
            CHECK_OK(ctx, dkm_model_decode(model, Z, &Y));
            CHECK_OK(ctx, dkm_model_decode(model, Z, &again));
            CHECK(info.candidates == INDEXED && info.sample == NEW && info.searches == 2);
            CHECK(info.recall >= (all ? 1.0 : 0.6) && info.recall <= 1.0);
            CHECK(info.cells > 1 && info.probes >= 1 && info.probes <= info.cells);
            CHECK(info.evaluated < 2 * INDEXED);
            check_same(Y, again);
            if (all)
                check_same(exact, Y);
            dkm_data_destroy(&again);
            dkm_data_destroy(&Y);
        }
    dkm_data_destroy(&exact);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

/* Fewer candidates than ranks, and as many as are listed: one cell, in which all are found. */
static void an_index_of_few_is_no_worse(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);
    dkm_data *Z = points_encode(ctx, model, NEW, points_new);

    for (dkm_idx n = 1; n < 6 && dkm_faiss_available(); n += 2) {
        dkm_preimage_settings pre = {.top = n, .approximate = 0.5};
        dkm_data *exact, *Y = NULL;
        write_candidates(ctx, n, path);
        exact = search(ctx, model, path, 0, n, Z);
        open_candidates(ctx, path, 1, &pre);
        CHECK_OK(ctx, dkm_model_configure(model, &pre));
        dkm_preimage_settings_clear(&pre);
        CHECK_OK(ctx, dkm_model_decode(model, Z, &Y));
        check_same(exact, Y);
        dkm_data_destroy(&exact);
        dkm_data_destroy(&Y);
        scratch_remove(ctx, path);
    }
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

/* Of a share that is none, beside scores of all, and where faiss is not there. */
static void an_index_is_refused_where_it_cannot_be(dkm_ctx *ctx)
{
    static const double wrong[] = {-0.1, 1.5, NAN};
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);

    for (int k = 0; k < 3; k++) {
        dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES, .approximate = wrong[k]};
        CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    }
    if (!dkm_faiss_available()) {
        dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES, .approximate = 0.9};
        CHECK(dkm_model_configure(model, &pre) == DKM_ERR_UNSUPPORTED);
        CHECK(strstr(dkm_ctx_message(ctx), "libfaiss-dev") != NULL);
    }
    dkm_model_destroy(&model);
}

enum { CLASSES = 10, EACH = 6 };

/* Rows of an identity matrix, over and over. */
static double one_hot(dkm_idx i, dkm_idx k)
{
    return i % CLASSES == k;
}

/* Coordinates of the first rows in another order, at a length that is lost in the rounding of a
 * norm. */
static dkm_data *faint(dkm_ctx *ctx, dkm_model *model, dkm_idx order[CLASSES])
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, CLASSES, CLASSES, one_hot), *Z = NULL, *Q = NULL;

    CHECK_OK(ctx, dkm_model_predict(model, X, &Z));
    for (dkm_idx i = 0; i < CLASSES; i++)
        order[i] = (i * 7 + 3) % CLASSES;
    CHECK_OK(ctx, dkm_data_select(Z, CLASSES, order, &Q));
    for (dkm_idx k = 0; Q && k < dkm_data_local_rows(Q) * dkm_data_cols(Q); k++)
        dkm_data_values(Q)[k] = ldexp(dkm_data_values(Q)[k], -70);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    return Q;
}

/* All norms are the same but for rounding, which must not choose: neither in memory, nor where
 * coordinates of a file stay, nor where they do not. */
static void faint_points_find_what_they_lean_to(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, CLASSES * EACH, CLASSES, one_hot);
    dkm_data *C = objects_values(ctx, DKM_DENSE, CLASSES, CLASSES, one_hot), *Q;
    dkm_model *model = NULL;
    char path[SCRATCH_LENGTH];
    dkm_idx order[CLASSES];

    CHECK_OK(ctx, points_fit_objects(ctx, X, "rbf(sigma=0.45)", CLASSES - 1, &model));
    dkm_data_destroy(&X);
    scratch_path(ctx, "classes.npy", path);
    CHECK_OK(ctx, dkm_data_write(C, path));
    Q = faint(ctx, model, order);
    for (int way = 0; way < 3; way++) { /* in memory; streamed, and kept; streamed twice */
        dkm_data *Y, *again = NULL;
        dkm_ctx_set_memory(ctx, way == 2 ? 1 : 0);
        Y = search(ctx, model, path, way > 0, 1, Q);
        CHECK_OK(ctx, dkm_model_decode(model, Q, &again));
        dkm_ctx_set_memory(ctx, 0);
        for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
            double wanted = (double)order[dkm_data_local_first(Y) + i];
            CHECK_CLOSE(dkm_data_values_const(Y)[2 * i], wanted, 0);
            CHECK_CLOSE(dkm_data_values_const(again)[2 * i], wanted, 0);
        }
        dkm_data_destroy(&again);
        dkm_data_destroy(&Y);
    }
    dkm_data_destroy(&Q);
    dkm_data_destroy(&C);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

static void a_file_of_another_width_is_refused(dkm_ctx *ctx)
{
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_CANDIDATES};
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 5);
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "narrow.csv", path);
    scratch_text(ctx, path, "1\n2\n3\n");
    CHECK_OK(ctx, dkm_source_open(ctx, path, DKM_OUTPUTS, NULL, &pre.stream));
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    CHECK(strstr(dkm_ctx_message(ctx), "candidates have 1 columns") != NULL);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

/* Points whose outputs are themselves, on the sphere. */
static dkm_model *fit_joint(dkm_ctx *ctx)
{
    dkm_jkm_settings settings = dkm_jkm_settings_default();
    dkm_data *X = objects_values(ctx, DKM_DENSE, FEW, D, candidate);
    dkm_data *Y = objects_values(ctx, DKM_DENSE, FEW, D, candidate);
    dkm_joint *joint = NULL;
    dkm_kernel *kx = NULL;
    dkm_model *model = NULL;

    settings.C = 10;
    settings.epsilon = 0.5;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &kx));
    CHECK_OK(ctx, dkm_joint_parse(ctx, "linear", &joint));
    CHECK_OK(ctx, dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, &settings, &model, NULL));
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return model;
}

static void joint_maps_choose_from_a_file_too(dkm_ctx *ctx)
{
    dkm_model *model = fit_joint(ctx);
    dkm_data *X = objects_values(ctx, DKM_DENSE, NEW, D, points_new), *found[2] = {NULL, NULL};
    char path[SCRATCH_LENGTH];

    write_candidates(ctx, FEW, path);
    for (int stream = 0; stream < 2; stream++) {
        dkm_preimage_settings pre = {.top = 3};
        open_candidates(ctx, path, stream, &pre);
        CHECK_OK(ctx, dkm_model_configure(model, &pre));
        dkm_preimage_settings_clear(&pre);
        CHECK_OK(ctx, dkm_model_predict(model, X, &found[stream]));
    }
    check_same(found[0], found[1]);
    dkm_data_destroy(&found[0]);
    dkm_data_destroy(&found[1]);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
    scratch_remove(ctx, path);
}

/* Nearest neighbors have their training outputs alone. */
static void neighbours_refuse_a_file(dkm_ctx *ctx)
{
    dkm_preimage_settings pre = {0};
    dkm_knn_settings settings = {.k = 2};
    dkm_data *X = objects_values(ctx, DKM_DENSE, FEW, D, candidate);
    dkm_data *Y = objects_values(ctx, DKM_DENSE, FEW, D, candidate);
    dkm_kernel *linear = NULL;
    dkm_model *model = NULL;
    char path[SCRATCH_LENGTH];

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &linear));
    CHECK_OK(ctx, dkm_knn_fit(ctx, X, Y, linear, linear, &settings, &model));
    write_candidates(ctx, FEW, path);
    open_candidates(ctx, path, 1, &pre);
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_UNSUPPORTED);
    dkm_preimage_settings_clear(&pre);
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&linear);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    scratch_remove(ctx, path);
}

static const check_case cases[] = {CASE(those_in_a_file_are_found_as_those_in_memory),
                                   CASE(a_file_of_several_blocks_passes_by),
                                   CASE(nothing_stays_where_memory_is_short),
                                   CASE(generated_ones_are_found_as_those_in_memory),
                                   CASE(an_index_finds_what_was_asked_for),
                                   CASE(an_index_of_few_is_no_worse),
                                   CASE(an_index_is_refused_where_it_cannot_be),
                                   CASE(faint_points_find_what_they_lean_to),
                                   CASE(a_file_of_another_width_is_refused),
                                   CASE(joint_maps_choose_from_a_file_too),
                                   CASE(neighbours_refuse_a_file)};

CHECK_MAIN(cases)
