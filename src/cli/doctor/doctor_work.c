#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/bench.h>
#include <dkmap/ridge.h>

#include "cli/doctor/doctor.h"

enum { ORDER = 96, BLOCK = 16, GEMM = 512, TURNS = 5, WORDS = 1 << 20 };
static const double GAMMA = 0.5;

/* K has 2 on the diagonal and 1 elsewhere: K 1 = (ORDER + 1) 1. */
static double element(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == jg ? 2.0 : 1.0;
}

static double one(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    (void)ig;
    (void)jg;
    return 1.0;
}

/* The largest error of (K + gamma I)^-1 1 = 1 / (ORDER + 1 + gamma). Collective. */
static double worst_error(dkm_ctx *ctx, const dkm_dmat *B)
{
    double worst = 0, right = 1 / (ORDER + 1 + GAMMA);

    for (dkm_idx j = 0; j < dkm_dmat_local_cols(B); j++)
        for (dkm_idx i = 0; i < dkm_dmat_local_rows(B); i++)
            worst = fmax(worst, fabs(dkm_dmat_f64_const(B)[i + j * dkm_dmat_ld(B)] / right - 1));
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return worst;
}

static dkm_status solve(doctor *d, double *error)
{
    dkm_ctx *ctx = d->r->ctx;
    dkm_factor factor = dkm_ctx_factor(ctx);
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL, *Y = NULL, *B = NULL;

    dkm_ctx_set_factor(ctx, DKM_FACTOR_SCALAPACK);
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, ORDER, ORDER, BLOCK, BLOCK, DKM_F64, &K));
    DKM_TRY(dkm_dmat_create(grid, ORDER, 1, BLOCK, BLOCK, DKM_F64, &Y));
    dkm_dmat_fill(K, element, NULL);
    dkm_dmat_fill(Y, one, NULL);
    DKM_TRY(dkm_ridge_solve(K, GAMMA, Y, &B, NULL));
    *error = worst_error(ctx, B);
out:
    dkm_ctx_set_factor(ctx, factor);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

/* A system with a known answer by ScaLAPACK: it runs on BLACS, BLAS and MPI together. */
static dkm_status check_solve(doctor *d)
{
    dkm_status status = DKM_OK;
    double error = NAN;
    char text[80];

    DKM_TRY(solve(d, &error));
    snprintf(text, sizeof text, "a system of %d unknowns, relative error %.1e", ORDER, error);
    report_text(d->r, "solved", text);
    if (!(error < 1e-12))
        doctor_bad(
            d, "scalapack",
            "a system of %d unknowns comes out wrong by %.1e: its BLAS counts in integers of "
            "another size (ILP64), or ScaLAPACK is of another MPI. Link another pair of them",
            ORDER, error);
out:
    return status;
}

/* Seconds of the fastest of a few broadcasts or sums of some numbers. Collective. */
static double message_seconds(doctor *d, double *words, int count, int sums)
{
    MPI_Comm comm = dkm_ctx_comm(d->r->ctx);
    double best = INFINITY, begun, took;

    for (int k = 0; k < TURNS; k++) {
        MPI_Barrier(comm);
        begun = MPI_Wtime();
        if (sums)
            MPI_Allreduce(MPI_IN_PLACE, words, count, MPI_DOUBLE, MPI_SUM, comm);
        else
            MPI_Bcast(words, count, MPI_DOUBLE, 0, comm);
        took = MPI_Wtime() - begun;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm);
        best = fmin(best, fmax(took, 1e-9));
    }
    return best;
}

static void tell_messages(doctor *d, double *words)
{
    const double MB = 8.0 * WORDS / 1e6;

    for (int k = 0; k < WORDS; k++)
        words[k] = 0;
    report_real(d->r, "broadcast_MB_per_s", MB / message_seconds(d, words, WORDS, 0));
    report_real(d->r, "allreduce_MB_per_s", MB / message_seconds(d, words, WORDS, 1));
    report_real(d->r, "allreduce_us", 1e6 * message_seconds(d, words, 1, 1));
}

static dkm_status measure_messages(doctor *d)
{
    dkm_status status = DKM_OK;
    double *words = malloc(WORDS * sizeof *words);

    DKM_REQUIRE(d->r->ctx, words != NULL, DKM_ERR_MEMORY, "no memory for a message of 8 MiB");
    if (dkm_ctx_size(d->r->ctx) > 1)
        tell_messages(d, words);
out:
    free(words);
    return status;
}

dkm_status doctor_check_work(doctor *d)
{
    dkm_status status = DKM_OK;
    double rate = 0;

    DKM_TRY(check_solve(d));
    DKM_TRY(dkm_gemm_rate(d->r->ctx, DKM_F64, GEMM, &rate));
    report_real(d->r, "gemm_gflops_per_rank", rate / dkm_ctx_size(d->r->ctx) / 1e9);
    DKM_TRY(measure_messages(d));
out:
    return status;
}
