/* Functions of a symmetric matrix through its eigenvectors (spectral filters): for K = M diag(l)
 * M', f(K) = M diag(f(l)) M', several f at once (Lo Gerfo, Rosasco, Odone, De Vito and Verri 2008,
 * Neural Comput. 20(7):1873-1897, doi:10.1162/neco.2008.05-07-517; Higham 2008, Functions of
 * Matrices, doi:10.1137/1.9780898717778).
 *
 * Cost per rank: 2 r k p / ranks flops for M'Y, 2 r k p count / ranks for the products, 2 r k
 * count / ranks for the diagonals; two redistributions (matrix/redistribute.c) each. Replicated:
 * the weights, k x count numbers. */
#include "solvers/operators/spectral_filter.h"

#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/linalg.h"

#define SQUARED 256 /* columns of M that are squared at a time */

/* This rank's slab of n items. */
static dkm_idx filter_first_row(dkm_ctx *ctx, dkm_idx n)
{
    return dkm_slab_first(n, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

static dkm_idx filter_row_count(dkm_ctx *ctx, dkm_idx n)
{
    return dkm_slab_count(n, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

/* out = op(M) in, without gaps in either. */
static dkm_status filter_gemm(char op, const dkm_dmat *M, dkm_idx p, const double *in, double *out)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(M);
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_idx r = dkm_dmat_rows(M), mb = dkm_dmat_row_block(M);
    dkm_idx k = dkm_dmat_cols(M), nb = dkm_dmat_col_block(M);
    dkm_idx cols = (p + dkm_grid_cols(grid) - 1) / dkm_grid_cols(grid);
    dkm_dmat *V = NULL, *W = NULL;

    DKM_TRY(dkm_dmat_create(grid, op == 'N' ? k : r, p, op == 'N' ? nb : mb, cols, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create(grid, op == 'N' ? r : k, p, op == 'N' ? mb : nb, cols, DKM_F64, &W));
    DKM_TRY(dkm_dmat_from_rows(V, in));
    dkm_la_gemm(op, 'N', 1.0, M, V, 0.0, W);
    dkm_phase_flops(ctx, 2.0 * (double)r * (double)k * (double)p / dkm_ctx_size(ctx));
    DKM_TRY(dkm_dmat_to_rows(W, out));
out:
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    return status;
}

static void filter_copy_rows(dkm_idx n, dkm_idx p, const double *in, dkm_idx ldin, double *out,
                             dkm_idx ldout)
{
    for (dkm_idx i = 0; i < n; i++)
        memcpy(out + i * ldout, in + i * ldin, (size_t)p * sizeof *out);
}

dkm_status dkm_spectral_filter_project(const dkm_dmat *M, dkm_idx p, const double *in, dkm_idx ldin,
                                       double *out, dkm_idx ldout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));
    dkm_idx r = filter_row_count(ctx, dkm_dmat_rows(M)),
            k = filter_row_count(ctx, dkm_dmat_cols(M));
    double *from = NULL, *to = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, r * p, &from));
    DKM_AGREE(ctx, dkm_alloc(ctx, k * p, &to));
    filter_copy_rows(r, p, in, ldin, from, p);
    DKM_TRY(filter_gemm('T', M, p, from, to));
    filter_copy_rows(k, p, to, p, out, ldout);
out:
    DKM_FREE(to);
    DKM_FREE(from);
    return status;
}

dkm_status dkm_spectral_filter_apply(const dkm_dmat *M, dkm_idx count, const double *w, dkm_idx p,
                                     const double *Z, dkm_idx ldz, double *out)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));
    dkm_idx all = dkm_dmat_cols(M), k = filter_row_count(ctx, all), width = count * p;
    double *scaled = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, k * width, &scaled));
    w += filter_first_row(ctx, all);
    for (dkm_idx i = 0; i < k; i++)
        for (dkm_idx f = 0; f < count; f++)
            for (dkm_idx j = 0; j < p; j++)
                scaled[i * width + f * p + j] = w[f * all + i] * Z[i * ldz + j];
    DKM_TRY(filter_gemm('N', M, width, scaled, out));
out:
    DKM_FREE(scaled);
    return status;
}

typedef struct squaring {
    double *squares; /* of some local columns */
    double *weights; /* of those columns */
    double *sums;    /* local rows x count, of this rank's columns */
} squaring;

static dkm_local filter_alloc(squaring *s, const dkm_dmat *M, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));

    DKM_STEP(dkm_alloc(ctx, dkm_dmat_local_rows(M) * SQUARED, &s->squares));
    DKM_STEP(dkm_alloc(ctx, SQUARED * count, &s->weights));
    DKM_STEP(dkm_calloc(ctx, dkm_dmat_local_rows(M) * count, &s->sums));
out:
    return local;
}

static void filter_add_squares(squaring *s, const dkm_dmat *M, dkm_idx count, const double *w)
{
    dkm_idx rows = dkm_dmat_local_rows(M), cols = dkm_dmat_local_cols(M), ld = dkm_dmat_ld(M);
    const double *a = dkm_dmat_f64_const(M);

    for (dkm_idx c = 0; c < cols && rows > 0; c += SQUARED) {
        dkm_idx width = c + SQUARED < cols ? SQUARED : cols - c;
        for (dkm_idx j = 0; j < width; j++) {
            for (dkm_idx i = 0; i < rows; i++)
                s->squares[i + j * rows] = a[i + (c + j) * ld] * a[i + (c + j) * ld];
            for (dkm_idx f = 0; f < count; f++)
                s->weights[j + f * SQUARED] =
                    w[dkm_dmat_global_col(M, c + j) + f * dkm_dmat_cols(M)];
        }
        dkm_blas_gemm(DKM_F64, 'N', 'N', rows, count, width, 1.0, s->squares, rows, s->weights,
                      SQUARED, 1.0, s->sums, rows);
    }
}

dkm_status dkm_spectral_filter_diagonal(const dkm_dmat *M, dkm_idx count, const double *w,
                                        double *out)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(M));
    dkm_idx rows = dkm_dmat_local_rows(M);
    squaring s = {0};
    dkm_dmat *D = NULL; /* one block wide: all of a row is on the first process of its grid row */

    DKM_AGREE(ctx, filter_alloc(&s, M, count));
    DKM_TRY(dkm_dmat_create_like(M, count, count, DKM_F64, &D));
    filter_add_squares(&s, M, count, w);
    if (dkm_grid_row(dkm_dmat_grid(M)) >= 0)
        MPI_Reduce(s.sums, dkm_dmat_f64(D), (int)(rows * count), MPI_DOUBLE, MPI_SUM, 0,
                   dkm_grid_row_comm(dkm_dmat_grid(M)));
    DKM_TRY(dkm_dmat_to_rows(D, out));
out:
    dkm_dmat_destroy(&D);
    DKM_FREE(s.sums);
    DKM_FREE(s.weights);
    DKM_FREE(s.squares);
    return status;
}
