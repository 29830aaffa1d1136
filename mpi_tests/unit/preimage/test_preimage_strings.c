#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/kde.h>
#include <dkmap/kpca.h>
#include <dkmap/random.h>

#include "preimage/strings/context_windows.h"
#include "preimage/strings/window_weights.h"
#include "reference/reference_linalg.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 23, NEW = 7, LONGEST = 16, WIDTH = 3 };

/* Letters a, b, c of inputs 0 to M - 1, and of new ones from there on. */
static dkm_idx input(dkm_idx i, char *text, dkm_idx room)
{
    dkm_idx n = 6 + dkm_random_below(5, 1, (uint64_t)i, 8);

    CHECK(n <= room);
    for (dkm_idx p = 0; p < n; p++)
        text[p] = (char)('a' + dkm_random_below(5, 100 + (uint64_t)i, (uint64_t)p, 3));
    return n;
}

static dkm_idx input_new(dkm_idx i, char *text, dkm_idx room)
{
    return input(M + i, text, room);
}

/* 1 where the letter before is the same or a later one; every third string counts the other way. */
static dkm_idx output(dkm_idx i, char *text, dkm_idx room)
{
    char x[LONGEST];
    dkm_idx n = input(i, x, LONGEST);

    CHECK(n <= room);
    for (dkm_idx p = 0; p < n && p < room; p++)
        text[p] = (char)('1' + ((p > 0 && x[p - 1] >= x[p]) ^ (i % 3 == 0)));
    return n;
}

static dkm_idx longer(dkm_idx i, char *text, dkm_idx room)
{
    dkm_idx n = output(i, text, room);

    text[n] = text[n + 1] = '9';
    return n + 2;
}

static dkm_idx pair(dkm_idx i, char *text, dkm_idx room)
{
    dkm_idx n = input(i, text, room);

    text[n] = '\t';
    return n + 1 + output(i, text + n + 1, room - n - 1);
}

static const char input_kernel[] = "rbf(normalize(spectrum(p=2)), sigma=0.7)";

static dkm_model *fit(dkm_ctx *ctx, object_text text, const char *output_kernel, double gamma)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, input);
    dkm_data *Y = objects_texts(ctx, DKM_STRINGS, M, text);
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_model *model = NULL;

    s.ridge.gamma = gamma;
    s.eigen.components = M;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, input_kernel, &kx));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, output_kernel, &ky));
    CHECK_OK(ctx, dkm_kde_fit(ctx, X, Y, kx, ky, &s, &model, NULL));
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return model;
}

static dkm_data *predict(dkm_ctx *ctx, dkm_model *model, dkm_preimage_settings pre, dkm_idx n,
                         object_text text)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, n, text), *Y = NULL;

    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
    dkm_data_destroy(&X);
    return Y;
}

static const dkm_preimage_settings nearest_letter = {.method = DKM_PREIMAGE_STRINGS,
                                                     .neighbors = 1};

/* A letter of a training string has itself as its nearest when the ridge hardly counts. */
static void training_strings_come_back(dkm_ctx *ctx)
{
    const struct {
        object_text text;
        const char *kernel;
    } rows[] = {{output, "normalize(spectrum(p=2))"}, {pair, "normalize(strings(p=3))"}};

    for (int r = 0; r < 2; r++) {
        dkm_model *model = fit(ctx, rows[r].text, rows[r].kernel, 1e-9);
        dkm_data *Y = predict(ctx, model, nearest_letter, M, input);
        for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
            char want[LONGEST];
            dkm_idx length, n = output(dkm_data_local_first(Y) + i, want, LONGEST), wrong = 0;
            const char *found = dkm_data_string_const(Y, i, &length);
            CHECK(length == n);
            for (dkm_idx p = 0; p < n && length == n; p++)
                wrong += found[p] != want[p];
            CHECK(wrong == 0);
        }
        dkm_data_destroy(&Y);
        dkm_model_destroy(&model);
    }
}

/* All coordinates on every rank. */
static void gather(dkm_ctx *ctx, const dkm_data *Z, double *z)
{
    dkm_idx p = dkm_data_cols(Z);

    memset(z, 0, (size_t)(dkm_data_rows(Z) * p) * sizeof *z);
    memcpy(z + dkm_data_local_first(Z) * p, dkm_data_values_const(Z),
           (size_t)(dkm_data_local_rows(Z) * p) * sizeof *z);
    MPI_Allreduce(MPI_IN_PLACE, z, (int)(dkm_data_rows(Z) * p), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(ctx));
}

/* Coordinates of the training outputs, as kernel principal components give them. */
static dkm_idx training_coordinates(dkm_ctx *ctx, const char *kernel, double *z)
{
    dkm_data *Y = objects_texts(ctx, DKM_STRINGS, M, output), *Z = NULL;
    dkm_data *again = objects_texts(ctx, DKM_STRINGS, M, output);
    dkm_kpca_settings s = dkm_kpca_settings_default();
    dkm_kernel *k = NULL;
    dkm_model *model = NULL;
    dkm_idx p;

    s.eigen.components = M;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, kernel, &k));
    CHECK_OK(ctx, dkm_kpca_fit(ctx, Y, k, &s, &model, NULL));
    CHECK_OK(ctx, dkm_model_predict(model, again, &Z));
    p = dkm_data_cols(Z);
    gather(ctx, Z, z);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&again);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&k);
    return p;
}

static int differ(const char *x, dkm_idx n, dkm_idx p, const char *y, dkm_idx m, dkm_idx q)
{
    int count = 0;

    for (dkm_idx k = -(WIDTH / 2); k <= WIDTH / 2; k++)
        count +=
            (p + k >= 0 && p + k < n ? x[p + k] : 0) != (q + k >= 0 && q + k < m ? y[q + k] : 0);
    return count;
}

/* Is this letter among those at the least distance from place p of a new string? */
static int is_nearest(const double *z, const double *training, dkm_idx d, const char *x, dkm_idx n,
                      dkm_idx p, char letter)
{
    double best[2] = {INFINITY, INFINITY}; /* of all letters, and of this one */

    for (dkm_idx i = 0; i < M; i++) {
        char from[LONGEST], to[LONGEST];
        dkm_idx m = input(i, from, LONGEST);
        double far = 0;
        output(i, to, LONGEST);
        for (dkm_idx k = 0; k < d; k++)
            far += pow(z[k] - training[i * d + k], 2);
        for (dkm_idx q = 0; q < m; q++) {
            double all = far + 2.0 * differ(x, n, p, from, m, q);
            best[0] = fmin(best[0], all);
            if (to[q] == letter)
                best[1] = fmin(best[1], all);
        }
    }
    return best[1] <= best[0] + 1e-8;
}

static void letters_are_those_of_the_nearest_place(dkm_ctx *ctx)
{
    static double z[NEW * M], training[M * M];
    const char kernel[] = "normalize(spectrum(p=2))";
    dkm_model *model = fit(ctx, output, kernel, 0.5);
    dkm_idx d = training_coordinates(ctx, kernel, training);
    dkm_data *Z =
        predict(ctx, model, (dkm_preimage_settings){.method = DKM_PREIMAGE_NONE}, NEW, input_new);
    dkm_data *Y = predict(ctx, model, nearest_letter, NEW, input_new);

    CHECK(dkm_data_cols(Z) == d);
    gather(ctx, Z, z);
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        char x[LONGEST];
        dkm_idx ig = dkm_data_local_first(Y) + i, n = input_new(ig, x, LONGEST), length;
        const char *y = dkm_data_string_const(Y, i, &length);
        CHECK(length == n);
        for (dkm_idx p = 0; p < n && length == n; p++)
            CHECK(is_nearest(z + ig * d, training, d, x, n, p, y[p]));
    }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

/* A place of a string: its coordinates and its letters. */
typedef struct place {
    const double *z;
    char x[LONGEST];
    dkm_idx n, p;
} place;

static double alike(const place *a, const place *b, dkm_idx d, double sigma)
{
    double far = 2.0 * differ(a->x, a->n, a->p, b->x, b->n, b->p);

    for (dkm_idx k = 0; k < d; k++)
        far += pow(a->z[k] - b->z[k], 2);
    return exp(-far / (2 * sigma * sigma));
}

/* What ridge regression of the signs of letters 2 (above 0) and 1 says of a place, by definition.
 */
typedef struct classifier {
    dkm_idx count, d;
    place at[M * LONGEST];
    double B[M * LONGEST];
} classifier;

static void learn_letters(classifier *c, const double *training, dkm_idx d, double gamma)
{
    static double K[M * LONGEST * M * LONGEST];

    c->d = d;
    c->count = 0;
    for (dkm_idx i = 0; i < M; i++) {
        char y[LONGEST];
        place now = {.z = training + i * d};
        now.n = input(i, now.x, LONGEST);
        output(i, y, LONGEST);
        for (now.p = 0; now.p < now.n; now.p++) {
            c->B[c->count] = y[now.p] == '2' ? 1 : -1;
            c->at[c->count++] = now;
        }
    }
    for (dkm_idx a = 0; a < c->count; a++)
        for (dkm_idx b = 0; b < c->count; b++)
            K[a * c->count + b] = alike(&c->at[a], &c->at[b], d, 1.5) + (a == b ? gamma : 0.0);
    reference_solve((int)c->count, 1, K, c->B);
}

/* Letters that a ridge classifier tells are those that its definition does. */
static void letters_are_those_of_a_classifier(dkm_ctx *ctx)
{
    static double z[NEW * M], training[M * M];
    static classifier c;
    const char kernel[] = "normalize(spectrum(p=2))";
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_STRINGS, .gamma_z = 0.1};
    dkm_model *model = fit(ctx, output, kernel, 0.5);
    dkm_idx d = training_coordinates(ctx, kernel, training);
    dkm_data *Y, *Z = predict(ctx, model, (dkm_preimage_settings){.method = DKM_PREIMAGE_NONE}, NEW,
                              input_new);

    gather(ctx, Z, z);
    learn_letters(&c, training, d, 0.1);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &pre.kz));
    Y = predict(ctx, model, pre, NEW, input_new);
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        place now = {.z = z + (dkm_data_local_first(Y) + i) * d};
        dkm_idx length;
        const char *y = dkm_data_string_const(Y, i, &length);
        now.n = input_new(dkm_data_local_first(Y) + i, now.x, LONGEST);
        CHECK(length == now.n);
        for (now.p = 0; now.p < now.n && length == now.n; now.p++) {
            double f = 0;
            for (dkm_idx a = 0; a < c.count; a++)
                f += c.B[a] * alike(&now, &c.at[a], d, 1.5);
            CHECK(fabs(f) < 1e-8 || y[now.p] == (f > 0 ? '2' : '1'));
        }
    }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

/* Outputs that are two letters longer than their inputs are so for new inputs too. */
static void lengths_are_those_of_the_nearest_strings(dkm_ctx *ctx)
{
    dkm_model *model = fit(ctx, longer, "normalize(spectrum(p=2))", 0.5);
    dkm_data *Y = predict(ctx, model, (dkm_preimage_settings){.method = DKM_PREIMAGE_STRINGS}, NEW,
                          input_new);

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        char x[LONGEST];
        dkm_idx length;
        dkm_data_string_const(Y, i, &length);
        CHECK(length == input_new(dkm_data_local_first(Y) + i, x, LONGEST) + 2);
    }
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
}

static void windows_that_differ_are_counted(dkm_ctx *ctx)
{
    enum { W = 11 };
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, input);
    dkm_objs all = {0};
    dkm_idx wanted[M];
    dkm_context_windows w = {0};
    double weights[W], equal[2 * 256], weighted[2 * 256];

    for (dkm_idx k = 0; k < W; k++)
        weights[k] = ldexp(1, (int)k);
    dkm_context_windows_table(W, NULL, 1, equal);
    dkm_context_windows_table(W, weights, 1, weighted);
    for (dkm_idx i = 0; i < M; i++)
        wanted[i] = i;
    CHECK_OK(ctx, dkm_data_fetch(X, M, wanted, &all));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_context_windows_open(&w, &all, &all, NULL, W)));
    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx p = 0; p < w.start[i + 1] - w.start[i]; p++) {
            const char *x = all.bytes + all.start[i], *y = all.bytes;
            const uint64_t *a = w.window + (w.start[i] + p) * w.words, *b = w.window + 2 * w.words;
            dkm_idx n = all.start[i + 1] - all.start[i];
            double count = 0, sum = 0;
            for (dkm_idx k = -(W / 2); k <= W / 2; k++) {
                int differ = (p + k >= 0 && p + k < n ? x[p + k] : 0) !=
                             (2 + k >= 0 && 2 + k < all.start[1] ? y[2 + k] : 0);
                count += differ;
                sum += differ * weights[k + W / 2];
            }
            CHECK(dkm_context_windows_distance(a, b, w.words, equal) == count);
            CHECK(dkm_context_windows_distance(a, b, w.words, weighted) == sum);
        }
    dkm_context_windows_close(&w);
    dkm_objs_clear(&all);
    dkm_data_destroy(&X);
}

/* Letters at random, and outputs that have at each place the letter after it. */
static dkm_idx letters_at_random(dkm_idx i, char *text, dkm_idx capacity)
{
    dkm_idx length = 5 + i % 6;

    (void)capacity;
    for (dkm_idx t = 0; t < length; t++)
        text[t] = (char)('a' + (int)(4 * dkm_random_uniform(3, 0, (uint64_t)i, (uint64_t)t)));
    return length;
}

static dkm_idx letters_moved(dkm_idx i, char *text, dkm_idx capacity)
{
    dkm_idx length = letters_at_random(i, text, capacity);

    memmove(text, text + 1, (size_t)length - 1);
    text[length - 1] = 'e';
    return length;
}

/* What decides weighs most, on any number of ranks the same. */
static void weights_of_windows_are_found_by_leave_one_out(dkm_ctx *ctx)
{
    enum { W = 5, MANY = 60 };
    double weights[W], single[W], sum = 0;
    dkm_ctx *alone = NULL;
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, MANY, letters_at_random);
    dkm_data *Y = objects_texts(ctx, DKM_STRINGS, MANY, letters_moved);

    CHECK_OK(ctx, dkm_window_weights_choose(X, Y, W, 3, weights));
    for (int k = 0; k < W; k++) {
        sum += weights[k];
        CHECK(k == 3 || weights[k] <= 0.5 * weights[3]);
    }
    CHECK(fabs(sum - W) < 1e-12);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
    X = objects_texts(alone, DKM_STRINGS, MANY, letters_at_random);
    Y = objects_texts(alone, DKM_STRINGS, MANY, letters_moved);
    CHECK_OK(alone, dkm_window_weights_choose(X, Y, W, 3, single));
    CHECK(memcmp(weights, single, sizeof weights) == 0);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_ctx_destroy(&alone);
}

/* The kernel of pairs, by its definition. */
static double pairs_alike(dkm_idx i, dkm_idx j, dkm_idx p)
{
    char x[LONGEST], y[LONGEST], u[LONGEST], v[LONGEST];
    dkm_idx n = input(i, x, LONGEST), m = input(j, u, LONGEST);
    double count = 0;

    output(i, y, LONGEST);
    output(j, v, LONGEST);
    for (dkm_idx a = 0; a + p <= n; a++)
        for (dkm_idx b = 0; b + p <= m; b++)
            count +=
                memcmp(x + a, u + b, (size_t)p) == 0 && y[a + (p - 1) / 2] == v[b + (p - 1) / 2];
    return count;
}

static void pairs_of_strings_are_counted(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, pair), *rows = NULL;
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (dkm_idx p = 1; p <= 9; p += 4) {
        char text[32];
        dkm_kernel *kernel = NULL;
        dkm_prepared *prepared = NULL;
        snprintf(text, sizeof text, "strings(p=%d)", (int)p);
        CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &kernel));
        CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &prepared));
        CHECK_OK(ctx, dkm_gram_rows(grid, kernel, prepared, 4, 0, &rows));
        for (dkm_idx i = 0; i < dkm_data_local_rows(rows); i++)
            for (dkm_idx j = 0; j < M; j++)
                CHECK(dkm_data_values_const(rows)[i * M + j] ==
                      pairs_alike(dkm_data_local_first(rows) + i, j, p));
        dkm_data_destroy(&rows);
        dkm_prepared_destroy(&prepared);
        dkm_kernel_destroy(&kernel);
    }
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&X);
}

static void strings_that_are_no_pairs_are_refused(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, input);
    dkm_kernel *kernel = NULL;
    dkm_prepared *prepared = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "strings(p=3)", &kernel));
    CHECK(dkm_kernel_prepare(kernel, X, &prepared) == DKM_ERR_ARG && !prepared);
    CHECK(strstr(dkm_ctx_message(ctx), "with a TAB between them") != NULL);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
}

static dkm_model *brutal_model;

static dkm_status predict_a_few(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings pre = nearest_letter, none = {.method = DKM_PREIMAGE_NONE};
    dkm_idx lengths[] = {4, 4, 4};
    dkm_data *X = NULL, *Y = NULL;

    DKM_TRY(dkm_data_create_strings(ctx, 3, lengths, &X));
    DKM_TRY(dkm_model_configure(brutal_model, &pre));
    DKM_TRY(dkm_model_predict(brutal_model, X, &Y));
out:
    CHECK_OK(ctx, dkm_model_configure(brutal_model, &none)); /* forget what was prepared */
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    brutal_model = fit(ctx, output, "normalize(spectrum(p=2))", 1);
    dkm_data *Y = predict(ctx, brutal_model, nearest_letter, 1, input); /* it keeps its panels */
    dkm_data_destroy(&Y);
    dkm_preimage_settings none = {.method = DKM_PREIMAGE_NONE};
    CHECK_OK(ctx, dkm_model_configure(brutal_model, &none));
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, predict_a_few);
    dkm_model_destroy(&brutal_model);
}

static const check_case cases[] = {
    CASE(training_strings_come_back),        CASE(letters_are_those_of_the_nearest_place),
    CASE(letters_are_those_of_a_classifier), CASE(lengths_are_those_of_the_nearest_strings),
    CASE(windows_that_differ_are_counted),   CASE(weights_of_windows_are_found_by_leave_one_out),
    CASE(pairs_of_strings_are_counted),      CASE(strings_that_are_no_pairs_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
