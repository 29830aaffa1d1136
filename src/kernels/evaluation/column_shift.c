/* Sums over all rows are taken in integer multiples of a power of two that follows from the largest
 * term, and added up as integers. They are exact, and so do not depend on how rows lie on ranks;
 * what rounding to multiples takes from a mean is 2^-30 of the largest term at most.
 *
 * Cost: four passes over a rank's rows, and O(d) numbers sent. */
#include "kernels/evaluation/column_shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/row_transform.h"

#define FAR      4.0    /* squares of distances from the origin, by those from the mean */
#define BITS     30     /* of a term: sums of 2^33 of them fit in 64 bits */
#define LEAST    1e-290 /* terms below count as zero */
#define INTEGERS 0x1p53 /* beyond, all numbers are integers */

typedef struct finding {
    const dkm_data *X;
    dkm_idx d;
    double *first;  /* the first row */
    double *extent; /* of each column: its largest distance from that, and whether it has fractions
                       (1) or not (0) */
    int64_t *sum;
    double *shift;
} finding;

static dkm_local open_finding(finding *f, const dkm_data *X)
{
    dkm_local local = DKM_LOCAL_OK;

    *f = (finding){.X = X, .d = X->mine.d};
    DKM_STEP(dkm_alloc(X->ctx, f->d, &f->first));
    DKM_STEP(dkm_calloc(X->ctx, 2 * f->d, &f->extent));
    DKM_STEP(dkm_calloc(X->ctx, f->d, &f->sum));
    DKM_STEP(dkm_alloc(X->ctx, f->d, &f->shift));
out:
    return local;
}

static void close_finding(finding *f)
{
    DKM_FREE(f->first);
    DKM_FREE(f->extent);
    DKM_FREE(f->sum);
    DKM_FREE(f->shift);
}

/* What to multiply terms of at most @p most by, so that they have BITS bits. */
static double grain(double most)
{
    return most > LEAST ? ldexp(1.0, BITS - 1 - ilogb(most)) : 0.0;
}

static void share_first(finding *f)
{
    const dkm_objs *mine = &f->X->mine;
    MPI_Comm comm = dkm_ctx_comm(f->X->ctx);
    int holder = mine->n > 0 && f->X->first == 0 ? dkm_ctx_rank(f->X->ctx) : 0, at = 0;

    MPI_Allreduce(&holder, &at, 1, MPI_INT, MPI_MAX, comm);
    if (mine->n > 0 && f->X->first == 0)
        memcpy(f->first, mine->values, (size_t)f->d * sizeof *f->first);
    MPI_Bcast(f->first, (int)f->d, MPI_DOUBLE, at, comm);
}

/* @return whether all columns have a finite extent */
static int find_extents(finding *f)
{
    const dkm_objs *mine = &f->X->mine;
    double *fractions = f->extent + f->d;
    int finite = 1;

    for (dkm_idx i = 0; i < mine->n; i++)
        for (dkm_idx k = 0; k < f->d; k++) {
            double x = mine->values[i * f->d + k], far = fabs(x - f->first[k]);
            f->extent[k] = far <= f->extent[k] ? f->extent[k] : isfinite(far) ? far : INFINITY;
            fractions[k] = x == rint(x) ? fractions[k] : 1.0;
        }
    MPI_Allreduce(MPI_IN_PLACE, f->extent, (int)(2 * f->d), MPI_DOUBLE, MPI_MAX,
                  dkm_ctx_comm(f->X->ctx));
    for (dkm_idx k = 0; k < f->d; k++)
        finite = finite && isfinite(f->extent[k]);
    return finite;
}

static void column_shift_find_means(finding *f)
{
    const dkm_objs *mine = &f->X->mine;
    double m = (double)f->X->m;

    for (dkm_idx k = 0; k < f->d; k++)
        f->shift[k] = grain(f->extent[k]);
    for (dkm_idx i = 0; i < mine->n; i++)
        for (dkm_idx k = 0; k < f->d; k++)
            f->sum[k] += llrint((mine->values[i * f->d + k] - f->first[k]) * f->shift[k]);
    MPI_Allreduce(MPI_IN_PLACE, f->sum, (int)f->d, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(f->X->ctx));
    for (dkm_idx k = 0; k < f->d; k++) {
        double by = f->shift[k], mean = f->first[k] + (by > 0 ? (double)f->sum[k] / m / by : 0.0);
        f->shift[k] = f->extent[f->d + k] == 0 && fabs(mean) < INTEGERS ? rint(mean) : mean;
    }
}

static double squared_gap(dkm_idx d, const double *x, const double *y)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
}

/* The mean of ||x - c||^2. */
static double column_shift_spread(const finding *f)
{
    const dkm_objs *mine = &f->X->mine;
    MPI_Comm comm = dkm_ctx_comm(f->X->ctx);
    double most = 0, by;
    int64_t sum = 0;

    for (dkm_idx i = 0; i < mine->n; i++)
        most = fmax(most, squared_gap(f->d, mine->values + i * f->d, f->shift));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    by = isfinite(most) ? grain(most) : 0.0;
    for (dkm_idx i = 0; i < mine->n && by > 0; i++)
        sum += llrint(by * squared_gap(f->d, mine->values + i * f->d, f->shift));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    return isfinite(most) ? (by > 0 ? (double)sum / by / (double)f->X->m : 0.0) : INFINITY;
}

static double squared_norm(dkm_idx d, const double *x)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += x[k] * x[k];
    return sum;
}

dkm_status dkm_shift_find(const dkm_data *X, double **shift)
{
    dkm_status status = DKM_OK;
    finding f = {0};

    *shift = NULL;
    if (X->m == 0 || X->mine.d == 0)
        return DKM_OK;
    DKM_AGREE(X->ctx, open_finding(&f, X));
    share_first(&f);
    if (!find_extents(&f))
        goto out;
    column_shift_find_means(&f);
    if (squared_norm(f.d, f.shift) > FAR * column_shift_spread(&f)) {
        *shift = f.shift;
        f.shift = NULL;
    }
out:
    close_finding(&f);
    return status;
}

dkm_status dkm_shift_data(const dkm_data *X, const double *shift, dkm_data **shifted)
{
    dkm_status status = DKM_OK;
    dkm_row_transform by = {.d = X->mine.d, .origin = shift};
    dkm_objs rows = {0};

    *shifted = NULL;
    DKM_AGREE(X->ctx, dkm_row_transform_apply(&by, &X->mine, &rows));
    DKM_TRY(dkm_data_wrap(X->ctx, X->m, &rows, shifted));
out:
    dkm_objs_clear(&rows);
    return status;
}
