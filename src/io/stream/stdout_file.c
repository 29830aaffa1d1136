#include "io/stream/stdout_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "io/stream/spool.h"

enum { PIECE = 1 << 20, TAG = 71, FIELDS = 3 };

/* A part: its first byte, its length, and the rank that wrote it. */
typedef struct part {
    dkm_idx offset, count, owner;
} part;

static dkm_local open_own(dkm_atomic_file *out)
{
    out->fd = dkm_nameless_file(NULL, 0);
    out->is_open = out->fd >= 0;
    if (out->is_open)
        return DKM_LOCAL_OK;
    return dkm_fail(out->ctx, DKM_ERR_IO,
                    "%s: cannot make a temporary file (TMPDIR names a place for it): %s", out->path,
                    strerror(errno));
}

dkm_status dkm_stdout_open(dkm_atomic_file *out)
{
    return dkm_agree(out->ctx, open_own(out));
}

static dkm_local grow(dkm_atomic_file *out)
{
    dkm_idx capacity = out->capacity ? 2 * out->capacity : 64, *parts = NULL;
    dkm_local local = dkm_alloc(out->ctx, capacity * FIELDS, &parts);

    if (local.code != DKM_OK)
        return local;
    if (out->parts)
        memcpy(parts, out->parts, (size_t)(out->part_count * FIELDS) * sizeof *parts);
    DKM_FREE(out->parts);
    out->parts = parts;
    out->capacity = capacity;
    return local;
}

dkm_local dkm_stdout_note(dkm_atomic_file *out, dkm_idx offset, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    part *last = out->part_count ? (part *)out->parts + out->part_count - 1 : NULL;

    if (count == 0)
        return local;
    if (last && last->offset + last->count == offset) {
        last->count += count;
        return local;
    }
    if (out->part_count == out->capacity)
        DKM_STEP(grow(out));
    ((part *)out->parts)[out->part_count++] = (part){offset, count, dkm_ctx_rank(out->ctx)};
out:
    return local;
}

static int by_offset(const void *a, const void *b)
{
    const part *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A piece of a part of this rank. */
static dkm_local read_piece(dkm_atomic_file *out, dkm_idx offset, char *piece, int count)
{
    int done = 0;

    while (done < count) {
        ssize_t got = pread(out->fd, piece + done, (size_t)(count - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return dkm_fail(out->ctx, DKM_ERR_IO, "%s: cannot read a temporary file", out->path);
        done += (int)got;
    }
    return DKM_LOCAL_OK;
}

/* What follows a first failure is received and not printed, so that nobody waits. */
static dkm_local print_part(dkm_atomic_file *out, const part *p, char *piece, dkm_local local)
{
    for (dkm_idx at = 0; at < p->count; at += PIECE) {
        int count = (int)(p->count - at < PIECE ? p->count - at : PIECE);
        if (p->owner != 0)
            MPI_Recv(piece, count, MPI_CHAR, (int)p->owner, TAG, dkm_ctx_comm(out->ctx),
                     MPI_STATUS_IGNORE);
        else if (local.code == DKM_OK)
            local = read_piece(out, p->offset + at, piece, count);
        if (local.code == DKM_OK && !dkm_write_all(STDOUT_FILENO, piece, count))
            local = dkm_fail(out->ctx, DKM_ERR_IO, "cannot write to standard output: %s",
                             strerror(errno));
    }
    return local;
}

static dkm_local print_parts(dkm_atomic_file *out, part *all, dkm_idx count, char *piece)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx at = 0;

    qsort(all, (size_t)count, sizeof *all, by_offset);
    for (dkm_idx k = 0; k < count; k++) {
        if (all[k].offset != at && local.code == DKM_OK)
            local = dkm_fail(out->ctx, DKM_ERR_INTERNAL, "%s: a gap before byte %lld", out->path,
                             (long long)all[k].offset);
        local = print_part(out, &all[k], piece, local);
        at = all[k].offset + all[k].count;
    }
    return local;
}

/* In the order in which rank 0 prints them. A piece that cannot be read is sent as it is. */
static dkm_local send_parts(dkm_atomic_file *out, char *piece)
{
    dkm_local local = DKM_LOCAL_OK;
    part *mine = (part *)out->parts;

    if (out->part_count > 0)
        qsort(mine, (size_t)out->part_count, sizeof *mine, by_offset);
    for (dkm_idx k = 0; k < out->part_count; k++)
        for (dkm_idx at = 0; at < mine[k].count; at += PIECE) {
            int count = (int)(mine[k].count - at < PIECE ? mine[k].count - at : PIECE);
            if (local.code == DKM_OK)
                local = read_piece(out, mine[k].offset + at, piece, count);
            MPI_Send(piece, count, MPI_CHAR, 0, TAG, dkm_ctx_comm(out->ctx));
        }
    return local;
}

dkm_status dkm_stdout_print(dkm_atomic_file *out)
{
    dkm_status status = DKM_OK;
    dkm_idx *all = NULL, total = 0, mine = out->part_count * FIELDS, used = 0;
    int size = dkm_ctx_size(out->ctx), rank = dkm_ctx_rank(out->ctx);
    MPI_Comm comm = dkm_ctx_comm(out->ctx);
    char *piece = NULL;

    MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, comm);
    DKM_AGREE(out->ctx, dkm_alloc(out->ctx, PIECE, &piece));
    DKM_AGREE(out->ctx, dkm_alloc(out->ctx, rank == 0 ? total : 0, &all));
    for (int from = 1; rank == 0 && from < size; from++) {
        dkm_idx count = 0;
        MPI_Recv(&count, 1, MPI_INT64_T, from, TAG, comm, MPI_STATUS_IGNORE);
        dkm_mpi_recv(all + used, count, MPI_INT64_T, from, TAG, comm);
        used += count;
    }
    if (rank == 0 && mine > 0)
        memcpy(all + used, out->parts, (size_t)mine * sizeof *all);
    if (rank != 0) {
        MPI_Send(&mine, 1, MPI_INT64_T, 0, TAG, comm);
        dkm_mpi_send(out->parts, mine, MPI_INT64_T, 0, TAG, comm);
    }
    DKM_AGREE(out->ctx, rank == 0 ? print_parts(out, (part *)all, total / FIELDS, piece)
                                  : send_parts(out, piece));
out:
    DKM_FREE(all);
    DKM_FREE(piece);
    return status;
}
