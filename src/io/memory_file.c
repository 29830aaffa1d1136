#define _GNU_SOURCE
#include "io/memory_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/alloc.h"

#define CHUNK (1 << 20)

static dkm_local check_limit(const dkm_atomic_file *out, double bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        bytes <= (double)limit.rlim_cur)
        return DKM_LOCAL_OK;
    return dkm_fail(out->ctx, DKM_ERR_IO,
                    "%s: needs %.0f bytes and files may have %.0f here: see ulimit -f", out->path,
                    bytes, (double)limit.rlim_cur);
}

/* A file system in memory, or else a place for temporary files. */
dkm_local dkm_memory_file_open(dkm_memory_file *mem, const dkm_atomic_file *out, double bytes)
{
    const char *const folders[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    dkm_local local = DKM_LOCAL_OK;

    *mem = (dkm_memory_file){.ctx = out->ctx};
    DKM_STEP(check_limit(out, bytes));
    for (int k = 0; !mem->is_open && k < 3; k++) {
        if (!folders[k] || strlen(folders[k]) > sizeof mem->path / 2)
            continue;
        snprintf(mem->path, sizeof mem->path, "%s/dkmap.XXXXXX", folders[k]);
        mem->fd = mkstemp(mem->path);
        mem->is_open = mem->fd >= 0;
    }
    if (!mem->is_open)
        DKM_STEP(dkm_fail(out->ctx, DKM_ERR_IO, "%s: no temporary file in /dev/shm or /tmp: %s",
                          out->path, strerror(errno)));
out:
    return local;
}

static dkm_local copy_range(const dkm_memory_file *mem, dkm_atomic_file *out, off_t from, off_t to,
                            char *chunk)
{
    dkm_local local = DKM_LOCAL_OK;

    while (from < to) {
        size_t want = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
        ssize_t got = pread(mem->fd, chunk, want, from);
        if (got <= 0)
            DKM_STEP(dkm_fail(mem->ctx, DKM_ERR_IO, "%s: cannot copy from memory: %s", out->path,
                              strerror(errno)));
        DKM_STEP(dkm_atomic_file_write(out, from, chunk, got));
        from += got;
    }
out:
    return local;
}

/* Nothing is copied twice, for the checksum; a hole at the end ends in a byte, for the length. */
dkm_local dkm_memory_file_copy(dkm_memory_file *mem, dkm_atomic_file *out)
{
    dkm_local local = DKM_LOCAL_OK;
    off_t length = lseek(mem->fd, 0, SEEK_END), from = 0, to = 0;
    char *chunk = NULL;

    DKM_STEP(dkm_alloc(mem->ctx, CHUNK, &chunk));
    while (from < length && (from = lseek(mem->fd, from, SEEK_DATA)) >= 0) {
        to = lseek(mem->fd, from, SEEK_HOLE);
        DKM_STEP(copy_range(mem, out, from, to, chunk));
        from = to;
    }
    if (to < length)
        DKM_STEP(copy_range(mem, out, length - 1, length, chunk));
out:
    DKM_FREE(chunk);
    return local;
}

void dkm_memory_file_close(dkm_memory_file *mem)
{
    if (mem->is_open) {
        unlink(mem->path);
        close(mem->fd);
    }
    *mem = (dkm_memory_file){0};
}
