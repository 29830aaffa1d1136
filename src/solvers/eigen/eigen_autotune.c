/* Block Lanczos where its basis is a small part of the matrix, else a full solve, by ScaLAPACK
 * or ELPA: whichever is faster on a matrix of order 256 times the rows of the grid. Cost: two
 * such solves of each library, for matrices of four times that order or more; ranks agree on
 * the times. */
#include "solvers/eigen/eigen_autotune.h"

#include <stdio.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "solvers/krylov/block_lanczos.h"

#define PROBE_PER_RANK 256 /* order of the measured problem, times the square root of the ranks */
#define WORTH_PROBING  4   /* orders a problem must be larger than the probe */

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

dkm_status dkm_eigen_choose_library(const dkm_dmat *K, dkm_eigen_library *library)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = dkm_dmat_grid(K);
    dkm_idx probe = PROBE_PER_RANK * dkm_grid_rows(grid), nb = dkm_grid_block(grid, probe);
    double seconds[2] = {0, 0};
    char stage[DKM_STAGE_LENGTH];
    int choice = 0, found = 0;

    *library = DKM_EIGEN_SCALAPACK;
    if (!dkm_la_syevd_has(DKM_EIGEN_ELPA) || dkm_dmat_rows(K) < WORTH_PROBING * probe)
        return DKM_OK;
    snprintf(stage, sizeof stage, "library m=%lld", (long long)dkm_dmat_rows(K));
    DKM_TRY(dkm_checkpointer_load_choice(dkm_grid_ctx(grid), stage, &choice, &found));
    *library = (dkm_eigen_library)choice;
    if (found)
        goto out;
    /* the first call of a library sets it up: measured the second time */
    for (int turn = 0; turn < 2; turn++) {
        DKM_TRY(dkm_eigen_measure_seconds(grid, probe, nb, DKM_EIGEN_SCALAPACK, &seconds[0]));
        DKM_TRY(dkm_eigen_measure_seconds(grid, probe, nb, DKM_EIGEN_ELPA, &seconds[1]));
    }
    *library = seconds[1] < seconds[0] ? DKM_EIGEN_ELPA : DKM_EIGEN_SCALAPACK;
    DKM_TRY(dkm_checkpointer_save_choice(dkm_grid_ctx(grid), stage, (int)*library));
    dkm_log(dkm_grid_ctx(grid), DKM_DEBUG,
            "full eigensolver: ScaLAPACK %.3f s, ELPA %.3f s at order %lld: taking %s", seconds[0],
            seconds[1], (long long)probe, *library == DKM_EIGEN_ELPA ? "ELPA" : "ScaLAPACK");
out:
    return status;
}
