/* Rows k(new, training) in stretches against the same rows made at once. */
#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "kernels/gram/gram.h"
#include "support/check.h"

enum { M = 41, D = 6, STRETCHES = 3 };

static dkm_data *rows_of(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_idx d)
{
    dkm_data *X = NULL;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, m, d, &X));
    for (dkm_idx k = 0; X && k < dkm_data_local_rows(X) * d; k++)
        dkm_data_values(X)[k] =
            dkm_random_normal(1, stream, (uint64_t)(dkm_data_local_first(X) * d + k), 0);
    return X;
}

static size_t bytes_of(const dkm_dmat *K)
{
    size_t count = (size_t)(dkm_dmat_ld(K) * dkm_dmat_local_cols(K));

    return count * (dkm_dmat_precision(K) == DKM_F64 ? sizeof(double) : sizeof(float));
}

static const void *array_of(const dkm_dmat *K)
{
    return dkm_dmat_precision(K) == DKM_F64 ? (const void *)dkm_dmat_f64_const(K)
                                            : (const void *)dkm_dmat_f32_const(K);
}

/* A stretch of n new rows: the same bits as dkm_gram_cross() gives. */
static void check_stretch(dkm_grid *grid, const dkm_kernel *k, dkm_cross_gram *cross,
                          const dkm_prepared *B, dkm_data *Z, dkm_precision precision)
{
    dkm_ctx *ctx = dkm_data_ctx(Z);
    dkm_prepared *A = NULL;
    dkm_dmat *K = NULL, *want = NULL;

    CHECK_OK(ctx, dkm_kernel_prepare_new(B, Z, &A));
    CHECK_OK(ctx, dkm_gram_cross(grid, k, A, B, 5, 4, precision, &want));
    CHECK_OK(ctx, dkm_cross_gram_eval(cross, A, 5, &K));
    CHECK(dkm_dmat_rows(K) == dkm_data_rows(Z) && dkm_dmat_cols(K) == dkm_prepared_rows(B));
    CHECK(dkm_dmat_row_block(K) == 5 && dkm_dmat_col_block(K) == 4);
    CHECK(bytes_of(K) == bytes_of(want) && memcmp(array_of(K), array_of(want), bytes_of(K)) == 0);
    dkm_dmat_destroy(&want);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&A);
}

/* K V tile by tile against K, row by row. */
static void check_product(dkm_grid *grid, const dkm_kernel *k, dkm_cross_gram *cross,
                          const dkm_prepared *B, dkm_data *Z, dkm_idx p)
{
    dkm_ctx *ctx = dkm_data_ctx(Z);
    dkm_idx n = dkm_data_rows(Z), m = dkm_prepared_rows(B);
    dkm_prepared *A = NULL;
    dkm_dmat *K = NULL;
    dkm_data *rows = NULL, *v = rows_of(ctx, 9, m, p), *w = rows_of(ctx, 8, n, p);
    dkm_multivec V = dkm_multivec_view(ctx, m, p, dkm_data_values(v));
    dkm_multivec W = dkm_multivec_view(ctx, n, p, dkm_data_values(w));

    CHECK_OK(ctx, dkm_kernel_prepare_new(B, Z, &A));
    CHECK_OK(ctx, dkm_gram_cross(grid, k, A, B, 5, 4, DKM_F64, &K));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, n, m, &rows));
    CHECK_OK(ctx, dkm_dmat_to_rows(K, dkm_data_values(rows)));
    for (int kept = 0; kept < 2; kept++) {
        if (kept)
            CHECK_OK(ctx, dkm_cross_gram_multiply(cross, A, 5, &V, &W));
        else
            CHECK_OK(ctx, dkm_gram_cross_multiply(grid, A, B, 4, &V, &W));
        for (dkm_idx i = 0; i < W.n; i++)
            for (dkm_idx c = 0; c < p; c++) {
                double sum = 0;
                for (dkm_idx j = 0; j < m; j++)
                    sum += dkm_data_values(rows)[i * m + j] *
                           dkm_random_normal(1, 9, (uint64_t)(j * p + c), 0);
                CHECK_CLOSE(W.a[i * p + c], sum, 1e-13 * (1 + fabs(sum)));
            }
    }
    dkm_data_destroy(&rows);
    dkm_data_destroy(&w);
    dkm_data_destroy(&v);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&A);
}

static void check_stretches(dkm_grid *grid, const char *text, dkm_data *X, dkm_precision precision)
{
    dkm_ctx *ctx = dkm_data_ctx(X);
    const dkm_idx counts[STRETCHES] = {9, 0, 17};
    dkm_kernel *k = NULL;
    dkm_prepared *B = NULL;
    dkm_cross_gram *cross = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &B));
    CHECK_OK(ctx, dkm_cross_gram_create(grid, k, B, 4, precision, &cross));
    for (int s = 0; s < STRETCHES; s++) {
        dkm_data *Z = rows_of(ctx, 2 + (uint64_t)s, counts[s], dkm_data_cols(X));
        check_stretch(grid, k, cross, B, Z, precision);
        if (precision == DKM_F64)
            check_product(grid, k, cross, B, Z, 1 + 10 * s);
        dkm_data_destroy(&Z);
    }
    dkm_cross_gram_destroy(&cross);
    dkm_prepared_destroy(&B);
    dkm_kernel_destroy(&k);
}

static void stretches_are_what_one_matrix_is(dkm_ctx *ctx)
{
    const char *texts[] = {"rbf(sigma=2)", "sum(laplace, poly)", "rownorm(rbf)"};
    dkm_data *X = rows_of(ctx, 1, M, D);

    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (int t = 0; t < 3; t++) {
            check_stretches(grid, texts[t], X, DKM_F64);
            check_stretches(grid, texts[t], X, DKM_F32);
        }
        dkm_grid_destroy(&grid);
    }
    dkm_data_destroy(&X);
}

/* On three or more ranks in one grid column a panel does not hold these rows, which laplace needs
 * whole: nothing is kept. */
static void rows_too_large_to_keep_are_brought_anew(dkm_ctx *ctx)
{
    enum { WIDE = 1 << 17 };
    dkm_grid *grid = NULL;
    dkm_data *X = rows_of(ctx, 1, M, WIDE);

    CHECK_OK(ctx, dkm_grid_create(ctx, dkm_ctx_size(ctx), 1, &grid));
    check_stretches(grid, "laplace(sigma=1e5)", X, DKM_F64);
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&X);
}

static void objects_that_do_not_fit_are_refused(dkm_ctx *ctx)
{
    dkm_data *X = rows_of(ctx, 1, M, D), *Z = rows_of(ctx, 2, 5, D + 1);
    dkm_kernel *k = NULL, *other = NULL;
    dkm_prepared *A = NULL, *B = NULL;
    dkm_grid *grid = NULL;
    dkm_cross_gram *cross = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf", &k));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &other));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &B));
    CHECK_OK(ctx, dkm_kernel_prepare(k, Z, &A));
    CHECK(dkm_cross_gram_create(grid, other, B, 4, DKM_F64, &cross) == DKM_ERR_ARG &&
          cross == NULL);
    CHECK_OK(ctx, dkm_cross_gram_create(grid, k, B, 4, DKM_F64, &cross));
    CHECK(dkm_cross_gram_eval(cross, A, 4, &K) == DKM_ERR_ARG && K == NULL);
    dkm_cross_gram_destroy(&cross);
    dkm_prepared_destroy(&A);
    dkm_prepared_destroy(&B);
    dkm_kernel_destroy(&other);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
}

static dkm_data *brutal_X;
static dkm_kernel *brutal_kernel;
static dkm_grid *brutal_grid;

static dkm_status cross_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_prepared *P = NULL;
    dkm_cross_gram *cross = NULL;
    dkm_dmat *K = NULL;
    dkm_multivec V = {0}, W = {0};

    DKM_TRY(dkm_kernel_prepare(brutal_kernel, brutal_X, &P));
    DKM_TRY(dkm_cross_gram_create(brutal_grid, brutal_kernel, P, 3, DKM_F32, &cross));
    DKM_TRY(dkm_cross_gram_eval(cross, P, 3, &K));
    DKM_AGREE(ctx, dkm_multivec_init(&V, ctx, dkm_prepared_rows(P), 2));
    DKM_AGREE(ctx, dkm_multivec_init(&W, ctx, dkm_prepared_rows(P), 2));
    memset(V.a, 0, (size_t)(V.n * V.ld) * sizeof *V.a);
    V.cols = 2;
    DKM_TRY(dkm_gram_cross_multiply(brutal_grid, P, P, 3, &V, &W));
out:
    dkm_multivec_free(&W);
    dkm_multivec_free(&V);
    dkm_dmat_destroy(&K);
    dkm_cross_gram_destroy(&cross);
    dkm_prepared_destroy(&P);
    return status;
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &brutal_grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(poly, sigma=2)", &brutal_kernel));
    brutal_X = rows_of(ctx, 1, 9, D);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, cross_once);
    dkm_data_destroy(&brutal_X);
    dkm_kernel_destroy(&brutal_kernel);
    dkm_grid_destroy(&brutal_grid);
}

static const check_case cases[] = {
    CASE(stretches_are_what_one_matrix_is),
    CASE(rows_too_large_to_keep_are_brought_anew),
    CASE(objects_that_do_not_fit_are_refused),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
