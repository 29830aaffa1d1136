/* Gram matrices of kernels on dense and sparse rows, against the definitions. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/reference_vectors.h"
#include "support/check.h"

enum { D = VECTOR_D, M = VECTOR_M };

static double at(dkm_dmat *K, dkm_idx il, dkm_idx jl)
{
    dkm_idx k = il + jl * dkm_dmat_ld(K);

    return dkm_dmat_precision(K) == DKM_F64 ? dkm_dmat_f64(K)[k] : (double)dkm_dmat_f32(K)[k];
}

static void check_lower(dkm_dmat *K, const vector_case *c)
{
    double x[D], y[D];

    for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
            dkm_idx ig = dkm_dmat_global_row(K, il), jg = dkm_dmat_global_col(K, jl);
            vector_row(vector_element, ig, x);
            vector_row(vector_element, jg, y);
            double want = ig >= jg ? c->value(x, y) : 0.0;
            CHECK_CLOSE(at(K, il, jl), want, vector_tolerance(dkm_dmat_precision(K), want));
        }
}

static void check_cross(dkm_dmat *K, const vector_case *c)
{
    double x[D], y[D];

    for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
            vector_row(vector_other, dkm_dmat_global_row(K, il), x);
            vector_row(vector_element, dkm_dmat_global_col(K, jl), y);
            double want = c->value(x, y);
            CHECK_CLOSE(at(K, il, jl), want, vector_tolerance(dkm_dmat_precision(K), want));
        }
}

typedef struct setting {
    dkm_type type;
    dkm_idx m, nb;
    dkm_precision precision;
} setting;

static dkm_data *objects(dkm_ctx *ctx, dkm_type type, dkm_idx m, object_value value)
{
    return type == DKM_DENSE ? objects_values(ctx, type, m, D, value)
                             : objects_lists(ctx, type, m, D, value);
}

static void one_kernel(dkm_ctx *ctx, dkm_grid *grid, const vector_case *c, setting s)
{
    dkm_kernel *k = NULL;
    dkm_prepared *A = NULL, *B = NULL;
    dkm_dmat *K = NULL;
    dkm_data *X = objects(ctx, s.type, s.m, vector_element);
    dkm_data *Z = objects(ctx, s.type, s.m / 2 + 1, vector_other);

    CHECK_OK(ctx, dkm_kernel_parse(ctx, c->text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &B));
    CHECK_OK(ctx, dkm_kernel_prepare_new(B, Z, &A));
    CHECK(dkm_prepared_rows(B) == s.m);
    CHECK_OK(ctx, dkm_gram(grid, k, B, s.nb, s.precision, &K));
    check_lower(K, c);
    dkm_dmat_destroy(&K);
    CHECK_OK(ctx, dkm_gram_cross(grid, k, A, B, s.nb + 1, s.nb, s.precision, &K));
    check_cross(K, c);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&A);
    dkm_prepared_destroy(&B);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
    dkm_kernel_destroy(&k);
}

static void all_kernels(dkm_ctx *ctx, int P, int Q, setting s)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, P, Q, &grid));
    for (size_t c = 0; c < VECTOR_CASES; c++)
        one_kernel(ctx, grid, &vector_cases[c], s);
    dkm_grid_destroy(&grid);
}

static void dense_rows_agree_with_the_definitions(dkm_ctx *ctx)
{
    all_kernels(ctx, 0, 0, (setting){DKM_DENSE, M, 4, DKM_F64});
    all_kernels(ctx, 0, 0, (setting){DKM_DENSE, M, 5, DKM_F32});
}

static void sparse_rows_agree_with_the_definitions(dkm_ctx *ctx)
{
    all_kernels(ctx, 0, 0, (setting){DKM_SPARSE, M, 4, DKM_F64});
    all_kernels(ctx, 0, 0, (setting){DKM_SPARSE, M, 5, DKM_F32});
}

static void every_grid_and_block_gives_the_same(dkm_ctx *ctx)
{
    int size = dkm_ctx_size(ctx);

    for (dkm_idx nb = 1; nb <= 64; nb *= 4) {
        all_kernels(ctx, 1, size, (setting){DKM_DENSE, M, nb, DKM_F64});
        all_kernels(ctx, size, 1, (setting){DKM_SPARSE, M, nb, DKM_F64});
    }
    all_kernels(ctx, 1, 1, (setting){DKM_DENSE, M, 16, DKM_F64});
}

static void few_objects_are_enough(dkm_ctx *ctx)
{
    for (dkm_idx m = 0; m < 3; m++) {
        all_kernels(ctx, 0, 0, (setting){DKM_DENSE, m, 2, DKM_F64});
        all_kernels(ctx, 0, 0, (setting){DKM_SPARSE, m, 2, DKM_F32});
    }
}

/* Enough rows for several panels of rows, whose tiles are checked at some places. */
static void many_panels_make_one_matrix(dkm_ctx *ctx)
{
    enum { MANY = 2600 };
    const vector_case *c = &vector_cases[2]; /* rbf */
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    dkm_dmat *K = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, MANY, D, vector_element);
    double x[D], y[D];

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, c->text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &P));
    CHECK_OK(ctx, dkm_gram(grid, k, P, 48, DKM_F32, &K));
    for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl += 7)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
            dkm_idx ig = dkm_dmat_global_row(K, il), jg = dkm_dmat_global_col(K, jl);
            vector_row(vector_element, ig, x);
            vector_row(vector_element, jg, y);
            CHECK_CLOSE(at(K, il, jl), ig >= jg ? c->value(x, y) : 0.0, 300 * FLT_EPSILON);
            CHECK(ig != jg || at(K, il, jl) == 1.0);
        }
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&P);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
}

static double whole_number(dkm_idx i, dkm_idx k)
{
    return (double)((7 * i + 3 * k) % 11);
}

/* Tiles end before panels do, and the left part of the matrix may be in large pages: no element is
 * left out, none is written above the diagonal, and sums of whole numbers are exact. */
static void thousands_of_rows_come_in_several_tiles(dkm_ctx *ctx)
{
    const dkm_idx m = 4300;
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *A = NULL;
    dkm_dmat *K = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, m, 2, whole_number);
    int64_t wrong = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &A));
    for (int p = 0; p < 2; p++) {
        CHECK_OK(ctx, dkm_gram(grid, k, A, 64, p ? DKM_F32 : DKM_F64, &K));
        for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
            for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
                dkm_idx i = dkm_dmat_global_row(K, il), j = dkm_dmat_global_col(K, jl);
                double want = i < j ? 0.0
                                    : whole_number(i, 0) * whole_number(j, 0) +
                                          whole_number(i, 1) * whole_number(j, 1);
                wrong += at(K, il, jl) > want || at(K, il, jl) < want;
            }
        CHECK(wrong == 0);
        dkm_dmat_destroy(&K);
    }
    dkm_prepared_destroy(&A);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    dkm_grid_destroy(&grid);
}

static double narrow(dkm_idx i, dkm_idx k)
{
    return (double)(i + k);
}

static double enormous(dkm_idx i, dkm_idx k)
{
    return i == 1 ? 1e200 : (double)k;
}

static void what_does_not_fit_is_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL, *other = NULL;
    dkm_prepared *A = NULL, *B = NULL;
    dkm_dmat *K = NULL;
    double values[M];
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, vector_element);
    dkm_data *N = objects_values(ctx, DKM_DENSE, M - 1, D - 1, narrow);
    dkm_data *S = objects_lists(ctx, DKM_SPARSE, M, D, vector_element);
    dkm_data *L = objects_values(ctx, DKM_LABELS, M, 1, narrow);
    dkm_data *E = objects_values(ctx, DKM_DENSE, 3, 2, enormous);

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &k));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf", &other));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &A));
    CHECK(dkm_kernel_prepare(k, L, &B) == DKM_ERR_UNSUPPORTED && B == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "linear is a kernel for dense or sparse objects, and these "
                                       "are labels") != NULL);
    CHECK(dkm_kernel_prepare(k, E, &B) == DKM_ERR_NUMERIC && B == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "linear leaves the range of numbers at object 1") != NULL);
    CHECK(dkm_kernel_prepare_new(A, N, &B) == DKM_ERR_ARG && B == NULL);
    CHECK(dkm_kernel_prepare_new(A, S, &B) == DKM_ERR_ARG && B == NULL);
    CHECK_OK(ctx, dkm_kernel_prepare(k, N, &B));
    CHECK(dkm_gram_cross(grid, k, A, B, 4, 4, DKM_F64, &K) == DKM_ERR_ARG && K == NULL);
    CHECK(dkm_kernel_elementwise(A, B, values) == DKM_ERR_ARG);
    CHECK(dkm_gram(grid, other, A, 4, DKM_F64, &K) == DKM_ERR_ARG && K == NULL);
    /* a wrong block size on the last rank alone */
    CHECK(dkm_gram(grid, k, A, dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? 0 : 4, DKM_F64, &K) ==
          DKM_ERR_ARG);
    CHECK(K == NULL);
    dkm_prepared_destroy(&B);
    dkm_prepared_destroy(&A);
    dkm_kernel_destroy(&other);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    dkm_data_destroy(&N);
    dkm_data_destroy(&S);
    dkm_data_destroy(&L);
    dkm_data_destroy(&E);
    dkm_grid_destroy(&grid);
}

static dkm_data *brutal_X;
static dkm_kernel *brutal_kernel;
static dkm_grid *brutal_grid;

static dkm_status gram_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_prepared *P = NULL;
    dkm_data *rows = NULL;
    dkm_dmat *K = NULL;

    (void)ctx;
    DKM_TRY(dkm_kernel_prepare(brutal_kernel, brutal_X, &P));
    DKM_TRY(dkm_gram_rows(brutal_grid, brutal_kernel, P, 3, 1, &rows));
    DKM_TRY(dkm_gram_cross(brutal_grid, brutal_kernel, P, P, 3, 3, DKM_F32, &K));
out:
    dkm_dmat_destroy(&K);
    dkm_data_destroy(&rows);
    dkm_prepared_destroy(&P);
    return status;
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    const char *texts[] = {"rbf(poly, sigma=2)", "laplace"};

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &brutal_grid));
    for (int k = 0; k < 4; k++) {
        brutal_X = objects(ctx, k % 2 ? DKM_SPARSE : DKM_DENSE, 9, vector_element);
        CHECK_OK(ctx, dkm_kernel_parse(ctx, texts[k / 2], &brutal_kernel));
        check_every_allocation(ctx, k % dkm_ctx_size(ctx), gram_once);
        dkm_kernel_destroy(&brutal_kernel);
        dkm_data_destroy(&brutal_X);
    }
    dkm_grid_destroy(&brutal_grid);
}

static const check_case cases[] = {
    CASE(dense_rows_agree_with_the_definitions), CASE(sparse_rows_agree_with_the_definitions),
    CASE(every_grid_and_block_gives_the_same),   CASE(few_objects_are_enough),
    CASE(many_panels_make_one_matrix),           CASE(thousands_of_rows_come_in_several_tiles),
    CASE(what_does_not_fit_is_refused),          CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
