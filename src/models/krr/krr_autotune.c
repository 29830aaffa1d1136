/* Ways in the order of their worth: the exact factor, the exact system by iteration with its kernel
 * matrix stored or recomputed, landmarks as centers. The first that fits memory and time is taken.
 * Seconds follow from those of a kernel value and of an operation of gemm, which a calibration
 * gives or a short try: counts of operations are theirs, factors were seen on machines of a few
 * cores. */
#include "models/krr/krr_autotune.h"

#include <math.h>
#include <stdio.h>

#include <dkmap/bench.h>

#include "core/alloc.h"
#include "models/common/method_parts.h"

#define SAMPLE      400 /* objects whose kernel values are timed */
#define TRIES       5   /* of which the best counts: other work only ever slows it down */
#define GEMM_ORDER  768 /* of the product that is timed */
#define SPARE       1.1 /* of the matrix: panels, buffers, vectors */
#define RENEWALS    6.0 /* of K in mixed precision that does not keep it, in units of the first */
#define CHOLESKY    0.8 /* of the rate of gemm in single precision, which is twice that in double */
#define PRODUCTS    0.4 /* of the rate of gemm in double, with a few columns */
#define FEW_OUTPUTS 8.0 /* cost as much as fewer, and labels are about so many columns */
#define SKETCH      500 /* operations of gemm for each value of K_mn */
#define STEPS       25.0 /* with landmarks as centers, or all to TOLERANCE */
#define MATRICES    5.0  /* of order n that landmarks take in double */
#define FEWEST      100  /* landmarks */
#define ROOTS       10.0 /* landmarks for each root of m, where no time is asked */
#define TOLERANCE   1e-2 /* of all centers: predictions are as good as exact ones */

typedef struct machine {
    dkm_ctx *ctx;
    dkm_idx m, outputs;
    double value;  /* seconds of all ranks together for a kernel value */
    double rate;   /* of their gemm in double */
    double object; /* bytes */
} machine;

/* What may be taken. */
typedef enum way { EXACT, STORED, ANEW, SOME } way;

int dkm_krr_autotune_needed(const dkm_krr_settings *s)
{
    return s->solver == DKM_PATH_AUTO && s->count <= 1 && !s->loo &&
           s->penalty == DKM_PENALTY_WEIGHTS;
}

static double triangle_bytes(const machine *w)
{
    double m = (double)w->m;

    return SPARE * 4.0 * m * m / 2.0 / dkm_ctx_size(w->ctx);
}

/* Bytes of the exact fit on a rank: in single precision of the factor's triangle alone. */
static double exact_bytes(const machine *w, const dkm_krr_settings *s)
{
    double m = (double)w->m;

    if (dkm_estimate_mixed(s->ridge.precision, w->m))
        return triangle_bytes(w);
    return SPARE * 8.0 * m * m / dkm_ctx_size(w->ctx);
}

static double exact_seconds(const machine *w)
{
    double m = (double)w->m;

    return RENEWALS * m * m / 2.0 * w->value + m * m * m / 3.0 / (CHOLESKY * 2.0 * w->rate);
}

/* Matrices of order n, the landmarks themselves and K_mn in single precision. */
static double landmark_bytes(const machine *w, double n)
{
    double size = dkm_ctx_size(w->ctx);

    return MATRICES * 8.0 * n * n / size + n * w->object + 4.0 * (double)w->m * n / size;
}

/* Operations of products with so many values, each step two of them for all outputs. */
static double step_seconds(const machine *w, double values)
{
    return 4.0 * values * fmax((double)w->outputs, FEW_OUTPUTS) / (PRODUCTS * w->rate);
}

static double landmark_seconds(const machine *w, double n)
{
    double values = (double)w->m * n;

    return values * w->value + STEPS * step_seconds(w, values) +
           (SKETCH * values + 4.0 * n * n * n) / w->rate;
}

/* The kernel matrix, stored or recomputed in every iteration, and K_mn with its moments. */
static double all_seconds(const machine *w, double n, int stored)
{
    double half = (double)w->m * (double)w->m / 2.0, values = (double)w->m * n;

    return half * w->value * (stored ? 1.0 : STEPS) + values * w->value +
           STEPS * step_seconds(w, half + values) / 2.0 + values * n / (2.0 * w->rate);
}

static dkm_status time_values(const dkm_data *X, const dkm_kernel *kernel, machine *w)
{
    dkm_status status = DKM_OK;
    dkm_idx count = dkm_data_rows(X) < SAMPLE ? dkm_data_rows(X) : SAMPLE, indices[SAMPLE];
    dkm_grid *grid = NULL;
    dkm_data *some = NULL;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL;

    for (dkm_idx k = 0; k < count; k++)
        indices[k] = k;
    DKM_TRY(dkm_grid_create(w->ctx, 0, 0, &grid));
    DKM_TRY(dkm_data_select(X, count, indices, &some));
    DKM_TRY(dkm_kernel_prepare(kernel, some, &prepared));
    w->value = INFINITY;
    for (int t = 0; t < TRIES; t++) {
        double begun = MPI_Wtime(), took;
        DKM_TRY(dkm_gram_cross(grid, kernel, prepared, prepared, 64, 64, DKM_F32, &K));
        took = (MPI_Wtime() - begun) / ((double)count * (double)count);
        dkm_dmat_destroy(&K);
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(w->ctx));
        w->value = fmin(w->value, took);
    }
out:
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&some);
    dkm_grid_destroy(&grid);
    return status;
}

/* Rates that are known, or else measured. */
static dkm_status find_rates(const dkm_data *X, const dkm_kernel *kernel, dkm_krr_rates *known,
                             machine *w)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_type(X) == DKM_DENSE ? dkm_data_cols(X) : 0;

    MPI_Bcast(known, sizeof *known, MPI_BYTE, 0, dkm_ctx_comm(w->ctx));
    w->object = 8.0 * (double)dkm_data_cols(X);
    w->value = d > 0 ? known->element + known->column * (double)d : 0.0;
    w->rate = known->flop > 0 ? 1.0 / (2.0 * CHOLESKY * known->flop) : 0.0;
    if (!(w->value > 0))
        DKM_TRY(time_values(X, kernel, w));
    if (!(w->rate > 0))
        DKM_TRY(dkm_gemm_rate(w->ctx, DKM_F64, GEMM_ORDER, &w->rate));
    MPI_Bcast(&w->rate, 1, MPI_DOUBLE, 0, dkm_ctx_comm(w->ctx));
out:
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

/* Landmarks that precondition, where all inputs are centers. */
static double helpers(const machine *w, const dkm_krr_settings *s)
{
    double n =
        s->nystroem.landmarks > 0 ? (double)s->nystroem.landmarks : ROOTS * sqrt((double)w->m);

    return fmin(n, (double)w->m);
}

static way find_way(const machine *w, const dkm_krr_settings *s, int fits)
{
    double n = helpers(w, s);
    int timed = s->seconds > 0;

    if (fits && (!timed || exact_seconds(w) <= s->seconds))
        return EXACT;
    if (!dkm_memory_fits(w->ctx, landmark_bytes(w, n)))
        return SOME;
    if ((!timed || all_seconds(w, n, 1) <= s->seconds) &&
        dkm_memory_fits(w->ctx, triangle_bytes(w) + landmark_bytes(w, n)))
        return STORED;
    return timed && all_seconds(w, n, 0) <= s->seconds ? ANEW : SOME;
}

static void krr_autotune_settle(const machine *w, way chosen, dkm_krr_settings *s)
{
    dkm_nystroem_settings *n = &s->nystroem;

    if (chosen == EXACT)
        return;
    s->solver = DKM_PATH_PCG;
    if (chosen == SOME) {
        if (n->landmarks == 0)
            n->landmarks = most_landmarks(w, s->seconds);
        return;
    }
    n->all_centers = 1;
    n->landmarks = (dkm_idx)helpers(w, s);
    n->tolerance = n->tolerance > 0 ? n->tolerance : TOLERANCE;
    n->keep = chosen == STORED ? n->keep : DKM_RECOMPUTE;
}

/* What was taken, how long that may last, and what stands against the exact fit. */
static void krr_autotune_explain(const machine *w, way chosen, int fits, const dkm_krr_settings *s,
                                 char reason[DKM_KRR_REASON])
{
    static const char *const names[] = {
        [EXACT] = "the exact fit",
        [STORED] = "pcg with all inputs as centers, the kernel matrix stored,",
        [ANEW] = "pcg with all inputs as centers, the kernel matrix computed in every step,",
        [SOME] = "pcg"};
    double GiB = exact_bytes(w, s) * dkm_ctx_size(w->ctx) / 1073741824.0, n;
    char why[DKM_KRR_REASON / 2];

    n = (double)s->nystroem.landmarks;
    if (fits)
        snprintf(why, sizeof why, "the exact fit would take about %.2g s, of %g s asked",
                 exact_seconds(w), s->seconds);
    else
        snprintf(why, sizeof why, "the exact fit needs %.3g GiB, more than is free", GiB);
    if (chosen == EXACT)
        snprintf(reason, DKM_KRR_REASON,
                 "the exact fit: %.3g GiB fit the memory, and about %.2g s the time asked", GiB,
                 exact_seconds(w));
    else
        snprintf(reason, DKM_KRR_REASON, "%s with %lld landmarks, about %.2g s: %s", names[chosen],
                 (long long)s->nystroem.landmarks,
                 chosen == SOME ? landmark_seconds(w, n) : all_seconds(w, n, chosen == STORED),
                 why);
}

dkm_status dkm_krr_autotune(const dkm_data *X, dkm_idx outputs, const dkm_kernel *kernel,
                            dkm_krr_settings *s, char reason[DKM_KRR_REASON])
{
    dkm_status status = DKM_OK;
    machine w = {.ctx = dkm_data_ctx(X), .m = dkm_data_rows(X), .outputs = outputs};
    int fits = dkm_memory_fits(w.ctx, exact_bytes(&w, s));
    way chosen;

    reason[0] = '\0';
    if (fits && !(s->seconds > 0))
        return DKM_OK;
    DKM_TRY(find_rates(X, kernel, &s->rates, &w));
    chosen = find_way(&w, s, fits);
    krr_autotune_settle(&w, chosen, s);
    krr_autotune_explain(&w, chosen, fits, s, reason);
    dkm_log(w.ctx, DKM_INFO, "solver auto takes %s", reason);
out:
    return status;
}
