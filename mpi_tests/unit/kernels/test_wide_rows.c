/* Rows of many columns: they come in windows, and no rank holds more than its share of them. */
#include <math.h>

#include <dkmap/kde.h>

#include "support/check.h"

/* D columns tell a share from all of the data; COLS, several blocks of columns, are enough for values. */
enum { M = 130, D = 100000, COLS = 20000, NEW = 6, P = 5, NB = 8, FIRST = 18 };

#define BESIDE ((dkm_idx)44 << 20) /* windows of rows and columns, and what else has a bound */

typedef double (*value)(dkm_idx i, dkm_idx j);

static double fraction(dkm_idx i, dkm_idx j)
{
    return (double)((i * 7919 + j * 104729 + i * j % 97) % 1009) / 1009.0 - 0.5;
}

static double byte(dkm_idx i, dkm_idx j)
{
    return (double)((i * 7919 + j * 104729 + i * j % 97) % 11);
}

static dkm_data *rows_of(dkm_ctx *ctx, dkm_idx m, dkm_idx d, value at)
{
    dkm_data *X = NULL;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, m, d, &X));
    for (dkm_idx i = 0; X && i < dkm_data_local_rows(X); i++)
        for (dkm_idx j = 0; j < d; j++)
            dkm_data_values(X)[i * d + j] = at(dkm_data_local_first(X) + i, j);
    return X;
}

static dkm_model *fit_wide(dkm_ctx *ctx)
{
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_data *X = rows_of(ctx, M, 3, fraction), *Y = rows_of(ctx, M, D, fraction);
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_model *model = NULL;

    s.eigen.components = P;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=0.3)", &kx));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &ky));
    CHECK_OK(ctx, dkm_kde_fit(ctx, X, Y, kx, ky, &s, &model, NULL));
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return model;
}

/* Fitting and predicting take a rank its share of the outputs and what is bounded. First of the
 * cases, as the peak is that of the context's whole life. */
static void wide_outputs_are_held_once(dkm_ctx *ctx)
{
    dkm_preimage_settings how = {.method = DKM_PREIMAGE_LINEAR};
    dkm_model *model = fit_wide(ctx);
    dkm_data *X = rows_of(ctx, NEW, 3, fraction), *Y = NULL;
    dkm_idx share = (M / dkm_ctx_size(ctx) + 1) * D * (dkm_idx)sizeof(double);

    CHECK(dkm_ctx_peak_bytes(ctx) <= share + BESIDE);
    CHECK_OK(ctx, dkm_model_configure(model, &how));
    CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
    CHECK(Y && dkm_data_rows(Y) == NEW && dkm_data_cols(Y) == D);
    CHECK(dkm_ctx_peak_bytes(ctx) <= share + BESIDE);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_model_destroy(&model);
}

/* What k is when <a, b> = s, <a, a> = aa and <b, b> = bb. */
static double linear(double s, double aa, double bb)
{
    (void)aa;
    (void)bb;
    return s;
}

static double gauss(double s, double aa, double bb)
{
    return exp(-(aa + bb - 2 * s) / (2.0 * 100.0 * 100.0));
}

static double combined(double s, double aa, double bb)
{
    double sizes = (aa + (aa + 1) * (aa + 1)) * (bb + (bb + 1) * (bb + 1));

    return (s + (s + 1) * (s + 1)) / sqrt(sizes);
}

typedef struct wide_kernel {
    const char *text;
    double (*of)(double s, double aa, double bb);
} wide_kernel;

static const wide_kernel kernels[] = {
    {"linear", linear},
    {"rbf(sigma=100)", gauss},
    {"normalize(sum(linear, poly(degree=2, c=1)))", combined},
};

static double dot(value at, dkm_idx i, dkm_idx j)
{
    double sum = 0;

    for (dkm_idx k = 0; k < COLS; k++)
        sum += at(i, k) * at(j, k);
    return sum;
}

/* Some of this rank's elements, of the lower triangle where that is all there is. */
static void check_some(const dkm_dmat *K, value at, const wide_kernel *k, int lower)
{
    double eps = dkm_dmat_precision(K) == DKM_F64 ? 1e-12 : 1e-4;

    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
            dkm_idx i = dkm_dmat_global_row(K, il), j = dkm_dmat_global_col(K, jl);
            double aa, bb, want, got;
            if ((i * M + j) % 211 != 0 || (lower && i < j))
                continue;
            aa = dot(at, i, i);
            bb = dot(at, j, j);
            want = k->of(dot(at, i, j), aa, bb);
            got = dkm_dmat_precision(K) == DKM_F64
                      ? dkm_dmat_f64_const(K)[il + jl * dkm_dmat_ld(K)]
                      : (double)dkm_dmat_f32_const(K)[il + jl * dkm_dmat_ld(K)];
            CHECK_CLOSE(got, want,
                        eps * fmax(1.0, sqrt(fabs(k->of(aa, aa, aa)))) *
                            fmax(1.0, sqrt(fabs(k->of(bb, bb, bb)))));
        }
}

static void check_kernel(dkm_grid *grid, const dkm_data *X, const dkm_data *Z, value at,
                         const wide_kernel *wide, dkm_precision precision)
{
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_kernel *k = NULL;
    dkm_prepared *prepared = NULL, *fresh = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, wide->text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &prepared));
    CHECK_OK(ctx, dkm_gram(grid, k, prepared, NB, precision, &K));
    check_some(K, at, wide, 1);
    dkm_dmat_destroy(&K);
    CHECK_OK(ctx, dkm_kernel_prepare_new(prepared, Z, &fresh));
    CHECK_OK(ctx, dkm_gram_cross(grid, k, fresh, prepared, NB, NB, precision, &K));
    check_some(K, at, wide, 0);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&fresh);
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&k);
}

static void check_kernels(dkm_ctx *ctx, value at, int count, const wide_kernel *wide)
{
    dkm_data *X = rows_of(ctx, M, COLS, at), *Z = rows_of(ctx, NEW, COLS, at);
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (int k = 0; k < count; k++) {
        check_kernel(grid, X, Z, at, &wide[k], DKM_F64);
        check_kernel(grid, X, Z, at, &wide[k], DKM_F32);
    }
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
}

static void windows_add_up_to_kernel_values(dkm_ctx *ctx)
{
    check_kernels(ctx, fraction, (int)(sizeof kernels / sizeof *kernels), kernels);
}

static void windows_of_whole_numbers_do_too(dkm_ctx *ctx)
{
    check_kernels(ctx, byte, 1, kernels);
}

/* Those of the first window: later ones are like it. How many there are depends on the instructions
 * that the library was built for. */
static void the_first_allocations_may_fail(dkm_ctx *ctx)
{
    dkm_data *X = rows_of(ctx, M, COLS, fraction);
    dkm_kernel *k = NULL;
    dkm_prepared *prepared = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_status status = DKM_ERR_MEMORY;
    dkm_idx live;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &prepared));
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    live = dkm_ctx_live_blocks(ctx);
    for (dkm_idx budget = 0; budget < FIRST && status == DKM_ERR_MEMORY; budget++) {
        dkm_ctx_fail_after(ctx, dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? budget : -1);
        status = dkm_gram(grid, k, prepared, NB, DKM_F64, &K);
        CHECK((status == DKM_ERR_MEMORY && K == NULL) || (status == DKM_OK && budget > FIRST / 2));
        dkm_dmat_destroy(&K);
        dkm_ctx_fail_after(ctx, -1);
        CHECK(dkm_ctx_live_blocks(ctx) == live);
    }
    dkm_grid_destroy(&grid);
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
}

static const check_case cases[] = {
    CASE(wide_outputs_are_held_once),
    CASE(windows_add_up_to_kernel_values),
    CASE(windows_of_whole_numbers_do_too),
    CASE(the_first_allocations_may_fail),
};

CHECK_MAIN(cases)
