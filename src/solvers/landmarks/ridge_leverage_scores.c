/* Approximate ridge leverage scores from a uniform pilot sample S:
 *
 *   l_i = k(x_i, x_i) - k(x_i, S) (K_SS + gamma I)^-1 k(S, x_i),
 *
 * which is gamma times the ridge leverage score of x_i, up to the error of the pilot sample
 * (Alaoui and Mahoney 2015, NIPS 28, arXiv:1411.0306; Musco and Musco 2017, NIPS 30,
 * arXiv:1605.07583).
 *
 * Cost per rank for a pilot of s: m s / ranks kernel values, 2 m s^2 / ranks flops, an allreduce
 * of s^2 words. Replicated: L^-1 of the pilot, s^2 numbers, s <= 2000. */
#include "solvers/landmarks/ridge_leverage_scores.h"

#include <math.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "kernels/gram/strips.h"
#include "linalg/backend/blas.h"
#include "linalg/linalg.h"
#include "solvers/ridge/shifted_cholesky.h"

typedef struct scoring {
    dkm_strip_visitor visitor;
    dkm_idx n;
    double *inverse; /* n x n: L^-1 of the draw, lower triangle, on every rank */
    double *half;    /* space for L^-1 k(S, x) of a strip */
    double *weights;
} scoring;

static void leverage_score_panel(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    scoring *s = (scoring *)self;

    dkm_blas_gemm(DKM_F64, 'N', 'T', s->n, K->na, s->n, 1.0, s->inverse, s->n, K->c, K->ld, 0.0,
                  s->half, s->n);
    for (dkm_idx i = 0; i < K->na; i++) {
        double known = 0;
        for (dkm_idx j = 0; j < s->n; j++)
            known += s->half[j + i * s->n] * s->half[j + i * s->n];
        s->weights[il + i] = fmax(0.0, s->weights[il + i] - known);
    }
}

/* All of a lower triangular matrix on every rank, zeros above its diagonal. */
static void leverage_gather_lower(const dkm_dmat *L, double *all)
{
    dkm_idx n = dkm_dmat_rows(L);

    for (dkm_idx k = 0; k < n * n; k++)
        all[k] = 0;
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(L); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(L); il++) {
            dkm_idx ig = dkm_dmat_global_row(L, il), jg = dkm_dmat_global_col(L, jl);
            if (ig >= jg)
                all[ig + jg * n] = dkm_dmat_f64_const(L)[il + jl * dkm_dmat_ld(L)];
        }
    dkm_mpi_allreduce(all, n * n, MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(dkm_grid_ctx(dkm_dmat_grid(L))));
}

/* The inverse of the factor of K_SS + gamma I, on every rank. */
static dkm_status leverage_factor_pilot(dkm_grid *grid, const dkm_prepared *S, double gamma,
                                        double *inverse)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;
    dkm_shifted_cholesky factor = {0};

    DKM_TRY(dkm_gram(grid, S->kernel, S, dkm_grid_block(grid, dkm_prepared_rows(S)), DKM_F64, &K));
    DKM_TRY(dkm_shifted_cholesky_open(&factor, K, "the kernel matrix of the first landmarks"));
    DKM_TRY(dkm_shifted_cholesky_factorize(&factor, gamma));
    dkm_la_trtri(K);
    leverage_gather_lower(K, inverse);
out:
    dkm_shifted_cholesky_close(&factor);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local leverage_open(dkm_ctx *ctx, scoring *s, dkm_idx rows)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, s->n * s->n, &s->inverse));
    DKM_STEP(dkm_alloc(ctx, s->n * rows, &s->half));
out:
    return local;
}

dkm_status dkm_ridge_leverage_scores(dkm_grid *grid, const dkm_prepared *X, dkm_idx count,
                                     const dkm_idx *indices, double gamma, double *weights)
{
    dkm_status status = DKM_OK;
    scoring s = {.visitor = {leverage_score_panel}, .n = count, .weights = weights};
    dkm_data *D = NULL;
    dkm_prepared *S = NULL;
    dkm_strips strips = {0};

    DKM_TRY(dkm_data_select(X->X, count, indices, &D));
    DKM_TRY(dkm_kernel_prepare_new(X, D, &S));
    strips = dkm_strips_of(S, DKM_F64);
    DKM_TRY(dkm_strips_open(&strips));
    DKM_AGREE(X->ctx, leverage_open(X->ctx, &s, strips.rows));
    DKM_TRY(leverage_factor_pilot(grid, S, gamma, s.inverse));
    DKM_TRY(dkm_kernel_diagonal(X, weights));
    DKM_AGREE(X->ctx, dkm_strips_run(&strips, X, 0, 0, count, &s.visitor));
out:
    DKM_FREE(s.half);
    DKM_FREE(s.inverse);
    dkm_strips_close(&strips);
    dkm_prepared_destroy(&S);
    dkm_data_destroy(&D);
    return status;
}
