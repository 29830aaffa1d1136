/* Weighted sampling without replacement by exponential keys: the n smallest of -log(1 - u_i) /
 * w_i, u_i uniform.
 *
 * Efraimidis and Spirakis 2006, Inf. Process. Lett. 97(5):181-185, doi:10.1016/j.ipl.2005.11.003
 * (their keys u^(1/w), up to a monotone map). Keys are hashes of the seed and the index, so the
 * sample does not depend on the number of ranks; the n-th smallest key is found by bisection on the
 * bits of a double, each step one allreduce of a count.
 *
 * Cost per rank: 63 passes over m / ranks keys, 63 allreduces of one number, an allgather of the n
 * indices, which are replicated. */
#include "solvers/landmarks/weighted_sampling.h"

#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/checked.h"

/* When each object of this rank comes; infinity for one that never does. */
static void sampling_keys(const dkm_weighted_sampling *l, dkm_idx first, dkm_idx n, double *keys)
{
    for (dkm_idx i = 0; i < n; i++) {
        double u =
            dkm_random_uniform(dkm_ctx_seed(l->ctx), l->stream, l->draw, (uint64_t)(first + i));
        double weight = l->weights ? l->weights[i] : 1.0;
        keys[i] = weight > 0 ? -log1p(-u) / weight : INFINITY;
    }
}

/* How many come before @p time or at it, over all ranks. */
static dkm_idx sampling_count_below(const dkm_weighted_sampling *l, dkm_idx n, const double *keys,
                                    double time)
{
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < n; i++)
        count += keys[i] <= time;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(l->ctx));
    return count;
}

static double double_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least time by which @p count have come: numbers >= 0 are ordered as their bits are. */
static double sampling_threshold(const dkm_weighted_sampling *l, dkm_idx n, const double *keys,
                                 dkm_idx count)
{
    uint64_t low = 0, high;
    double most = INFINITY;

    memcpy(&high, &most, sizeof high);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sampling_count_below(l, n, keys, double_from_bits(middle)) >= count)
            high = middle;
        else
            low = middle + 1;
    }
    return double_from_bits(low);
}

/* Indices of this rank that come in time, ascending, to every rank. */
static dkm_status sampling_allgather(const dkm_weighted_sampling *l, dkm_idx mine,
                                     const dkm_idx *own, dkm_idx capacity, dkm_idx *count,
                                     dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(l->ctx), sent = (int)(mine < capacity ? mine : capacity);
    int *counts = NULL, *starts;
    dkm_idx total = 0;

    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, 2 * (dkm_idx)size, &counts));
    starts = counts + size;
    MPI_Allgather(&sent, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(l->ctx));
    for (int r = 0; r < size; r++) { /* times may be equal: the lowest indices go first */
        counts[r] = (int)(counts[r] < capacity - total ? counts[r] : capacity - total);
        starts[r] = (int)total;
        total += counts[r];
    }
    MPI_Allgatherv(own, counts[dkm_ctx_rank(l->ctx)], MPI_INT64_T, indices, counts, starts,
                   MPI_INT64_T, dkm_ctx_comm(l->ctx));
    *count = total;
out:
    DKM_FREE(counts);
    return status;
}

static dkm_local sampling_open(const dkm_weighted_sampling *l, dkm_idx n, dkm_idx count,
                               double **keys, dkm_idx **own)
{
    dkm_local local = DKM_LOCAL_OK;
    int all;

    if (count < 0 || count > l->m)
        DKM_STEP(dkm_fail(l->ctx, DKM_ERR_ARG, "%lld of %lld objects cannot be drawn",
                          (long long)count, (long long)l->m));
    DKM_STEP(dkm_checked_int(l->ctx, count, "the number of landmarks", &all));
    DKM_STEP(dkm_alloc(l->ctx, n, keys));
    DKM_STEP(dkm_alloc(l->ctx, n, own));
out:
    return local;
}

dkm_status dkm_weighted_sampling_draw(const dkm_weighted_sampling *l, dkm_idx *count,
                                      dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(l->ctx), size = dkm_ctx_size(l->ctx);
    dkm_idx n = dkm_slab_count(l->m, rank, size), first = dkm_slab_first(l->m, rank, size);
    dkm_idx *own = NULL, mine = 0;
    double *keys = NULL, last;

    DKM_AGREE(l->ctx, sampling_open(l, n, *count, &keys, &own));
    sampling_keys(l, first, n, keys);
    last = sampling_threshold(l, n, keys, *count);
    for (dkm_idx i = 0; i < n; i++)
        if (keys[i] <= last && keys[i] < INFINITY)
            own[mine++] = first + i;
    DKM_TRY(sampling_allgather(l, mine, own, *count, count, indices));
out:
    DKM_FREE(own);
    DKM_FREE(keys);
    return status;
}
