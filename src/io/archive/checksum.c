#include "io/archive/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "io/filesum.h"
#include "io/path.h"

#define CHUNK (1 << 20)

typedef struct trailer {
    char mark[8];
    int64_t length;
    uint64_t sum;
} trailer;

static const char mark[8] = {'d', 'k', 'm', ' ', 's', 'u', 'm', '3'};
static const char mark_format_2[8] = {'d', 'k', 'm', ' ', 's', 'e', 'a', 'l'};

static dkm_local append_seal(dkm_atomic_file *out, uint64_t sum)
{
    struct stat about;
    trailer s = {.sum = sum};

    memcpy(s.mark, mark, sizeof mark);
    if (fstat(out->fd, &about) != 0)
        return dkm_fail(out->ctx, DKM_ERR_IO, "%s: %s", out->path, strerror(errno));
    s.length = about.st_size;
    return dkm_atomic_file_write(out, s.length, &s, sizeof s);
}

dkm_status dkm_checksum_append(dkm_atomic_file *out)
{
    uint64_t sum = dkm_filesum_combine_ranks(out->ctx, out->sum);

    return dkm_agree(out->ctx, dkm_ctx_rank(out->ctx) == 0 ? append_seal(out, sum) : DKM_LOCAL_OK);
}

static dkm_local checksum_damaged(dkm_ctx *ctx, const char *path, const char *how)
{
    return dkm_fail(ctx, DKM_ERR_FORMAT, "%s: %s", path, how);
}

static int is_format_2(const trailer *s)
{
    return memcmp(s->mark, mark_format_2, sizeof s->mark) == 0;
}

static int is_marked(const trailer *s)
{
    return memcmp(s->mark, mark, sizeof s->mark) == 0 || is_format_2(s);
}

static int fetch_trailer(int fd, trailer *s)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= (off_t)sizeof *s &&
           dkm_path_read_at(fd, s, sizeof *s, about.st_size - (off_t)sizeof *s) ==
               (dkm_idx)sizeof *s &&
           is_marked(s) && s->length == about.st_size - (off_t)sizeof *s;
}

int dkm_seal_present(int fd)
{
    trailer s;

    return fetch_trailer(fd, &s);
}

int dkm_seal_read(const char *path, int64_t *length, uint64_t *sum)
{
    int fd = dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0), found = 0;
    trailer s;

    if (fd < 0)
        return 0;
    found = fetch_trailer(fd, &s);
    if (found) {
        *length = s.length;
        *sum = s.sum;
    }
    close(fd);
    return found;
}

static dkm_local read_trailer(dkm_ctx *ctx, const char *path, int fd, trailer *s)
{
    if (fd < 0)
        return checksum_damaged(ctx, path, strerror(errno));
    if (!fetch_trailer(fd, s))
        return checksum_damaged(ctx, path, "torn: it does not end as it should");
    return DKM_LOCAL_OK;
}

/* Whether a file ends in the mark of a trailer; one that is not there does not. */
static dkm_local find_mark(dkm_ctx *ctx, const char *path, int *found)
{
    int fd = dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0);
    struct stat about;
    trailer s;
    dkm_idx got = 0;

    *found = 0;
    if (fd < 0)
        return DKM_LOCAL_OK;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= (off_t)sizeof s)
        got = dkm_path_read_at(fd, &s, sizeof s, about.st_size - (off_t)sizeof s);
    *found = got == (dkm_idx)sizeof s && is_marked(&s);
    if (got < 0) {
        int reason = errno;
        close(fd);
        return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot read: %s", path, strerror(reason));
    }
    close(fd);
    return DKM_LOCAL_OK;
}

dkm_status dkm_seal_check_any(dkm_ctx *ctx, const char *path, int *sealed)
{
    dkm_status status = DKM_OK;

    *sealed = 0;
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? find_mark(ctx, path, sealed) : DKM_LOCAL_OK);
    MPI_Bcast(sealed, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    if (*sealed)
        DKM_TRY(dkm_checksum_verify(ctx, path));
out:
    return status;
}

/* Add a part of the file to a sum of one format or the other. */
static void add_bytes(uint64_t *sum, int format_2, dkm_idx at, const char *bytes, dkm_idx count)
{
    if (format_2)
        *sum += dkm_filesum_format_2(at, bytes, count);
    else
        *sum = dkm_filesum_combine(*sum, dkm_filesum(at, bytes, count));
}

/* The checksum of this rank's part of the file. */
static dkm_local sum_part(dkm_ctx *ctx, const char *path, int fd, const trailer *s, uint64_t *sum)
{
    dkm_local local = DKM_LOCAL_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    int64_t at = dkm_slab_first(s->length, rank, size);
    int64_t end = dkm_slab_first(s->length, rank + 1, size);
    char *chunk = NULL;

    *sum = 0;
    DKM_STEP(dkm_alloc(ctx, CHUNK, &chunk));
    while (at < end) {
        dkm_idx got = dkm_path_read_at(fd, chunk, end - at < CHUNK ? end - at : CHUNK, at);
        if (got < 0)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_IO, "%s: cannot read: %s", path, strerror(errno)));
        if (got == 0)
            DKM_STEP(checksum_damaged(ctx, path, "torn: it cannot be read to its end"));
        add_bytes(sum, is_format_2(s), at, chunk, got);
        at += got;
    }
out:
    DKM_FREE(chunk);
    return local;
}

/* The checksum of all ranks' parts. Collective. */
static uint64_t sum_of_ranks(dkm_ctx *ctx, int format_2, uint64_t mine)
{
    uint64_t all = 0;

    if (!format_2)
        return dkm_filesum_combine_ranks(ctx, mine);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    return all;
}

static dkm_local find_length(dkm_ctx *ctx, const char *path, int fd, int64_t *length)
{
    struct stat about;

    if (fd < 0 || fstat(fd, &about) != 0)
        return checksum_damaged(ctx, path, strerror(errno));
    *length = about.st_size;
    return DKM_LOCAL_OK;
}

dkm_status dkm_seal_sum(dkm_ctx *ctx, const char *path, uint64_t *sum)
{
    dkm_status status = DKM_OK;
    int fd = dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0);
    trailer whole = {.length = 0};
    uint64_t mine = 0;

    *sum = 0;
    DKM_AGREE(ctx, find_length(ctx, path, fd, &whole.length));
    DKM_AGREE(ctx, sum_part(ctx, path, fd, &whole, &mine));
    *sum = dkm_filesum_combine_ranks(ctx, mine);
out:
    if (fd >= 0)
        close(fd);
    return status;
}

dkm_status dkm_checksum_verify(dkm_ctx *ctx, const char *path)
{
    dkm_status status = DKM_OK;
    int fd = dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0);
    uint64_t mine = 0, all = 0;
    trailer s = {.length = 0};

    DKM_AGREE(ctx, read_trailer(ctx, path, fd, &s));
    DKM_AGREE(ctx, sum_part(ctx, path, fd, &s, &mine));
    all = sum_of_ranks(ctx, is_format_2(&s), mine);
    DKM_AGREE(ctx, all == s.sum
                       ? DKM_LOCAL_OK
                       : checksum_damaged(ctx, path, "damaged: its checksum is not what it was"));
out:
    if (fd >= 0)
        close(fd);
    return status;
}
