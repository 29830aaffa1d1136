#include "model/krr_choice.h"

#include <math.h>
#include <stdio.h>

#include <dkmap/bench.h>

#include "core/alloc.h"

#define SAMPLE     400  /* objects whose kernel values are timed */
#define GEMM_ORDER 768  /* of the product that is timed */
#define SPARE      1.1  /* of the matrix: panels, buffers, vectors */
#define PASSES     35.0 /* over K_mn: a sketch, steps, and the fit at the end */
#define RENEWALS   6.0  /* of K in mixed precision that does not keep it, in units of the first */
#define EFFICIENCY 0.6  /* of gemm that a Cholesky reaches */
#define MATRICES   5.0  /* of order n that landmarks take in double */
#define FEWEST     100  /* landmarks */
#define ROOTS      10.0 /* landmarks for each root of m, where no time is asked */

typedef struct machine {
    dkm_ctx *ctx;
    dkm_idx m;
    double value;  /* seconds of all ranks together for a kernel value in double */
    double rate;   /* of their gemm in double */
    double object; /* bytes */
} machine;

int dkm_krr_choice_open(const dkm_krr_settings *s)
{
    return s->solver == DKM_PATH_AUTO && s->count <= 1 && !s->loo &&
           s->penalty == DKM_PENALTY_WEIGHTS;
}

/* Bytes of the exact fit on a rank. */
static double exact_bytes(const machine *w, const dkm_krr_settings *s)
{
    double m = (double)w->m, each = s->ridge.precision == DKM_RIDGE_DOUBLE ? 8.0 : 4.0;

    return SPARE * each * m * m / dkm_ctx_size(w->ctx);
}

static double exact_seconds(const machine *w)
{
    double m = (double)w->m;

    return RENEWALS * m * m / 2.0 * w->value + m * m * m / 3.0 / (EFFICIENCY * 2.0 * w->rate);
}

static double landmark_bytes(const machine *w, double n)
{
    return MATRICES * 8.0 * n * n / dkm_ctx_size(w->ctx) + n * w->object;
}

static double landmark_seconds(const machine *w, double n)
{
    return PASSES * (double)w->m * n * w->value + 3.5 * n * n * n / (EFFICIENCY * w->rate);
}

static dkm_status time_values(const dkm_data *X, const dkm_kernel *kernel, machine *w)
{
    dkm_status status = DKM_OK;
    dkm_idx count = dkm_data_rows(X) < SAMPLE ? dkm_data_rows(X) : SAMPLE, places[SAMPLE];
    dkm_grid *grid = NULL;
    dkm_data *some = NULL;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL;
    double begun;

    for (dkm_idx k = 0; k < count; k++)
        places[k] = k;
    DKM_TRY(dkm_grid_create(w->ctx, 0, 0, &grid));
    DKM_TRY(dkm_data_select(X, count, places, &some));
    DKM_TRY(dkm_kernel_prepare(kernel, some, &prepared));
    begun = MPI_Wtime();
    DKM_TRY(dkm_gram_cross(grid, kernel, prepared, prepared, 64, 64, DKM_F64, &K));
    w->value = (MPI_Wtime() - begun) / ((double)count * (double)count);
    MPI_Allreduce(MPI_IN_PLACE, &w->value, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(w->ctx));
    w->object = 8.0 * (double)dkm_data_cols(X);
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&some);
    dkm_grid_destroy(&grid);
    return status;
}

/* The most landmarks, to about 2 %, that fit. */
static dkm_idx most_landmarks(const machine *w, double seconds)
{
    double most = (double)w->m, n;

    if (!(seconds > 0))
        most = fmin(most, ROOTS * sqrt((double)w->m));
    for (n = most; n > FEWEST; n *= 0.98)
        if ((!(seconds > 0) || landmark_seconds(w, n) <= seconds) &&
            dkm_memory_fits(w->ctx, 2.0 * landmark_bytes(w, n)))
            break;
    return (dkm_idx)fmin(most, fmax(n, FEWEST));
}

static void explain(const machine *w, int fits, const dkm_krr_settings *s,
                    char reason[DKM_KRR_REASON])
{
    double GiB = exact_bytes(w, s) * dkm_ctx_size(w->ctx) / 1073741824.0;

    if (s->solver != DKM_PATH_PCG)
        snprintf(reason, DKM_KRR_REASON,
                 "the exact fit: %.3g GiB fit the memory, and about %.2g s the time asked", GiB,
                 exact_seconds(w));
    else if (fits)
        snprintf(reason, DKM_KRR_REASON,
                 "pcg with %lld landmarks: the exact fit would take about %.2g s, of %g s asked",
                 (long long)s->nystroem.landmarks, exact_seconds(w), s->seconds);
    else
        snprintf(reason, DKM_KRR_REASON,
                 "pcg with %lld landmarks: the exact fit needs %.3g GiB, more than is free",
                 (long long)s->nystroem.landmarks, GiB);
}

dkm_status dkm_krr_choose(const dkm_data *X, dkm_idx m, const dkm_kernel *kernel,
                          dkm_krr_settings *s, char reason[DKM_KRR_REASON])
{
    dkm_status status = DKM_OK;
    machine w = {.ctx = dkm_data_ctx(X), .m = m};
    int fits = dkm_memory_fits(w.ctx, exact_bytes(&w, s));

    reason[0] = '\0';
    if (fits && !(s->seconds > 0))
        return DKM_OK;
    DKM_TRY(time_values(X, kernel, &w));
    DKM_TRY(dkm_gemm_rate(w.ctx, DKM_F64, GEMM_ORDER, &w.rate));
    MPI_Bcast(&w.rate, 1, MPI_DOUBLE, 0, dkm_ctx_comm(w.ctx));
    if (!fits || exact_seconds(&w) > s->seconds) {
        s->solver = DKM_PATH_PCG;
        if (s->nystroem.landmarks == 0)
            s->nystroem.landmarks = most_landmarks(&w, s->seconds);
    }
    explain(&w, fits, s, reason);
    dkm_say(w.ctx, DKM_INFO, "solver auto takes %s", reason);
out:
    return status;
}
