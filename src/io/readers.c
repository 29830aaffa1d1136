#include "io/readers.h"

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "core/svm_base.h"

enum { RANGE, HEAD, READY, ARRAY }; /* tags */

static void readers_forward(void *user, dkm_level level, const char *text)
{
    dkm_log(user, level, "%s", text);
}

/* Of the first ranks of all groups at most @p most read, each for the groups of some consecutive ones:
 * the one that reads for this rank, where it is a first. */
static int merge_groups(dkm_ctx *ctx, int is_first, int most)
{
    MPI_Comm comm = dkm_ctx_comm(ctx);
    int before = 0, total = is_first, reader = dkm_ctx_rank(ctx), reads;

    MPI_Exscan(&is_first, &before, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, comm);
    if (total <= most)
        return reader;
    if (dkm_ctx_rank(ctx) == 0)
        before = 0; /* MPI_Exscan leaves it as it was */
    reads = is_first && (before == 0 || dkm_slab_owner(total, before, most) !=
                                            dkm_slab_owner(total, before - 1, most));
    reader = reads ? reader : 0;
    MPI_Scan(MPI_IN_PLACE, &reader, 1, MPI_INT, MPI_MAX, comm);
    return reader;
}

/* The rank that reads for this one: ranks of a node in per_node groups, the first of each reading, or
 * one of those that come before it. */
static int find_reader(dkm_ctx *ctx, int per_node, int most)
{
    int rank = 0, size = 1, groups, is_first, reader;
    MPI_Comm node = MPI_COMM_NULL;

    if (per_node == 0)
        return 0;
    dkm_mpi_split_node(ctx, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    groups = per_node < size ? per_node : size;
    is_first =
        rank == 0 || dkm_slab_owner(size, rank, groups) != dkm_slab_owner(size, rank - 1, groups);
    reader = merge_groups(ctx, is_first, most);
    if (!is_first)
        reader = 0; /* that of the last first before: ranks of a node are in the order of all */
    MPI_Scan(MPI_IN_PLACE, &reader, 1, MPI_INT, MPI_MAX, node);
    MPI_Comm_free(&node);
    return reader;
}

/* A context of the readers with the choices of the one of all ranks. */
static dkm_status open_context(dkm_readers *r, int reads)
{
    dkm_status status = DKM_OK;
    MPI_Comm comm = MPI_COMM_NULL;
    dkm_local local = DKM_LOCAL_OK;

    dkm_mpi_split(r->ctx, reads, dkm_ctx_rank(r->ctx), &comm);
    DKM_AGREE(r->ctx, DKM_LOCAL_OK);
    if (reads && dkm_ctx_create(comm, &r->readers) != DKM_OK)
        local = dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the ranks that read a file");
    if (r->readers) {
        dkm_ctx_set_listener(r->readers,
                             (dkm_listener){.user = r->ctx, .message = readers_forward});
        for (int outputs = 0; outputs < 2; outputs++)
            dkm_svm_base_decide(r->readers, outputs, dkm_svm_base_of(r->ctx, outputs));
        for (dkm_lent which = 0; which < DKM_LENT_COUNT; which++)
            dkm_ctx_lend(r->readers, which, dkm_ctx_lent(r->ctx, which));
    }
    DKM_AGREE(r->ctx, local);
out:
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    return status;
}

dkm_status dkm_readers_open(dkm_readers *readers, dkm_ctx *ctx, int per_node, int most)
{
    dkm_status status = DKM_OK;
    int reader, all;

    *readers = (dkm_readers){.ctx = ctx, .group = MPI_COMM_NULL, .forward = per_node == 0};
    reader = find_reader(ctx, per_node, most);
    all = reader == dkm_ctx_rank(ctx);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, DKM_LOCAL_OK);
    if (all) {
        readers->readers = ctx;
        goto out;
    }
    dkm_mpi_split(ctx, reader, dkm_ctx_rank(ctx), &readers->group);
    DKM_TRY(open_context(readers, reader == dkm_ctx_rank(ctx)));
out:
    return status;
}

void dkm_readers_close(dkm_readers *readers)
{
    if (readers->group != MPI_COMM_NULL && readers->ctx) {
        MPI_Comm_free(&readers->group);
        dkm_ctx_destroy(&readers->readers);
    }
    *readers = (dkm_readers){.group = MPI_COMM_NULL};
}

dkm_status dkm_readers_agree(const dkm_readers *readers, dkm_status status)
{
    if (readers->group == MPI_COMM_NULL)
        return status;
    return dkm_agree(readers->ctx, !readers->readers || status == DKM_OK
                                       ? DKM_LOCAL_OK
                                       : dkm_fail_at(readers->ctx, NULL, 0, status, "%s",
                                                     dkm_ctx_message(readers->readers)));
}

/* What a reader says of the objects it has for a rank. */
typedef struct head {
    int64_t read_ok, n, d, items;
} head;

/* The arrays that objects of a type have, the same on both sides. */
static void transfer(dkm_objs *objs, const head *h, int other, MPI_Comm comm, int send)
{
    struct {
        void *at;
        dkm_idx count;
        MPI_Datatype type;
    } arrays[] = {{objs->values, h->n * h->d, MPI_DOUBLE},
                  {objs->start, h->n + 1, MPI_INT64_T},
                  {objs->col, h->items, MPI_INT64_T},
                  {objs->val, h->items, MPI_DOUBLE},
                  {objs->bytes, h->items, MPI_CHAR}};

    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        if (!arrays[k].at || arrays[k].count == 0)
            continue;
        if (send)
            dkm_mpi_send(arrays[k].at, arrays[k].count, arrays[k].type, other, ARRAY, comm);
        else
            dkm_mpi_recv(arrays[k].at, arrays[k].count, arrays[k].type, other, ARRAY, comm);
    }
}

/* Read for another rank, unless a read failed before. */
static dkm_local serve(const dkm_readers *r, int other, dkm_read_range read, void *user,
                       dkm_local local)
{
    dkm_idx range[2] = {0, 0};
    int ready = 0;
    dkm_objs objs = {0};
    head h = {0};

    MPI_Recv(range, 2, MPI_INT64_T, other, RANGE, r->group, MPI_STATUS_IGNORE);
    if (local.code == DKM_OK)
        local = read(user, range[0], range[1], &objs);
    if (local.code == DKM_OK)
        h = (head){1, objs.n, objs.d, objs.start ? objs.start[objs.n] : 0};
    MPI_Send(&h, 4, MPI_INT64_T, other, HEAD, r->group);
    if (h.read_ok)
        MPI_Recv(&ready, 1, MPI_INT, other, READY, r->group, MPI_STATUS_IGNORE);
    if (ready)
        transfer(&objs, &h, other, r->group, 1);
    dkm_objs_clear(&objs);
    return local;
}

static dkm_local receive(const dkm_readers *r, dkm_type type, dkm_idx first, dkm_idx count,
                         dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx range[2] = {first, count};
    head h = {0};
    int ready;

    MPI_Send(range, 2, MPI_INT64_T, 0, RANGE, r->group);
    MPI_Recv(&h, 4, MPI_INT64_T, 0, HEAD, r->group, MPI_STATUS_IGNORE);
    if (!h.read_ok)
        return local;
    local = dkm_objs_init(objs, r->ctx, type, h.n, h.d, h.items);
    ready = local.code == DKM_OK;
    MPI_Send(&ready, 1, MPI_INT, 0, READY, r->group);
    if (ready)
        transfer(objs, &h, 0, r->group, 0);
    return local;
}

dkm_local dkm_readers_read(const dkm_readers *readers, dkm_read_range read, void *user,
                           dkm_type type, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = 1;

    if (!readers->readers)
        return receive(readers, type, first, count, objs);
    /* its own come first in the file */
    if (readers->forward)
        local = read(user, first, count, objs);
    if (readers->group != MPI_COMM_NULL)
        MPI_Comm_size(readers->group, &size);
    for (int other = 1; other < size; other++)
        local = serve(readers, other, read, user, local);
    if (!readers->forward && local.code == DKM_OK)
        local = read(user, first, count, objs);
    if (local.code != DKM_OK)
        dkm_objs_clear(objs);
    return local;
}
