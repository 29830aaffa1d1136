/* The joint kernel of strings, against counting all pairs of places. */
#include <math.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/random.h>

#include "models/jkm/joint_map/joint_map.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 7, LONGEST = 9, LETTERS = 3, R = LONGEST * LETTERS };

static dkm_idx length_of(dkm_idx i)
{
    return 5 + i % 5;
}

static char letter(uint64_t stream, dkm_idx i, dkm_idx k)
{
    return (char)('a' + (int)(dkm_random_uniform(3, stream, (uint64_t)i, (uint64_t)k) * LETTERS));
}

static dkm_idx write_string(uint64_t stream, dkm_idx i, char *text)
{
    for (dkm_idx k = 0; k < length_of(i); k++)
        text[k] = letter(stream, i, k);
    return length_of(i);
}

static dkm_idx input(dkm_idx i, char *text, dkm_idx room)
{
    (void)room;
    return write_string(0, i, text);
}

static dkm_idx output(dkm_idx i, char *text, dkm_idx room)
{
    (void)room;
    return write_string(1, i, text);
}

/* Inputs and outputs i and j, of which the outputs are drawn from streams s and t. */
static double count(dkm_idx p, dkm_idx i, uint64_t s, dkm_idx j, uint64_t t)
{
    char x[LONGEST], y[LONGEST], z[LONGEST], w[LONGEST];
    dkm_idx n = write_string(0, i, x), m = write_string(0, j, z), middle = (p - 1) / 2;
    double sum = 0;

    write_string(s, i, y);
    write_string(t, j, w);
    for (dkm_idx a = 0; a + p <= n; a++)
        for (dkm_idx b = 0; b + p <= m; b++)
            sum += memcmp(x + a, z + b, (size_t)p) == 0 && y[a + middle] == w[b + middle];
    return sum;
}

/* Row of place and letter of output i drawn from a stream, times a factor. */
static void add_row(uint64_t stream, dkm_idx i, double by, double *row)
{
    for (dkm_idx k = 0; k < length_of(i); k++)
        row[k * LETTERS + (letter(stream, i, k) - 'a')] += by;
}

static double factor(dkm_idx i)
{
    return 0.5 + (double)i;
}

static double reference_value(dkm_idx i, uint64_t s)
{
    double sum = 0;

    for (dkm_idx j = 0; j < M; j++)
        sum += factor(j) * (count(3, i, s, j, 1) + 0.5 * count(2, i, s, j, 1));
    return sum;
}

static dkm_status open_form(dkm_ctx *ctx, dkm_joint_map *form)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {0};
    dkm_joint_kernels kernels = {0};
    dkm_joint *joint = NULL;
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, input);

    DKM_TRY(dkm_joint_parse(ctx, "sum(strings(p=3), scale(strings(p=2), by=0.5))", &joint));
    DKM_AGREE(ctx, dkm_joint_resolve(joint, "linear", "linear", &kernels));
    DKM_TRY(dkm_joint_map_open(form, X, joint, &kernels, LONGEST, R, &layout));
out:
    dkm_joint_kernels_clear(&kernels);
    dkm_joint_destroy(&joint);
    dkm_data_destroy(&X);
    return status;
}

static void values_and_products_are_counts_of_places(dkm_ctx *ctx)
{
    dkm_joint_map form = {0};
    dkm_idx first, n, examples[M], own[M];
    double U[M * R] = {0}, G[M * R], V[M * R] = {0}, mine[M * R] = {0}, out[M * M];

    CHECK_OK(ctx, open_form(ctx, &form));
    first = dkm_slab_first(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    n = dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    for (dkm_idx i = 0; i < n; i++)
        add_row(1, first + i, factor(first + i), U + i * R);
    CHECK_OK(ctx, dkm_joint_map_apply(&form, NULL, U, G));
    for (dkm_idx i = 0; i < n; i++)
        for (uint64_t s = 1; s < 3; s++) {
            double z[R] = {0}, sum = 0;
            add_row(s, first + i, 1, z);
            for (dkm_idx k = 0; k < R; k++)
                sum += z[k] * G[i * R + k];
            CHECK_CLOSE(sum, reference_value(first + i, s), 1e-12 * reference_value(first + i, s));
        }
    for (dkm_idx i = 0; i < M; i++) {
        examples[i] = i;
        add_row(2, i, 1, V + i * R);
    }
    for (dkm_idx i = 0; i < n; i++) {
        own[i] = i;
        add_row(1, first + i, 1, mine + i * R);
    }
    CHECK_OK(ctx, dkm_joint_map_gram(&form, (dkm_joint_map_rows){M, examples, V},
                                     (dkm_joint_map_rows){n, own, mine}, out));
    for (dkm_idx a = 0; a < M; a++)
        for (dkm_idx b = 0; b < n; b++)
            CHECK_CLOSE(out[a * n + b],
                        count(3, a, 2, first + b, 1) + 0.5 * count(2, a, 2, first + b, 1), 1e-12);
    dkm_joint_map_close(&form);
}

/* Inputs and outputs of all fits, made where no allocation fails. */
static dkm_data *inputs, *outputs;

static dkm_status copy(const dkm_data *from, dkm_data **to)
{
    dkm_idx rows[M];

    for (dkm_idx i = 0; i < M; i++)
        rows[i] = i;
    return dkm_data_select(from, M, rows, to);
}

static dkm_status fit(dkm_ctx *ctx, dkm_data **P, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *X = NULL, *Y = NULL, *new = NULL;
    dkm_model *model = NULL;
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;

    *P = NULL;
    DKM_TRY(dkm_kernel_parse(ctx, "spectrum(p=1)", &kx));
    DKM_TRY(dkm_joint_parse(ctx, "strings(p=3)", &joint));
    DKM_TRY(copy(inputs, &X));
    DKM_TRY(copy(inputs, &new));
    DKM_TRY(copy(outputs, &Y));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, &s, &model, info));
    DKM_TRY(dkm_model_predict(model, new, P));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&new);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    return status;
}

static void make_strings(dkm_ctx *ctx)
{
    inputs = objects_texts(ctx, DKM_STRINGS, M, input);
    outputs = objects_texts(ctx, DKM_STRINGS, M, output);
}

static void drop_strings(void)
{
    dkm_data_destroy(&inputs);
    dkm_data_destroy(&outputs);
}

static void strings_are_told_from_one_another_on_any_ranks(dkm_ctx *ctx)
{
    dkm_ctx *alone = NULL;
    dkm_jkm_info one = {0}, all = {0};
    dkm_data *P = NULL;
    char text[LONGEST];

    make_strings(ctx);
    CHECK_OK(ctx, fit(ctx, &P, &all));
    drop_strings();
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++) {
        dkm_idx n = write_string(1, dkm_data_local_first(P) + i, text);
        CHECK(P->mine.start[i + 1] - P->mine.start[i] == n &&
              memcmp(P->mine.bytes + P->mine.start[i], text, (size_t)n) == 0);
    }
    dkm_data_destroy(&P);
    CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
    make_strings(alone);
    CHECK_OK(alone, fit(alone, &P, &one));
    drop_strings();
    dkm_data_destroy(&P);
    dkm_ctx_destroy(&alone);
    CHECK(one.rounds == all.rounds && one.support == all.support && one.dual == all.dual);
}

static dkm_status fit_once(dkm_ctx *ctx)
{
    dkm_data *P = NULL;
    dkm_status status = fit(ctx, &P, NULL);

    dkm_data_destroy(&P);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    make_strings(ctx);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_once);
    drop_strings();
}

static const check_case cases[] = {
    CASE(values_and_products_are_counts_of_places),
    CASE(strings_are_told_from_one_another_on_any_ranks),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
