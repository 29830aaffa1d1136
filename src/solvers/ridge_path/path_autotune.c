/* Cholesky, eigendecomposition or band: operations grow with the cube of the order in all, so a
 * small system of each on the same grid predicts the time of large ones. Of an eigendecomposition it
 * predicts too little: half of the reduction to tridiagonal form is products of the trailing matrix
 * with a vector, which a small system finds in the cache and a large one reads from memory. They are
 * measured on the matrix itself: n products with matrices of shrinking order read it n / 3 times. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "linalg/eigen/band.h"
#include "linalg/eigen/syevd.h"
#include "linalg/symm/symm_multivec.h"
#include "solvers/eigen/eigen_autotune.h"
#include "solvers/operators/fingerprint.h"
#include "solvers/ridge/shifted_cholesky.h"
#include "solvers/ridge_path/path_impl.h"

#define PROBE_MAX     512 /* order of the measured systems, times the rows of the grid */
#define PROBE_MIN     64  /* smaller ones tell nothing */
#define WORTH_PROBING 4   /* orders a system must be larger than the probe */
#define TURNS         2   /* of which the fastest counts */
#define SPARE         1.1

/* Seconds a cube of the order: Cholesky, the inverse of its factor, an eigensolve, a band; and those
 * of a product of the matrix with a vector. Those that are not measured were, on two ranks; only
 * their ratios matter. */
typedef struct rates {
    double cholesky, inverse, eigen, band, product;
} rates;

static double probe_element(void *user, dkm_idx ig, dkm_idx jg)
{
    dkm_idx apart = ig > jg ? ig - jg : jg - ig;

    (void)user;
    return 1.0 / (1.0 + (double)apart) + (apart == 0 ? 2.0 : 0.0);
}

/* Seconds since @p start on the slowest rank. */
static double since(dkm_ctx *ctx, double start)
{
    double seconds = MPI_Wtime() - start;

    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return seconds;
}

static rates least_of(const rates *a, const rates *b)
{
    return (rates){fmin(a->cholesky, b->cholesky), fmin(a->inverse, b->inverse),
                   fmin(a->eigen, b->eigen), fmin(a->band, b->band), fmin(a->product, b->product)};
}

static dkm_status autotune_time_cholesky(dkm_grid *grid, dkm_idx n, dkm_idx nb, rates *r)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_checkpointer *checkpointer = dkm_checkpointer_pause(ctx);
    dkm_shifted_cholesky factor = {0};
    dkm_dmat *A = NULL;
    double start, *p = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &p));
    DKM_TRY(dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(A, probe_element, NULL);
    DKM_TRY(dkm_shifted_cholesky_open(&factor, A, "the probe"));
    MPI_Barrier(dkm_ctx_comm(ctx));
    start = MPI_Wtime();
    DKM_TRY(dkm_shifted_cholesky_factorize(&factor, 1.0));
    r->cholesky = since(ctx, start);
    start = MPI_Wtime();
    dkm_shifted_cholesky_diagonals(&factor, NULL, p, NULL);
    r->inverse = since(ctx, start);
out:
    dkm_checkpointer_resume(ctx, checkpointer);
    dkm_shifted_cholesky_close(&factor);
    dkm_dmat_destroy(&A);
    DKM_FREE(p);
    return status;
}

static dkm_status autotune_time_band(dkm_grid *grid, dkm_idx n, dkm_idx nb, rates *r)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_band band = {0};
    dkm_dmat *A = NULL;
    double start;

    DKM_TRY(dkm_dmat_create(grid, n, n, nb, nb, DKM_F64, &A));
    dkm_dmat_fill(A, probe_element, NULL);
    MPI_Barrier(dkm_ctx_comm(ctx));
    start = MPI_Wtime();
    DKM_TRY(dkm_band_reduce(A, &band));
    r->band = since(ctx, start);
out:
    dkm_band_close(&band);
    dkm_dmat_destroy(&A);
    return status;
}

static dkm_status autotune_time_product(const dkm_path_run *run, rates *r)
{
    dkm_status status = DKM_OK;
    dkm_multivec v = {0};
    double start;

    DKM_AGREE(run->ctx, dkm_multivec_init(&v, run->ctx, run->k, 1));
    for (dkm_idx i = 0; i < v.n; i++)
        v.a[i] = 1.0;
    MPI_Barrier(dkm_ctx_comm(run->ctx));
    start = MPI_Wtime();
    DKM_TRY(dkm_symm_multivec('L', run->A, 1, v.a));
    r->product = since(run->ctx, start);
out:
    dkm_multivec_free(&v);
    return status;
}

/* Seconds a cube of order @p n. */
static dkm_status autotune_measure_order(const dkm_path_run *run, dkm_idx n, rates *r)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = dkm_grid_block(run->grid, n);
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double cube = (double)n * (double)n * (double)n;

    if (dkm_eigen_is_candidate(run->A, DKM_EIGEN_SYTRD))
        library = DKM_EIGEN_SYTRD;
    *r = (rates){0};
    DKM_TRY(autotune_time_cholesky(run->grid, n, nb, r));
    DKM_TRY(dkm_eigen_measure_seconds(run->grid, n, nb, library, &r->eigen));
    DKM_TRY(autotune_time_product(run, r));
    if (dkm_path_suits_band(run))
        DKM_TRY(autotune_time_band(run->grid, n, nb, r));
    r->cholesky /= cube;
    r->inverse /= cube;
    r->eigen /= cube;
    r->band /= cube;
out:
    return status;
}

/* Which library makes an eigendecomposition fastest is measured when there is to be one. */
static dkm_status autotune_measure(const dkm_path_run *run, dkm_idx n, rates *r)
{
    dkm_status status = DKM_OK;
    rates first;

    dkm_phase_begin(run->ctx, "calibrate");
    DKM_TRY(autotune_measure_order(run, n / 2, &first)); /* sets the libraries up */
    for (int turn = 0; turn < TURNS; turn++) {
        rates again;
        DKM_TRY(autotune_measure_order(run, n, &again));
        *r = turn == 0 ? again : least_of(r, &again);
    }
out:
    dkm_phase_end(run->ctx);
    return status;
}

/* Seconds of all gammas by each. A product is estimated at Cholesky's rate of k^3 / 3 operations:
 * fits and squares in the primal are 2 m k^2 and m k^2 of them, the square of K is m^3. */
static double cost_cholesky(const dkm_path_run *run, const rates *r)
{
    double k = (double)run->k, cube = k * k * k, count = (double)run->settings->count;
    double rows = 3.0 * (double)run->m * k * k * r->cholesky, sum = count * r->cholesky * cube;

    if (run->X)
        return sum + (run->errors ? count * rows : 0.0);
    if (dkm_path_penalizes_coefficients(run))
        sum += 3.0 * r->cholesky * cube + (run->errors ? count * r->inverse * cube : 0.0);
    return sum + (run->errors ? count * r->inverse * cube : 0.0);
}

static double cost_eigen(const dkm_path_run *run, const rates *r)
{
    double k = (double)run->k, rows = 3.0 * (double)run->m * k * k * r->cholesky;

    return r->eigen * k * k * k + r->product * k / 3.0 + (run->X && run->errors ? 2.0 * rows : 0.0);
}

/* 2 b k^2 operations a gamma for the errors, in products with few columns, at half the rate. On so many
 * ranks that its replicated panels outgrow a rank's share of the matrix, it is no choice. */
static double cost_band(const dkm_path_run *run, const rates *r)
{
    double k = (double)run->k, count = (double)run->settings->count, b = (double)run->nb;
    double copies = 8.0 * 4.0 * k * (double)run->T.cols,
           share = 8.0 * k * k / dkm_ctx_size(run->ctx);

    if (!dkm_path_suits_band(run) || copies > run->settings->work_bytes ||
        dkm_band_replicated_bytes(run->A) > share ||
        !dkm_memory_fits(run->ctx, SPARE * dkm_band_bytes(run->A)))
        return INFINITY;
    return r->band * k * k * k + (run->errors ? 12.0 * count * b * k * k * r->cholesky : 0.0);
}

/* The one that is fastest, by measure. */
static dkm_status choose_by_clock(const dkm_path_run *run, int *choice)
{
    dkm_status status = DKM_OK;
    dkm_idx most = PROBE_MAX * dkm_grid_rows(run->grid), probe = run->k / WORTH_PROBING;
    rates r = {1.0, 1.3, 20.0, 12.0, 0.0};
    double cholesky, eigen, band;

    if (probe >= PROBE_MIN)
        DKM_TRY(autotune_measure(run, probe < most ? probe : most, &r));
    cholesky = cost_cholesky(run, &r);
    eigen = cost_eigen(run, &r);
    band = cost_band(run, &r);
    *choice = band < fmin(eigen, cholesky) ? DKM_PATH_BAND
              : eigen < cholesky           ? DKM_PATH_EIGEN
                                           : DKM_PATH_CHOLESKY;
    dkm_log(run->ctx, DKM_DEBUG,
            "%lld gammas: one eigendecomposition would take %.2g times as long as a Cholesky "
            "factor for each, one reduction to a band %.2g times",
            (long long)run->settings->count, eigen / cholesky, band / cholesky);
out:
    return status;
}

/* What was asked for and cannot be. */
static void replace_band(const dkm_path_run *run, dkm_path_solver *solver)
{
    if (*solver != DKM_PATH_BAND || dkm_path_suits_band(run))
        return;
    dkm_log(run->ctx, DKM_INFO,
            "a band serves a kernel matrix with the penalty on weights: taking one "
            "eigendecomposition");
    *solver = DKM_PATH_EIGEN;
}

dkm_status dkm_path_choose_solver(const dkm_path_run *run, dkm_path_solver *solver)
{
    dkm_status status = DKM_OK;
    char print[DKM_FINGERPRINT_LENGTH], stage[DKM_STAGE_LENGTH];
    int choice = DKM_PATH_CHOLESKY, found = 0;

    replace_band(run, solver);
    if (*solver != DKM_PATH_AUTO)
        return DKM_OK;
    *solver = DKM_PATH_CHOLESKY;
    if (run->settings->count == 1)
        return DKM_OK;
    if (!dkm_memory_fits(run->ctx, SPARE * dkm_la_syevd_bytes(run->A, DKM_EIGEN_SCALAPACK))) {
        dkm_log(run->ctx, DKM_INFO,
                "a full eigensolve does not fit in memory: taking a Cholesky factor for each "
                "gamma");
        return DKM_OK;
    }
    dkm_fingerprint_lower(run->A, print);
    snprintf(stage, sizeof stage, "solver m=%lld A=%s", (long long)run->k, print);
    DKM_TRY(dkm_checkpointer_load_choice(run->ctx, stage, &choice, &found));
    if (!found) {
        DKM_TRY(choose_by_clock(run, &choice));
        DKM_TRY(dkm_checkpointer_save_choice(run->ctx, stage, choice));
    }
    *solver = (dkm_path_solver)choice;
out:
    return status;
}
