/* The Rayleigh-Ritz step of a Krylov method: leading eigenpairs of the projected matrix T of order s,
 * whose lower triangle is distributed block-cyclically.
 *
 * Small problems are gathered on rank 0, which solves them by LAPACK: up to order 512 by dsyevd
 * (divide and conquer; Gu and Eisenstat 1995, SIAM J. Matrix Anal. Appl. 16(1):172-191,
 * doi:10.1137/S0895479892241287), then by dsyevr, bisection and inverse iteration for the leading
 * pairs alone. Larger ones are solved on the grid (linalg/eigen/syevd.h).
 *
 * Cost: small, 4/3 s^3 flops on rank 0, s^2 words gathered; large, at most 14/3 s^3 / ranks flops. In
 * both cases s count words are sent to every rank. Held: s^2 numbers on rank 0, up to order 512 3 s^2,
 * or 4 s^2 / ranks on each; replicated: the count vectors, s count numbers. */
#include "solvers/krylov/rayleigh_ritz.h"

#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "matrix/multivec.h"

double dkm_rayleigh_ritz_bytes(dkm_idx s, dkm_idx count, int size, dkm_idx local_max)
{
    double square = (double)s * (double)s, vectors = (double)s * (double)count;
    double workspace = s <= DKM_ALL_PAIRS_MOST ? 2.0 * square : 0.0;

    return 8.0 *
           (square / size + vectors +
            (s <= local_max ? square + square / size + workspace : 4.0 * square / size + vectors));
}

/* A = T(0:s, 0:s): the same blocks on the same ranks. */
static dkm_status copy_leading(const dkm_dmat *T, dkm_idx s, dkm_dmat **A)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(T->grid, s, s, T->mb, T->nb, DKM_F64, A));
    for (dkm_idx jl = 0; jl < (*A)->n_loc; jl++)
        memcpy((*A)->a.f64 + jl * (*A)->ld, T->a.f64 + jl * T->ld,
               (size_t)(*A)->m_loc * sizeof *T->a.f64);
out:
    return status;
}

typedef struct gathered {
    double *rows; /* this rank's slab of A */
    double *all;  /* A, row-major, on rank 0 */
    int *counts, *starts;
} gathered;

static dkm_local gathered_alloc(gathered *g, dkm_ctx *ctx, dkm_idx s)
{
    dkm_local local = DKM_LOCAL_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    DKM_STEP(dkm_alloc(ctx, dkm_slab_count(s, rank, size) * s, &g->rows));
    DKM_STEP(dkm_alloc(ctx, rank == 0 ? s * s : 0, &g->all));
    DKM_STEP(dkm_alloc(ctx, size, &g->counts));
    DKM_STEP(dkm_alloc(ctx, size, &g->starts));
    for (int r = 0; r < size; r++) {
        g->counts[r] = (int)(dkm_slab_count(s, r, size) * s);
        g->starts[r] = (int)(dkm_slab_first(s, r, size) * s);
    }
out:
    return local;
}

/* Row-major rows are columns to LAPACK: the lower triangle of A is the upper one of `all`. */
static dkm_status solve_on_rank_0(const dkm_dmat *A, dkm_idx count, double *theta, double *S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    MPI_Comm comm = dkm_ctx_comm(ctx);
    gathered g = {0};

    DKM_AGREE(ctx, gathered_alloc(&g, ctx, A->n));
    DKM_TRY(dkm_dmat_to_rows(A, g.rows));
    MPI_Gatherv(g.rows, g.counts[dkm_ctx_rank(ctx)], MPI_DOUBLE, g.all, g.counts, g.starts,
                MPI_DOUBLE, 0, comm);
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0
                       ? dkm_syev_leading_local(ctx, 'U', A->n, g.all, count, theta, S)
                       : DKM_LOCAL_OK);
    MPI_Bcast(theta, (int)count, MPI_DOUBLE, 0, comm);
    dkm_mpi_bcast(S, A->n * count, MPI_DOUBLE, 0, comm);
out:
    DKM_FREE(g.starts);
    DKM_FREE(g.counts);
    DKM_FREE(g.all);
    DKM_FREE(g.rows);
    return status;
}

/* S = the columns of Z from the last on, count of them. */
static dkm_status gather_vectors(const dkm_dmat *Z, dkm_idx count, double *S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(Z->grid);
    dkm_idx s = Z->n;
    dkm_multivec slab = {0};
    dkm_dmat *leading = NULL;
    double *rows = NULL;

    DKM_TRY(dkm_dmat_create_like(Z, count, Z->nb, DKM_F64, &leading));
    dkm_la_lacpy_cols(Z, s - count, leading);
    DKM_AGREE(ctx, dkm_multivec_init(&slab, ctx, s, count));
    DKM_AGREE(ctx, dkm_alloc(ctx, s * count, &rows));
    slab.cols = count;
    DKM_TRY(dkm_dmat_to_rows(leading, slab.a));
    DKM_TRY(dkm_multivec_allgather(&slab, s, rows));
    for (dkm_idx j = 0; j < count; j++)
        for (dkm_idx i = 0; i < s; i++)
            S[i + j * s] = rows[i * count + count - 1 - j];
out:
    DKM_FREE(rows);
    dkm_multivec_free(&slab);
    dkm_dmat_destroy(&leading);
    return status;
}

static dkm_status solve_on_grid(dkm_dmat *A, dkm_idx count, double *theta, double *S)
{
    dkm_status status = DKM_OK;
    dkm_eigen_library library =
        dkm_la_syevd_has(DKM_EIGEN_ELPA) ? DKM_EIGEN_ELPA : DKM_EIGEN_SCALAPACK;
    dkm_dmat *Z = NULL;

    DKM_TRY(dkm_la_syevd(A, &library, theta, &Z));
    for (dkm_idx j = 0; j < A->n / 2; j++) {
        double t = theta[j];
        theta[j] = theta[A->n - 1 - j];
        theta[A->n - 1 - j] = t;
    }
    DKM_TRY(gather_vectors(Z, count, S));
out:
    dkm_dmat_destroy(&Z);
    return status;
}

dkm_status dkm_rayleigh_ritz(const dkm_dmat *T, dkm_idx s, dkm_idx count, dkm_idx local_max,
                             double *theta, double *S)
{
    dkm_status status = DKM_OK;
    dkm_dmat *A = NULL;

    DKM_TRY(copy_leading(T, s, &A));
    DKM_TRY(s <= local_max ? solve_on_rank_0(A, count, theta, S)
                           : solve_on_grid(A, count, theta, S));
out:
    dkm_dmat_destroy(&A);
    return status;
}
