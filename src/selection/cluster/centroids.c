/* Means of groups of rows, summed as 64-bit integers (centroids.h). Cost: one addition per
 * element that changes its group, an allreduce of k d integers. Replicated: the sums. */
#include "selection/cluster/centroids.h"

#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/objects.h"

#define REDUCE_MOST  (1 << 26) /* numbers at once */
#define LARGEST_STEP 1000      /* powers of two a column is scaled by at most */

/* log2 of the least power of two that is not below m. */
static int bits_of(dkm_idx m)
{
    int bits = 0;

    while (((dkm_idx)1 << bits) < m)
        bits++;
    return bits;
}

/* The largest magnitude of each column becomes the power of two to multiply it with. */
static void find_scale(dkm_centroids *c, const dkm_data *X)
{
    int headroom = 62 - bits_of(X->m);

    for (dkm_idx i = 0; i < X->mine.n; i++)
        for (dkm_idx j = 0; j < c->d; j++)
            c->scale[j] = fmax(c->scale[j], fabs(X->mine.values[i * c->d + j]));
    MPI_Allreduce(MPI_IN_PLACE, c->scale, (int)c->d, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(c->ctx));
    for (dkm_idx j = 0; j < c->d; j++) {
        double largest = c->scale[j], error;
        int exponent = 0;
        (void)frexp(largest, &exponent);
        c->scale[j] =
            ldexp(1.0, headroom - exponent < LARGEST_STEP ? headroom - exponent : LARGEST_STEP);
        error = 2.0 / c->scale[j] + 4.0 * DBL_EPSILON * largest;
        c->noise += error * error;
    }
}

static dkm_local centroids_allocate(dkm_centroids *c)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx numbers;
    int d;

    DKM_STEP(dkm_checked_int(c->ctx, c->d, "the number of columns", &d));
    DKM_STEP(dkm_checked_mul(c->ctx, c->k, c->d, "the size of all centres", &numbers));
    DKM_STEP(dkm_calloc(c->ctx, numbers, &c->at));
    DKM_STEP(dkm_calloc(c->ctx, numbers, &c->sums));
    DKM_STEP(dkm_alloc(c->ctx, numbers, &c->totals));
    DKM_STEP(dkm_calloc(c->ctx, c->k, &c->mine));
    DKM_STEP(dkm_calloc(c->ctx, c->k, &c->counts));
    DKM_STEP(dkm_calloc(c->ctx, c->d, &c->scale));
out:
    return local;
}

dkm_status dkm_centroids_open(dkm_centroids *c, const dkm_data *X, dkm_idx k)
{
    dkm_status status = DKM_OK;

    *c = (dkm_centroids){.ctx = X->ctx, .k = k, .d = X->mine.d};
    DKM_AGREE(c->ctx, centroids_allocate(c));
    find_scale(c, X);
out:
    return status;
}

void dkm_centroids_close(dkm_centroids *c)
{
    DKM_FREE(c->at);
    DKM_FREE(c->sums);
    DKM_FREE(c->totals);
    DKM_FREE(c->mine);
    DKM_FREE(c->counts);
    DKM_FREE(c->scale);
}

static void centroids_add(dkm_centroids *c, const double *row, dkm_idx group, int64_t sign)
{
    int64_t *sum = c->sums + group * c->d;

    c->mine[group] += sign;
    for (dkm_idx j = 0; j < c->d; j++)
        sum[j] += sign * (int64_t)(row[j] * c->scale[j]);
}

void dkm_centroids_move(dkm_centroids *c, const double *row, dkm_idx from, dkm_idx to)
{
    if (from >= 0)
        centroids_add(c, row, from, -1);
    if (to >= 0)
        centroids_add(c, row, to, 1);
}

static void centroids_sum_over_ranks(const dkm_centroids *c, const int64_t *mine, int64_t *all,
                                     dkm_idx n)
{
    for (dkm_idx at = 0; at < n; at += REDUCE_MOST)
        MPI_Allreduce(mine + at, all + at, (int)(n - at < REDUCE_MOST ? n - at : REDUCE_MOST),
                      MPI_INT64_T, MPI_SUM, dkm_ctx_comm(c->ctx));
}

void dkm_centroids_count(dkm_centroids *c)
{
    centroids_sum_over_ranks(c, c->mine, c->counts, c->k);
}

void dkm_centroids_update(dkm_centroids *c)
{
    centroids_sum_over_ranks(c, c->sums, c->totals, c->k * c->d);
    for (dkm_idx g = 0; g < c->k; g++)
        for (dkm_idx j = 0; j < c->d && c->counts[g] > 0; j++)
            c->at[g * c->d + j] =
                (double)c->totals[g * c->d + j] / c->scale[j] / (double)c->counts[g];
}
