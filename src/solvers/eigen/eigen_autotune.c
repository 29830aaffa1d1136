/* Block Lanczos where its basis is a small part of the matrix, else a full solve: by ScaLAPACK, by ELPA
 * or by the own reduction around ScaLAPACK's divide and conquer, whichever is fastest on a small matrix
 * on the same grid. Cost: two solves by each of an eighth of the order, at most PROBE_PER_RANK times the
 * rows of the grid, after one of half that order that sets the library up; ranks agree on the times. */
#include "solvers/eigen/eigen_autotune.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "io/checkpoint/checkpointer.h"
#include "linalg/eigen/sytrd.h"
#include "solvers/krylov/block_lanczos.h"

#define PROBE_PER_RANK 512 /* order of the measured problem, times the rows of the grid, at most */
#define PROBE_MIN      128 /* smaller ones tell nothing */
#define TURNS          3   /* the first at half the order sets the library up */
#define WORTH_PROBING  8   /* orders a problem must be larger than the probe */
/* A small matrix lies in the cache. In memory half of a reduction to tridiagonal form is reading, and the
 * own one reads once what the libraries read twice: on two ranks its time, relative to theirs, fell by a
 * fifth from order 512 to 4000. */
#define IN_MEMORY 0.8
#define IN_CACHE  (8 << 20) /* bytes of a rank's share of the triangle that may stay there */

int dkm_eigen_block_can(dkm_idx p, dkm_idx block)
{
    return dkm_block_lanczos_max_basis(p, block) <= DKM_SMALL_EIGEN_MOST;
}

int dkm_eigen_prefers_lanczos(dkm_eigen_solver solver, dkm_idx m, dkm_idx p)
{
    if (solver == DKM_EIGEN_FULL || !dkm_eigen_block_can(p, dkm_block_lanczos_small_block(p)))
        return 0;
    if (solver == DKM_EIGEN_BLOCK)
        return 1;
    /* a product with each column of the basis beats 9 m^3 slow operations while it is a small part
     */
    return dkm_block_lanczos_max_basis(p, dkm_block_lanczos_small_block(p)) <= m / 2;
}

static double probe_element(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return 1.0 / (1.0 + (double)(ig > jg ? ig - jg : jg - ig)) +
           (ig == jg ? (double)(ig % 7) : 0.0);
}

dkm_status dkm_eigen_measure_seconds(dkm_grid *grid, dkm_idx n, dkm_idx nb,
                                     dkm_eigen_library library, double *seconds)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    double *values = NULL;
    dkm_dmat *A = NULL, *Z = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &values));
    DKM_TRY(dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(A, probe_element, NULL);
    MPI_Barrier(dkm_ctx_comm(ctx));
    *seconds = MPI_Wtime();
    DKM_TRY(dkm_la_syevd(A, &library, values, &Z));
    *seconds = MPI_Wtime() - *seconds;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
out:
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    DKM_FREE(values);
    return status;
}

int dkm_eigen_is_candidate(const dkm_dmat *K, dkm_eigen_library library)
{
    double n = (double)dkm_dmat_rows(K);
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));

    return dkm_la_syevd_has(library) &&
           (library != DKM_EIGEN_SYTRD ||
            dkm_la_sytrd_replicated_bytes(K) <= 8.0 * n * n / dkm_ctx_size(ctx));
}

/* The fastest of the candidates, as a matrix of order @p n tells. */
static dkm_status choose_by_clock(const dkm_dmat *K, dkm_idx n, dkm_eigen_library *library)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(K);
    double seconds, least[DKM_EIGEN_LIBRARIES], m = (double)dkm_dmat_rows(K);

    for (int turn = 0; turn < TURNS; turn++)
        for (dkm_eigen_library l = 0; l < DKM_EIGEN_LIBRARIES; l++) {
            dkm_idx order = turn == 0 ? n / 2 : n;
            seconds = INFINITY;
            if (dkm_eigen_is_candidate(K, l))
                DKM_TRY(dkm_eigen_measure_seconds(grid, order, dkm_grid_block(grid, order), l,
                                                  &seconds));
            least[l] = turn <= 1 ? seconds : fmin(seconds, least[l]);
        }
    if (4.0 * m * m / dkm_ctx_size(dkm_grid_ctx(grid)) > IN_CACHE)
        least[DKM_EIGEN_SYTRD] *= IN_MEMORY;
    for (dkm_eigen_library l = 0; l < DKM_EIGEN_LIBRARIES; l++) {
        *library = least[l] < least[*library] ? l : *library;
        if (least[l] < INFINITY)
            dkm_log(dkm_grid_ctx(grid), DKM_DEBUG, "full eigensolver %s: %.4f s at order %lld",
                    dkm_la_syevd_name(l), least[l], (long long)n);
    }
    dkm_log(dkm_grid_ctx(grid), DKM_DEBUG, "full eigensolver: taking %s",
            dkm_la_syevd_name(*library));
out:
    return status;
}

dkm_status dkm_eigen_choose_library(const dkm_dmat *K, dkm_eigen_library *library)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(K);
    dkm_idx probe =
        dkm_idx_min(dkm_dmat_rows(K) / WORTH_PROBING, PROBE_PER_RANK * dkm_grid_rows(grid));
    char stage[DKM_STAGE_LENGTH];
    int choice = 0, found = 0;

    *library = DKM_EIGEN_SCALAPACK;
    if (probe < PROBE_MIN)
        return DKM_OK;
    snprintf(stage, sizeof stage, "library m=%lld", (long long)dkm_dmat_rows(K));
    DKM_TRY(dkm_checkpointer_load_choice(dkm_grid_ctx(grid), stage, &choice, &found));
    *library = (dkm_eigen_library)choice;
    if (found)
        goto out;
    DKM_TRY(choose_by_clock(K, probe, library));
    DKM_TRY(dkm_checkpointer_save_choice(dkm_grid_ctx(grid), stage, (int)*library));
out:
    return status;
}
