#include "io/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/atomic_file.h"
#include "io/stream/spool.h"

#define MAX_AT_ONCE (1 << 30)

const char *dkm_path_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int dkm_path_ends(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* The colon between an HDF5 or npz file and its dataset, or NULL. */
static char *find_colon(char *where)
{
    for (char *colon = strchr(where, ':'); colon; colon = strchr(colon + 1, ':')) {
        int named;
        *colon = '\0';
        named = dkm_path_ends(where, ".h5") || dkm_path_ends(where, ".hdf5") ||
                dkm_path_ends(where, ".npz");
        *colon = ':';
        if (named)
            return colon;
    }
    return NULL;
}

dkm_local dkm_path_split(dkm_ctx *ctx, const char *where, char **path, char **dataset)
{
    dkm_local local = DKM_LOCAL_OK;
    char *colon;

    *path = *dataset = NULL;
    DKM_STEP(dkm_strdup(ctx, where, path));
    colon = find_colon(*path);
    if (colon) {
        DKM_STEP(dkm_strdup(ctx, colon + 1, dataset));
        *colon = '\0';
    }
out:
    return local;
}

int dkm_path_open(const char *path, int flags, unsigned mode)
{
    int fd;

    if ((flags & O_ACCMODE) == O_RDONLY)
        path = dkm_spool_path(path);
    do
        fd = open(path, flags, (mode_t)mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

dkm_idx dkm_path_read_at(int fd, void *to, dkm_idx count, dkm_idx offset)
{
    char *at = to;
    dkm_idx done = 0;

    while (done < count) {
        dkm_idx left = count - done;
        ssize_t got = pread(fd, at + done, (size_t)(left < MAX_AT_ONCE ? left : MAX_AT_ONCE),
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += got;
    }
    return done;
}

dkm_local dkm_path_readable(dkm_ctx *ctx, const char *path, dkm_idx *bytes)
{
    struct stat about;

    if (stat(dkm_spool_path(path), &about) != 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: %s: check the name and that every node sees it", path,
                        strerror(errno));
    if (S_ISDIR(about.st_mode))
        return dkm_fail(ctx, DKM_ERR_IO, "%s is a directory: name a file in it", path);
    if (access(dkm_spool_path(path), R_OK) != 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: %s: check its permissions", path, strerror(errno));
    if (S_ISREG(about.st_mode) && about.st_size == 0)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "%s is empty: was it written to its end?", path);
    if (bytes)
        *bytes = (dkm_idx)about.st_size;
    return DKM_LOCAL_OK;
}

dkm_local dkm_path_replaceable(dkm_ctx *ctx, const char *path)
{
    struct stat about;

    if (path[0] == '\0')
        return dkm_fail(ctx, DKM_ERR_IO, "the name of the file to write is empty");
    if (stat(path, &about) != 0)
        return DKM_LOCAL_OK;
    if (S_ISDIR(about.st_mode))
        return dkm_fail(ctx, DKM_ERR_IO, "%s is a directory: name a file in it", path);
    if (!S_ISREG(about.st_mode))
        return dkm_fail(ctx, DKM_ERR_IO, "%s is no plain file: write to another name", path);
    return DKM_LOCAL_OK;
}

dkm_status dkm_file_check_writable(dkm_ctx *ctx, const char *where)
{
    dkm_status status = DKM_OK;
    char *path = NULL, *dataset = NULL;
    dkm_atomic_file out = {0};

    DKM_AGREE(ctx, dkm_path_split(ctx, where, &path, &dataset));
    DKM_TRY(dkm_atomic_file_open(&out, ctx, path));
out:
    dkm_atomic_file_close(&out);
    DKM_FREE(dataset);
    DKM_FREE(path);
    return status;
}

dkm_status dkm_file_write(dkm_ctx *ctx, const char *path, const void *bytes, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_atomic_file out = {0};

    DKM_TRY(dkm_atomic_file_open(&out, ctx, path));
    DKM_AGREE(ctx,
              dkm_ctx_rank(ctx) == 0 ? dkm_atomic_file_write(&out, 0, bytes, count) : DKM_LOCAL_OK);
    DKM_TRY(dkm_atomic_file_commit(&out));
out:
    dkm_atomic_file_close(&out);
    return status;
}
