/* Bringing objects to the ranks that want them.
 *
 * What one rank asks of another is a stream of bytes (pack.h). Asking goes in turns of a bounded
 * number of objects. In each turn rank r gets its streams one after the other, first from rank
 * r - 1, then from r - 2 and so on, while it serves r + 1, r + 2, ...; a stream moves in chunks of
 * a bounded number of bytes that may cut an object anywhere, so the bounds hold however large
 * objects are. Where objects differ in length, the lengths come in turns of their own first. What a
 * rank holds itself it just copies. */
#include "data/fetch.h"

#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "data/pack.h"

static const dkm_fetch_bounds usual_bounds = {4 << 20, 256 << 10};

/* How many of what goes to, or comes from, each rank, and where in the buffer. */
typedef struct cut {
    int *count, *start;
} cut;

typedef struct trade {
    dkm_ctx *ctx;
    int size, rank;
    dkm_idx object_limit; /* that one rank asks of another in a turn */
    dkm_idx chunk;        /* bytes sent at once */
    const dkm_data *data;
    const dkm_idx *starts; /* first object of each rank; NULL: they are in slabs */
    dkm_objs *got;
    dkm_idx *order;       /* indices in the request, grouped by holder */
    dkm_idx *group;       /* where each holder's group starts in `place` */
    dkm_idx *to_ask;      /* objects asked of each rank */
    dkm_idx *asked;       /* objects each rank asks of this one */
    dkm_idx *ask, *serve; /* indices of a turn; then the lengths */
    dkm_idx *length;      /* of each wanted object, in items */
    cut ask_cut, serve_cut;
    char *in[2], *out;
} trade;

/* One end of a stream of n bytes: the objects it runs through, and where it is. */
typedef struct flow {
    const dkm_idx *indices;
    dkm_idx bytes, done;
    dkm_pack_cursor at;
} flow;

/* How much of @p total falls in batch t of @p limit each. */
static dkm_idx fetch_batch_rows(dkm_idx total, dkm_idx limit, dkm_idx t)
{
    dkm_idx left = total - t * limit;

    return left < 0 ? 0 : dkm_idx_min(left, limit);
}

static dkm_local check_wanted(const dkm_data *data, dkm_idx count, const dkm_idx *indices)
{
    for (dkm_idx k = 0; k < count; k++)
        if (indices[k] < 0 || indices[k] >= data->m)
            return dkm_fail(data->ctx, DKM_ERR_ARG, "object %lld asked for, of 0 to %lld",
                            (long long)indices[k], (long long)data->m - 1);
    return DKM_LOCAL_OK;
}

/* The rank that holds object @p ig. */
static int holder_of(const trade *t, dkm_idx ig)
{
    int low = 0, high = t->size - 1;

    if (!t->starts)
        return dkm_slab_owner(t->data->m, ig, t->size);
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (t->starts[middle] <= ig)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Sort the indices of what is wanted by the rank that holds it. */
static void group_by_holder(trade *t, dkm_idx count, const dkm_idx *indices)
{
    memset(t->group, 0, (size_t)(t->size + 2) * sizeof *t->group);
    for (dkm_idx k = 0; k < count; k++)
        t->group[holder_of(t, indices[k]) + 2]++;
    for (int r = 0; r < t->size; r++)
        t->group[r + 2] += t->group[r + 1];
    for (dkm_idx k = 0; k < count; k++)
        t->order[t->group[holder_of(t, indices[k]) + 1]++] = k;
}

static dkm_local make_cut(dkm_ctx *ctx, int size, cut *c)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, size, &c->count));
    DKM_STEP(dkm_calloc(ctx, size, &c->start));
out:
    return local;
}

static dkm_local open_trade(trade *t, const dkm_data *data, dkm_idx count, const dkm_idx *indices)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(check_wanted(data, count, indices));
    DKM_STEP(dkm_alloc(t->ctx, count, &t->order));
    DKM_STEP(dkm_alloc(t->ctx, t->size + 2, &t->group));
    DKM_STEP(dkm_alloc(t->ctx, t->size, &t->to_ask));
    DKM_STEP(dkm_alloc(t->ctx, t->size, &t->asked));
    DKM_STEP(make_cut(t->ctx, t->size, &t->ask_cut));
    DKM_STEP(make_cut(t->ctx, t->size, &t->serve_cut));
    group_by_holder(t, count, indices);
out:
    return local;
}

static void free_cut(cut *c)
{
    DKM_FREE(c->count);
    DKM_FREE(c->start);
}

static void close_trade(trade *t)
{
    DKM_FREE(t->order);
    DKM_FREE(t->group);
    DKM_FREE(t->to_ask);
    DKM_FREE(t->asked);
    DKM_FREE(t->ask);
    DKM_FREE(t->serve);
    DKM_FREE(t->length);
    DKM_FREE(t->in[0]);
    DKM_FREE(t->in[1]);
    DKM_FREE(t->out);
    free_cut(&t->ask_cut);
    free_cut(&t->serve_cut);
}

/* Objects asked of rank r; none of itself. */
static dkm_idx asked_of(const trade *t, int r)
{
    return r == t->rank ? 0 : t->group[r + 1] - t->group[r];
}

/* Tell every rank how much will be asked of it. @return the turns the longest list takes. */
static dkm_idx plan_turns(trade *t)
{
    dkm_idx mine = 0, turns = 0;

    for (int r = 0; r < t->size; r++) {
        t->to_ask[r] = asked_of(t, r);
        mine = t->to_ask[r] > mine ? t->to_ask[r] : mine;
    }
    MPI_Alltoall(t->to_ask, 1, MPI_INT64_T, t->asked, 1, MPI_INT64_T, dkm_ctx_comm(t->ctx));
    MPI_Allreduce(&mine, &turns, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(t->ctx));
    return (turns + t->object_limit - 1) / t->object_limit;
}

static dkm_local allocate_turn(trade *t, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx ask = 0, serve = 0;

    for (int r = 0; r < t->size; r++) {
        ask += dkm_idx_min(asked_of(t, r), t->object_limit);
        serve += dkm_idx_min(t->asked[r], t->object_limit);
    }
    DKM_STEP(dkm_alloc(t->ctx, ask, &t->ask));
    DKM_STEP(dkm_alloc(t->ctx, serve, &t->serve));
    if (!t->data->mine.values)
        DKM_STEP(dkm_alloc(t->ctx, count, &t->length));
out:
    return local;
}

static void set_cut(cut *c, int r, dkm_idx count)
{
    c->count[r] = (int)count;
    c->start[r] = r == 0 ? 0 : c->start[r - 1] + c->count[r - 1];
}

/* The indices in the request of what is asked of rank r in this turn. */
static const dkm_idx *turn_indices(const trade *t, int r, dkm_idx turn)
{
    return t->order + t->group[r] + turn * t->object_limit;
}

/* Send the indices of a turn to the holders; `serve` then has indices in this rank's own objects.
 * @return how many */
static dkm_idx ask_turn(trade *t, dkm_idx turn, const dkm_idx *indices)
{
    dkm_idx served;

    for (int r = 0; r < t->size; r++) {
        set_cut(&t->ask_cut, r, fetch_batch_rows(asked_of(t, r), t->object_limit, turn));
        set_cut(&t->serve_cut, r, fetch_batch_rows(t->asked[r], t->object_limit, turn));
        for (int k = 0; k < t->ask_cut.count[r]; k++)
            t->ask[t->ask_cut.start[r] + k] = indices[turn_indices(t, r, turn)[k]];
    }
    MPI_Alltoallv(t->ask, t->ask_cut.count, t->ask_cut.start, MPI_INT64_T, t->serve,
                  t->serve_cut.count, t->serve_cut.start, MPI_INT64_T, dkm_ctx_comm(t->ctx));
    served = t->serve_cut.start[t->size - 1] + t->serve_cut.count[t->size - 1];
    for (dkm_idx k = 0; k < served; k++)
        t->serve[k] -= t->data->first;
    return served;
}

/* Bring the lengths of a turn's objects. */
static void fetch_lengths(trade *t, dkm_idx turn, const dkm_idx *indices)
{
    const dkm_idx *start = t->data->mine.start;
    dkm_idx served = ask_turn(t, turn, indices);

    for (dkm_idx k = 0; k < served; k++)
        t->serve[k] = start[t->serve[k] + 1] - start[t->serve[k]];
    MPI_Alltoallv(t->serve, t->serve_cut.count, t->serve_cut.start, MPI_INT64_T, t->ask,
                  t->ask_cut.count, t->ask_cut.start, MPI_INT64_T, dkm_ctx_comm(t->ctx));
    for (int r = 0; r < t->size; r++)
        for (int k = 0; k < t->ask_cut.count[r]; k++)
            t->length[turn_indices(t, r, turn)[k]] = t->ask[t->ask_cut.start[r] + k];
}

static void own_lengths(trade *t, const dkm_idx *indices)
{
    const dkm_idx *start = t->data->mine.start;

    for (dkm_idx k = t->group[t->rank]; k < t->group[t->rank + 1]; k++) {
        dkm_idx i = indices[t->order[k]] - t->data->first;
        t->length[t->order[k]] = start[i + 1] - start[i];
    }
}

/* Bytes of the longest stream that this rank gets from another, and of the longest it sends, at most. */
static void longest_streams(const trade *t, dkm_idx *in, dkm_idx *out)
{
    dkm_idx largest = 0;

    *in = *out = 0;
    for (dkm_idx i = 0; i < t->data->mine.n; i++)
        largest = dkm_idx_max(largest, dkm_pack_bytes(&t->data->mine, i));
    for (int r = 0; r < t->size; r++) {
        dkm_idx bytes = 0;
        for (dkm_idx k = 0; k < asked_of(t, r); k++)
            bytes += dkm_pack_bytes(t->got, t->order[t->group[r] + k]);
        *in = dkm_idx_max(*in, bytes);
        *out = dkm_idx_max(*out, dkm_idx_min(t->asked[r], t->object_limit) * largest);
    }
}

/* Memory for what is wanted, and for its chunks on the way: the second is for streams of several. */
static dkm_local allocate_objects(trade *t, dkm_idx count)
{
    const dkm_objs *mine = &t->data->mine;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx items = 0, longest_in, longest_out;

    for (dkm_idx k = 0; t->length && k < count; k++)
        items += t->length[k];
    DKM_STEP(dkm_objs_init(t->got, t->ctx, mine->type, count, mine->d, items));
    for (dkm_idx k = 0; t->length && k < count; k++)
        t->got->start[k + 1] = t->got->start[k] + t->length[k];
    if (mine->extra)
        DKM_STEP(dkm_objs_add_extra(t->got, mine->extras));
    longest_streams(t, &longest_in, &longest_out);
    DKM_STEP(dkm_alloc(t->ctx, dkm_idx_min(longest_in, t->chunk), &t->in[0]));
    DKM_STEP(dkm_alloc(t->ctx, longest_in > t->chunk ? t->chunk : 0, &t->in[1]));
    DKM_STEP(dkm_alloc(t->ctx, dkm_idx_min(longest_out, t->chunk), &t->out));
out:
    return local;
}

static flow new_flow(const dkm_objs *objs, const dkm_idx *indices, dkm_idx count)
{
    flow f = {.indices = indices};

    for (dkm_idx k = 0; k < count; k++)
        f.bytes += dkm_pack_bytes(objs, indices[k]);
    return f;
}

/* Bytes of the next chunk of a stream. */
static int next_chunk(const trade *t, flow *f)
{
    dkm_idx n = dkm_idx_min(f->bytes - f->done, t->chunk);

    f->done += n;
    return (int)n;
}

/* Serve rank @p to and get what was asked of rank @p from, chunk by chunk. The chunk that came last
 * is unpacked while the next is on its way. */
static void exchange(trade *t, flow *sent, int to, flow *taken, int from)
{
    MPI_Comm comm = dkm_ctx_comm(t->ctx);
    int came = 0;

    for (int k = 0; came > 0 || sent->done < sent->bytes || taken->done < taken->bytes; k++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int in = next_chunk(t, taken), out = next_chunk(t, sent);
        if (in > 0)
            MPI_Irecv(t->in[k % 2], in, MPI_BYTE, from, 0, comm, &requests[0]);
        dkm_pack_to_buffer(&t->data->mine, sent->indices, &sent->at, out, t->out);
        if (out > 0)
            MPI_Isend(t->out, out, MPI_BYTE, to, 0, comm, &requests[1]);
        dkm_unpack_from_buffer(t->got, taken->indices, &taken->at, came, t->in[(k + 1) % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        came = in;
    }
}

static void run_turn(trade *t, dkm_idx turn)
{
    for (int shift = 1; shift < t->size; shift++) {
        int to = (t->rank + shift) % t->size, from = (t->rank - shift + t->size) % t->size;
        flow sent =
            new_flow(&t->data->mine, t->serve + t->serve_cut.start[to], t->serve_cut.count[to]);
        flow taken = new_flow(t->got, turn_indices(t, from, turn), t->ask_cut.count[from]);
        exchange(t, &sent, to, &taken, from);
    }
}

static void copy_own(trade *t, const dkm_idx *indices)
{
    for (dkm_idx k = t->group[t->rank]; k < t->group[t->rank + 1]; k++)
        dkm_pack_copy_object(&t->data->mine, indices[t->order[k]] - t->data->first, t->got,
                             t->order[k]);
}

static trade new_trade(const dkm_data *data, dkm_fetch_bounds bounds, dkm_objs *got)
{
    int size = dkm_ctx_size(data->ctx);
    trade t = {.ctx = data->ctx, .size = size, .rank = dkm_ctx_rank(data->ctx)};

    t.data = data;
    t.got = got;
    t.object_limit = bounds.objects / size > 0 ? bounds.objects / size : 1;
    t.chunk = bounds.bytes;
    return t;
}

static dkm_status run_trade(const dkm_data *data, const dkm_idx *starts, dkm_idx count,
                            const dkm_idx *indices, dkm_fetch_bounds bounds, dkm_objs *got)
{
    dkm_status status = DKM_OK;
    trade t = new_trade(data, bounds, got);
    dkm_idx turns;

    *got = (dkm_objs){0};
    t.starts = starts;
    DKM_AGREE(t.ctx, open_trade(&t, data, count, indices));
    turns = plan_turns(&t);
    DKM_AGREE(t.ctx, allocate_turn(&t, count));
    if (t.length) {
        own_lengths(&t, indices);
        for (dkm_idx turn = 0; turn < turns; turn++)
            fetch_lengths(&t, turn, indices);
    }
    DKM_AGREE(t.ctx, allocate_objects(&t, count));
    copy_own(&t, indices);
    for (dkm_idx turn = 0; turn < turns; turn++) {
        (void)ask_turn(&t, turn, indices);
        run_turn(&t, turn);
    }
out:
    close_trade(&t);
    return status;
}

dkm_status dkm_data_fetch_bounded(const dkm_data *data, dkm_idx count, const dkm_idx *indices,
                                  dkm_fetch_bounds bounds, dkm_objs *got)
{
    return run_trade(data, NULL, count, indices, bounds, got);
}

dkm_status dkm_data_fetch_spread(const dkm_data *data, const dkm_idx *starts, dkm_idx count,
                                 const dkm_idx *indices, dkm_objs *got)
{
    return run_trade(data, starts, count, indices, usual_bounds, got);
}

dkm_status dkm_data_fetch(const dkm_data *data, dkm_idx count, const dkm_idx *indices,
                          dkm_objs *got)
{
    return dkm_data_fetch_bounded(data, count, indices, usual_bounds, got);
}
