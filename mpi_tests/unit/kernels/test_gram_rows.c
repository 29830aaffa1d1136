/* Gram matrices as rows of data, centered and not, and kernels of pairs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/reference_kernel.h"
#include "reference/reference_vectors.h"
#include "support/check.h"

enum { D = VECTOR_D, M = VECTOR_M };

/* The whole matrix on every rank, from its slabs of rows. */
static void gather(dkm_ctx *ctx, const dkm_data *rows, dkm_idx m, double *all)
{
    memset(all, 0, (size_t)(m * m) * sizeof *all);
    memcpy(all + dkm_data_local_first(rows) * m, dkm_data_values_const(rows),
           (size_t)(dkm_data_local_rows(rows) * m) * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)(m * m), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
}

static void whole_gram(dkm_ctx *ctx, const char *text, int centered, double *all)
{
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, vector_element), *rows = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &P));
    CHECK_OK(ctx, dkm_gram_rows(grid, k, P, 4, centered, &rows));
    if (rows)
        gather(ctx, rows, M, all);
    dkm_data_destroy(&rows);
    dkm_prepared_destroy(&P);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
}

static void rows_are_symmetric_to_the_last_bit_and_positive(dkm_ctx *ctx)
{
    double all[M * M] = {0};

    for (size_t c = 0; c < VECTOR_CASES; c++) {
        double trace = 0;
        whole_gram(ctx, vector_cases[c].text, 0, all);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < i; j++)
                CHECK(all[i * M + j] == all[j * M + i]);
        for (int i = 0; i < M; i++)
            trace += all[i * M + i];
        CHECK(reference_least_eigenvalue(M, all) >= -M * DBL_EPSILON * trace);
    }
}

static void centred_rows_have_mean_zero(dkm_ctx *ctx)
{
    double K[M * M] = {0}, H[M * M] = {0}, means[M] = {0}, g = 0;

    whole_gram(ctx, "poly(degree=2, c=1)", 0, K);
    whole_gram(ctx, "poly(degree=2, c=1)", 1, H);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            means[i] += K[i * M + j] / M;
            g += K[i * M + j] / (M * M);
        }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            CHECK_CLOSE(H[i * M + j], K[i * M + j] - means[i] - means[j] + g, 1e-11);
            CHECK(H[i * M + j] == H[j * M + i]);
        }
}

/* Training rows taken for new ones are centered like themselves. */
static double local_value(const dkm_dmat *K, dkm_idx il, dkm_idx jl)
{
    return dkm_dmat_f64_const(K)[il + jl * dkm_dmat_ld(K)];
}

static void new_rows_are_centred_by_training_means(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    dkm_dmat *K = NULL, *N = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, vector_element);
    double means[M];

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf", &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &P));
    CHECK_OK(ctx, dkm_gram(grid, k, P, 4, DKM_F64, &K));
    CHECK_OK(ctx, dkm_gram_cross(grid, k, P, P, 4, 4, DKM_F64, &N));
    CHECK_OK(ctx, dkm_gram_center(K, means));
    CHECK_OK(ctx, dkm_gram_center_new(N, means));
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++)
            if (dkm_dmat_global_row(K, il) >= dkm_dmat_global_col(K, jl))
                CHECK_CLOSE(local_value(N, il, jl), local_value(K, il, jl), 1e-14);
    dkm_dmat_destroy(&N);
    CHECK_OK(ctx, dkm_dmat_create(grid, 3, 4, 2, 2, DKM_F64, &N));
    CHECK(dkm_gram_center(N, means) == DKM_ERR_ARG);
    dkm_dmat_destroy(&N);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&P);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
}

static void pairs_and_selves_agree_with_the_definitions(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, vector_element);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, M, D, vector_other);
    double pairs[M], selves[M], x[D], z[D];

    for (size_t c = 0; c < VECTOR_CASES; c++) {
        dkm_kernel *k = NULL;
        dkm_prepared *A = NULL, *B = NULL;
        CHECK_OK(ctx, dkm_kernel_parse(ctx, vector_cases[c].text, &k));
        CHECK_OK(ctx, dkm_kernel_prepare(k, X, &A));
        CHECK_OK(ctx, dkm_kernel_prepare(k, Z, &B));
        CHECK_OK(ctx, dkm_kernel_elementwise(A, B, pairs));
        CHECK_OK(ctx, dkm_kernel_diagonal(A, selves));
        for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
            vector_row(vector_element, i + dkm_data_local_first(X), x);
            vector_row(vector_other, i + dkm_data_local_first(X), z);
            double want = vector_cases[c].value(x, z), self = vector_cases[c].value(x, x);
            CHECK_CLOSE(pairs[i], want, vector_tolerance(DKM_F64, want));
            CHECK_CLOSE(selves[i], self, vector_tolerance(DKM_F64, self));
        }
        dkm_prepared_destroy(&A);
        dkm_prepared_destroy(&B);
        dkm_kernel_destroy(&k);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static const check_case cases[] = {
    CASE(rows_are_symmetric_to_the_last_bit_and_positive),
    CASE(centred_rows_have_mean_zero),
    CASE(new_rows_are_centred_by_training_means),
    CASE(pairs_and_selves_agree_with_the_definitions),
};

CHECK_MAIN(cases)
