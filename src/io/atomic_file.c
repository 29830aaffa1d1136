#define _GNU_SOURCE /* for sync_file_range() */
#include "io/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/filesum.h"
#include "io/path.h"
#include "io/stream/spool.h"
#include "io/stream/stdout_file.h"

#define SUFFIX_SIZE 48
#define CHUNK_BYTES (4 << 20) /* summed up, written and sent to the disk together */
#define ATTEMPTS    1000
#define PERMISSIONS 0777

static const char *remedy(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
        return ": free some space or write elsewhere";
    case ENOENT:
    case ENOTDIR:
        return ": make its directory first";
    case EACCES:
    case EPERM:
    case EROFS:
        return ": write elsewhere";
    default:
        return "";
    }
}

static dkm_local atomic_file_report_failure(const dkm_atomic_file *out, int reason)
{
    return dkm_fail(out->ctx, DKM_ERR_IO, "%s: cannot write: %s%s", out->path, strerror(reason),
                    remedy(reason));
}

static dkm_local make_names(dkm_atomic_file *out, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_strdup(out->ctx, path, &out->path));
    DKM_STEP(dkm_strdup(out->ctx, path, &out->inside));
    DKM_STEP(dkm_calloc(out->ctx, (dkm_idx)strlen(path) + SUFFIX_SIZE, &out->temp));
out:
    return local;
}

/* A lock tells others that the temporary file is being written; it goes with the process. Where
 * the file system has no locks the file is written without. */
static void lock(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    (void)fcntl(fd, F_SETLK, &all);
}

/* Others see no more of a file while it is written than they will afterwards. */
static void look_at_mode(dkm_atomic_file *out)
{
    struct stat about;

    out->mode = stat(out->path, &about) == 0 ? (int)(about.st_mode & PERMISSIONS) : -1;
}

/* Whether a process of this machine runs. One that was killed in a container can stay a zombie for
 * want of a parent that waits for it. */
static int is_running(long process)
{
    char path[64], text[512] = "", *after;
    int fd;

    if (kill((pid_t)process, 0) != 0 && errno == ESRCH)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    fd = dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    if (fd >= 0)
        close(fd);
    after = strrchr(text, ')'); /* PID (COMMAND) STATE ... */
    return !after || strlen(after) < 3 || !strchr("ZX", after[2]);
}

int dkm_temporary_is_abandoned(int folder, const char *name, const char *process)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    long number = strtol(process, NULL, 10);
    struct stat about;
    int fd, abandoned;

    if (number <= 0 || is_running(number))
        return 0;
    fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    abandoned = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
                about.st_uid == geteuid() && fcntl(fd, F_SETLK, &all) == 0;
    if (fd >= 0)
        close(fd);
    return abandoned;
}

/* The process in the name of a temporary file of @p path, "PID-NUMBER"; NULL for other names. */
static const char *process_of(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    size_t length = strlen(last), digits, more;

    if (strncmp(name, last, length) != 0 ||
        strncmp(name + length, DKM_TEMPORARY, strlen(DKM_TEMPORARY)) != 0)
        return NULL;
    name += length + strlen(DKM_TEMPORARY);
    digits = strspn(name, "0123456789");
    more = name[digits] == '-' ? strspn(name + digits + 1, "0123456789") : 0;
    return digits > 0 && more > 0 && !name[digits + 1 + more] ? name : NULL;
}

/* Remove what earlier runs that were killed left of the same file. */
static void sweep(dkm_atomic_file *out)
{
    DIR *list = opendir(dirname(out->inside));
    struct dirent *entry;

    memcpy(out->inside, out->path, strlen(out->path) + 1);
    while (list && (entry = readdir(list))) {
        const char *process = process_of(entry->d_name, out->path);
        if (process && dkm_temporary_is_abandoned(dirfd(list), entry->d_name, process))
            unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list)
        closedir(list);
}

/* The name is new on whatever machine: where it exists already, another one is tried. */
static dkm_local make_temp(dkm_atomic_file *out)
{
    size_t size = strlen(out->path) + SUFFIX_SIZE;
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_path_replaceable(out->ctx, out->path));
    sweep(out);
    look_at_mode(out);
    for (int k = 0; !out->is_open && k < ATTEMPTS; k++) {
        snprintf(out->temp, size, "%s" DKM_TEMPORARY "%ld-%d", out->path, (long)getpid(), k);
        out->fd = dkm_path_open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                out->mode < 0 ? 0666 : 0600);
        out->is_open = out->is_made = out->fd >= 0;
        if (!out->is_open && errno != EEXIST)
            break;
    }
    if (!out->is_open)
        local = atomic_file_report_failure(out, errno);
    else
        lock(out->fd);
out:
    return local;
}

static dkm_local open_temp(dkm_atomic_file *out)
{
    if (out->is_open)
        return DKM_LOCAL_OK;
    out->fd = dkm_path_open(out->temp, O_WRONLY | O_CLOEXEC, 0);
    out->is_open = out->fd >= 0;
    return out->is_open ? DKM_LOCAL_OK : atomic_file_report_failure(out, errno);
}

dkm_status dkm_atomic_file_open(dkm_atomic_file *out, dkm_ctx *ctx, const char *path)
{
    dkm_status status = DKM_OK;
    int size = (int)strlen(path) + SUFFIX_SIZE;

    *out = (dkm_atomic_file){.ctx = ctx};
    DKM_AGREE(ctx, make_names(out, path));
    out->is_stdout = dkm_path_is_standard(path);
    if (out->is_stdout)
        return dkm_stdout_open(out);
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? make_temp(out) : DKM_LOCAL_OK);
    MPI_Bcast(out->temp, size, MPI_CHAR, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, open_temp(out));
out:
    return status;
}

static dkm_local write_chunk(dkm_atomic_file *out, dkm_idx offset, const char *from, dkm_idx count)
{
    while (count > 0) {
        ssize_t done = pwrite(out->fd, from, (size_t)count, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return atomic_file_report_failure(out, done < 0 ? errno : ENOSPC);
        from += done;
        offset += done;
        count -= done;
    }
    return DKM_LOCAL_OK;
}

/* A full chunk is on its way to the disk while the next is written: the flush at the end waits for less. */
static void start_writeback(const dkm_atomic_file *out, dkm_idx offset, dkm_idx count)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (!out->is_stdout && count == CHUNK_BYTES)
        (void)sync_file_range(out->fd, (off_t)offset, (off_t)count, SYNC_FILE_RANGE_WRITE);
#else
    (void)out;
    (void)offset;
    (void)count;
#endif
}

dkm_local dkm_atomic_file_write(dkm_atomic_file *out, dkm_idx offset, const void *bytes,
                                dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *from = bytes;

    if (out->is_stdout)
        DKM_STEP(dkm_stdout_note(out, offset, count));
    for (dkm_idx at = 0; at < count; at += CHUNK_BYTES) {
        dkm_idx step = count - at < CHUNK_BYTES ? count - at : CHUNK_BYTES;
        out->sum = dkm_filesum_combine(out->sum, dkm_filesum(offset + at, from + at, step));
        DKM_STEP(write_chunk(out, offset + at, from + at, step));
        start_writeback(out, offset + at, step);
    }
out:
    return local;
}

/* Some file systems cannot flush and say so; that is no failure to write. */
static int atomic_file_flush(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

static dkm_local atomic_file_finish(dkm_atomic_file *out)
{
    int reason = 0;

    if (out->is_made && out->mode >= 0 && fchmod(out->fd, (mode_t)out->mode) != 0)
        reason = errno;
    if (!atomic_file_flush(out->fd) && reason == 0)
        reason = errno;
    out->is_open = 0;
    if (close(out->fd) != 0 && reason == 0)
        reason = errno;
    return reason ? atomic_file_report_failure(out, reason) : DKM_LOCAL_OK;
}

static dkm_local flush_directory(const dkm_atomic_file *out)
{
    int fd = dkm_path_open(dirname(out->inside), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int reason = fd < 0 || atomic_file_flush(fd) ? 0 : errno;

    if (fd >= 0)
        close(fd);
    return reason ? atomic_file_report_failure(out, reason) : DKM_LOCAL_OK;
}

static dkm_local give_name(dkm_atomic_file *out)
{
    if (!out->is_made)
        return DKM_LOCAL_OK;
    if (rename(out->temp, out->path) != 0)
        return atomic_file_report_failure(out, errno);
    out->is_made = 0;
    return flush_directory(out);
}

dkm_status dkm_atomic_file_commit(dkm_atomic_file *out)
{
    dkm_status status = DKM_OK;

    if (out->is_stdout)
        return dkm_stdout_print(out);
    DKM_AGREE(out->ctx, atomic_file_finish(out));
    DKM_AGREE(out->ctx, give_name(out));
out:
    return status;
}

void dkm_atomic_file_close(dkm_atomic_file *out)
{
    if (out->is_open)
        close(out->fd);
    if (out->is_made)
        unlink(out->temp);
    DKM_FREE(out->parts);
    DKM_FREE(out->temp);
    DKM_FREE(out->inside);
    DKM_FREE(out->path);
    *out = (dkm_atomic_file){0};
}
