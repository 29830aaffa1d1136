#include "core/mpi_calls.h"

#include <string.h>

#include "core/alloc.h"
#include "core/context_impl.h"

/* An error handler is given a communicator and no more; an attribute of it leads to the context.
 * Made with the first context and freed with the last. */
static struct {
    int users, key;
    MPI_Errhandler handler;
} shared;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    void *ctx = NULL;
    int found = 0;

    if (MPI_Comm_get_attr(*comm, shared.key, &ctx, &found) == MPI_SUCCESS && found) {
        dkm_mpi_record(ctx, *code);
        return;
    }
    /* derived from ours by another library, which will not look at the code */
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_call_errhandler(*comm, *code);
}

void dkm_mpi_record(dkm_ctx *ctx, int code)
{
    dkm_ctx *c = ctx;
    int length = 0;

    for (;; c = c->outer) {
        if (c->mpi_error == MPI_SUCCESS) {
            c->mpi_error = code;
            if (MPI_Error_string(code, c->mpi_text, &length) != MPI_SUCCESS)
                c->mpi_text[0] = '\0';
            c->mpi_text[strcspn(c->mpi_text, "\n")] = '\0'; /* MPICH's stack of calls follows */
        }
        if (!c->outer)
            break;
    }
    if (c->callers_handler == MPI_ERRHANDLER_NULL || c->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(c->comm, c->callers_handler);
    MPI_Comm_call_errhandler(c->comm, code);
    MPI_Comm_set_errhandler(c->comm, shared.handler);
}

/* The key and the handler that all contexts share. */
static int open_shared(void)
{
    int code = MPI_SUCCESS;

    if (shared.users == 0) {
        code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &shared.key,
                                      NULL);
        if (code == MPI_SUCCESS)
            code = MPI_Comm_create_errhandler(on_error, &shared.handler);
    }
    shared.users += code == MPI_SUCCESS;
    return code;
}

int dkm_mpi_watch(dkm_ctx *ctx, MPI_Comm comm)
{
    int code = MPI_SUCCESS;

    if (comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    if (!ctx->watching)
        code = open_shared();
    ctx->watching = ctx->watching || code == MPI_SUCCESS;
    /* until it leads to the context, the handler that it may have from ours knows none */
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_attr(comm, shared.key, ctx);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(comm, shared.handler);
    if (code != MPI_SUCCESS)
        dkm_mpi_record(ctx, code);
    return code;
}

void dkm_mpi_unwatch(dkm_ctx *ctx)
{
    if (ctx->callers_handler != MPI_ERRHANDLER_NULL)
        MPI_Errhandler_free(&ctx->callers_handler);
    if (ctx->watching && --shared.users == 0) {
        MPI_Errhandler_free(&shared.handler);
        MPI_Comm_free_keyval(&shared.key);
    }
    ctx->watching = 0;
}

/* The context that @p comm belongs to, when it is one of ours; else NULL. */
static dkm_ctx *context_of(MPI_Comm comm)
{
    void *ctx = NULL;
    int found = 0;

    if (shared.users == 0 || MPI_Comm_get_attr(comm, shared.key, &ctx, &found) != MPI_SUCCESS)
        return NULL;
    return found ? ctx : NULL;
}

int dkm_mpi_duplicate(dkm_ctx *ctx, MPI_Comm comm)
{
    int code = MPI_SUCCESS;

    ctx->outer = context_of(comm);
    if (!ctx->outer)
        code = MPI_Comm_get_errhandler(comm, &ctx->callers_handler);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(comm, &ctx->comm);
    return code == MPI_SUCCESS ? dkm_mpi_watch(ctx, ctx->comm) : code;
}

void dkm_mpi_split(dkm_ctx *ctx, int color, int key, MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    if (MPI_Comm_split(ctx->comm, color, key, comm) == MPI_SUCCESS)
        dkm_mpi_watch(ctx, *comm);
}

void dkm_mpi_split_node(dkm_ctx *ctx, MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    if (MPI_Comm_split_type(ctx->comm, MPI_COMM_TYPE_SHARED, ctx->rank, MPI_INFO_NULL, comm) ==
        MPI_SUCCESS)
        dkm_mpi_watch(ctx, *comm);
}

void dkm_mpi_lend(dkm_ctx *ctx, MPI_Comm comm)
{
    while (ctx->outer)
        ctx = ctx->outer;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(comm, ctx->callers_handler == MPI_ERRORS_RETURN
                                          ? MPI_ERRORS_ARE_FATAL
                                          : ctx->callers_handler);
}

static int part(dkm_idx most, dkm_idx left)
{
    return (int)(left < most ? left : most);
}

static size_t width_of(MPI_Datatype type)
{
    int bytes = 0;

    MPI_Type_size(type, &bytes);
    return (size_t)bytes;
}

void dkm_mpi_allreduce_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    size_t width = width_of(type);

    for (dkm_idx k = 0; k < count; k += most)
        MPI_Allreduce(MPI_IN_PLACE, (char *)a + (size_t)k * width, part(most, count - k), type, op,
                      comm);
}

void dkm_mpi_bcast_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, int root,
                      MPI_Comm comm)
{
    size_t width = width_of(type);

    for (dkm_idx k = 0; k < count; k += most)
        MPI_Bcast((char *)a + (size_t)k * width, part(most, count - k), type, root, comm);
}

void dkm_mpi_send_by(dkm_idx most, const void *a, dkm_idx count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm)
{
    size_t width = width_of(type);

    for (dkm_idx k = 0; k < count; k += most)
        MPI_Send((const char *)a + (size_t)k * width, part(most, count - k), type, to, tag, comm);
}

void dkm_mpi_recv_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, int from, int tag,
                     MPI_Comm comm)
{
    size_t width = width_of(type);

    for (dkm_idx k = 0; k < count; k += most)
        MPI_Recv((char *)a + (size_t)k * width, part(most, count - k), type, from, tag, comm,
                 MPI_STATUS_IGNORE);
}

void dkm_mpi_reduce_by(dkm_idx most, const void *a, void *sum, dkm_idx count, MPI_Datatype type,
                       MPI_Op op, int root, MPI_Comm comm)
{
    size_t width = width_of(type);
    int rank = 0;

    MPI_Comm_rank(comm, &rank);
    for (dkm_idx k = 0; k < count; k += most)
        MPI_Reduce((const char *)a + (size_t)k * width,
                   rank == root ? (char *)sum + (size_t)k * width : NULL, part(most, count - k),
                   type, op, root, comm);
}

/* All parts in one call. */
static dkm_status gather_at_once(dkm_ctx *ctx, const void *own, void *all, const dkm_idx *counts,
                                 const dkm_idx *starts, MPI_Datatype type)
{
    dkm_status status = DKM_OK;
    int *n = NULL, *at;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)ctx->size, &n));
    at = n + ctx->size;
    for (int r = 0; r < ctx->size; r++) {
        n[r] = (int)counts[r];
        at[r] = (int)starts[r];
    }
    if (own)
        MPI_Allgatherv(own, n[ctx->rank], type, all, n, at, type, ctx->comm);
    else
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, at, type, ctx->comm);
out:
    DKM_FREE(n);
    return status;
}

dkm_status dkm_mpi_allgatherv_by(dkm_idx most, dkm_ctx *ctx, const void *own, void *all,
                                 const dkm_idx *counts, const dkm_idx *starts, MPI_Datatype type)
{
    size_t width = width_of(type);
    char *to = all;
    dkm_idx end = 0;

    for (int r = 0; r < ctx->size; r++)
        end = starts[r] + counts[r] > end ? starts[r] + counts[r] : end;
    if (end <= most)
        return gather_at_once(ctx, own, all, counts, starts, type);
    if (own && counts[ctx->rank] > 0)
        memmove(to + (size_t)starts[ctx->rank] * width, own, (size_t)counts[ctx->rank] * width);
    for (int r = 0; r < ctx->size; r++)
        dkm_mpi_bcast_by(most, to + (size_t)starts[r] * width, counts[r], type, r, ctx->comm);
    return DKM_OK;
}

/* All parts in one call. */
static dkm_status scatter_at_once(dkm_ctx *ctx, const void *all, void *own, const dkm_idx *counts,
                                  MPI_Datatype type, MPI_Op op)
{
    dkm_status status = DKM_OK;
    int *n = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, ctx->size, &n));
    for (int r = 0; r < ctx->size; r++)
        n[r] = (int)counts[r];
    MPI_Reduce_scatter(all, own, n, type, op, ctx->comm);
out:
    DKM_FREE(n);
    return status;
}

dkm_status dkm_mpi_reduce_scatter_by(dkm_idx most, dkm_ctx *ctx, const void *all, void *own,
                                     const dkm_idx *counts, const dkm_idx *starts,
                                     MPI_Datatype type, MPI_Op op)
{
    size_t width = width_of(type);
    dkm_idx total = 0;

    for (int r = 0; r < ctx->size; r++)
        total += counts[r];
    if (total <= most)
        return scatter_at_once(ctx, all, own, counts, type, op);
    for (int r = 0; r < ctx->size; r++)
        dkm_mpi_reduce_by(most, (const char *)all + (size_t)starts[r] * width, own, counts[r], type,
                          op, r, ctx->comm);
    return DKM_OK;
}
