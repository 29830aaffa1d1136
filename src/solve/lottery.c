#include "solve/lottery.h"

#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "grid/checked.h"

/* When each object of this rank comes; infinity for one that never does. */
static void find_times(const dkm_lottery *l, dkm_idx first, dkm_idx n, double *times)
{
    for (dkm_idx i = 0; i < n; i++) {
        double u =
            dkm_random_uniform(dkm_ctx_seed(l->ctx), l->stream, l->turn, (uint64_t)(first + i));
        double weight = l->weights ? l->weights[i] : 1.0;
        times[i] = weight > 0 ? -log1p(-u) / weight : INFINITY;
    }
}

/* How many come before @p time or at it, over all ranks. */
static dkm_idx come_by(const dkm_lottery *l, dkm_idx n, const double *times, double time)
{
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < n; i++)
        count += times[i] <= time;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(l->ctx));
    return count;
}

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least time by which @p count have come: numbers >= 0 are ordered as their bits are. */
static double last_call(const dkm_lottery *l, dkm_idx n, const double *times, dkm_idx count)
{
    uint64_t low = 0, high;
    double most = INFINITY;

    memcpy(&high, &most, sizeof high);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (come_by(l, n, times, from_bits(middle)) >= count)
            high = middle;
        else
            low = middle + 1;
    }
    return from_bits(low);
}

/* Places of this rank that come in time, ascending, to every rank. */
static dkm_status share(const dkm_lottery *l, dkm_idx mine, const dkm_idx *own, dkm_idx room,
                        dkm_idx *count, dkm_idx *places)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(l->ctx), sent = (int)(mine < room ? mine : room);
    int *counts = NULL, *starts;
    dkm_idx total = 0;

    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, 2 * (dkm_idx)size, &counts));
    starts = counts + size;
    MPI_Allgather(&sent, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(l->ctx));
    for (int r = 0; r < size; r++) { /* times may be equal: the lowest places go first */
        counts[r] = (int)(counts[r] < room - total ? counts[r] : room - total);
        starts[r] = (int)total;
        total += counts[r];
    }
    MPI_Allgatherv(own, counts[dkm_ctx_rank(l->ctx)], MPI_INT64_T, places, counts, starts,
                   MPI_INT64_T, dkm_ctx_comm(l->ctx));
    *count = total;
out:
    DKM_FREE(counts);
    return status;
}

static dkm_local open_draw(const dkm_lottery *l, dkm_idx n, dkm_idx count, double **times,
                           dkm_idx **own)
{
    dkm_local local = DKM_LOCAL_OK;
    int all;

    if (count < 0 || count > l->m)
        DKM_STEP(dkm_fail(l->ctx, DKM_ERR_ARG, "%lld of %lld objects cannot be drawn",
                          (long long)count, (long long)l->m));
    DKM_STEP(dkm_checked_int(l->ctx, count, "the number of landmarks", &all));
    DKM_STEP(dkm_alloc(l->ctx, n, times));
    DKM_STEP(dkm_alloc(l->ctx, n, own));
out:
    return local;
}

dkm_status dkm_lottery_draw(const dkm_lottery *l, dkm_idx *count, dkm_idx *places)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(l->ctx), size = dkm_ctx_size(l->ctx);
    dkm_idx n = dkm_slab_count(l->m, rank, size), first = dkm_slab_first(l->m, rank, size);
    dkm_idx *own = NULL, mine = 0;
    double *times = NULL, last;

    DKM_AGREE(l->ctx, open_draw(l, n, *count, &times, &own));
    find_times(l, first, n, times);
    last = last_call(l, n, times, *count);
    for (dkm_idx i = 0; i < n; i++)
        if (times[i] <= last && times[i] < INFINITY)
            own[mine++] = first + i;
    DKM_TRY(share(l, mine, own, *count, count, places));
out:
    DKM_FREE(own);
    DKM_FREE(times);
    return status;
}
