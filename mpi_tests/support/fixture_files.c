#include "support/fixture_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <dkmap/data.h>

#include "support/check.h"

void files_open(dkm_ctx *ctx, char dir[FILES_PATH])
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, FILES_PATH, "%s/dkmap-test-XXXXXX", base ? base : "/tmp");
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(mkdtemp(dir) != NULL);
    MPI_Bcast(dir, FILES_PATH, MPI_CHAR, 0, dkm_ctx_comm(ctx));
}

char *files_name(const char *dir, const char *name, char path[FILES_PATH])
{
    snprintf(path, FILES_PATH, "%.300s/%.200s", dir, name);
    return path;
}

static int ends_in_gz(const char *path)
{
    size_t length = strlen(path);

    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static void write_plain(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL);
    if (!file)
        return;
    CHECK(fwrite(bytes, 1, count, file) == count);
    CHECK(fclose(file) == 0);
}

static void write_gzipped(const char *path, const void *bytes, size_t count)
{
    gzFile file = gzopen(path, "wb");

    CHECK(file != NULL);
    if (!file)
        return;
    CHECK(count == 0 || gzwrite(file, bytes, (unsigned)count) == (int)count);
    CHECK(gzclose(file) == Z_OK);
}

char *files_put(dkm_ctx *ctx, const char *dir, const char *name, const void *bytes, size_t count,
                char path[FILES_PATH])
{
    files_name(dir, name, path);
    if (dkm_ctx_rank(ctx) == 0 && ends_in_gz(path))
        write_gzipped(path, bytes, count);
    else if (dkm_ctx_rank(ctx) == 0)
        write_plain(path, bytes, count);
    MPI_Barrier(dkm_ctx_comm(ctx));
    return path;
}

int files_exist(dkm_ctx *ctx, const char *path)
{
    int there = access(path, F_OK) == 0;

    MPI_Bcast(&there, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    return there;
}

/* Count the files of a directory on rank 0, removing them as it goes when asked to. */
static int walk(dkm_ctx *ctx, const char *dir, int removing)
{
    char path[FILES_PATH];
    DIR *list = dkm_ctx_rank(ctx) == 0 ? opendir(dir) : NULL;
    struct dirent *entry;
    int count = 0;

    while (list && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (removing && remove(files_name(dir, entry->d_name, path)) != 0)
            check_failed(__FILE__, __LINE__, "cannot remove %s", path);
    }
    if (list)
        closedir(list);
    MPI_Bcast(&count, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    return count;
}

int files_count(dkm_ctx *ctx, const char *dir)
{
    return walk(ctx, dir, 0);
}

void files_close(dkm_ctx *ctx, const char *dir)
{
    MPI_Barrier(dkm_ctx_comm(ctx));
    walk(ctx, dir, 1);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(rmdir(dir) == 0);
}

void files_hurt(dkm_ctx *ctx, const char *path, long at, int cut)
{
    if (dkm_ctx_rank(ctx) == 0) {
        int fd = open(path, O_RDWR);
        unsigned char byte = 0;
        if (cut) {
            CHECK(ftruncate(fd, at) == 0);
        } else {
            CHECK(pread(fd, &byte, 1, at) == 1);
            byte ^= 1;
            CHECK(pwrite(fd, &byte, 1, at) == 1);
        }
        close(fd);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static const char *brutal_where;

static dkm_status read_once(dkm_ctx *ctx)
{
    dkm_data *data = NULL;
    dkm_status status = dkm_data_read(ctx, brutal_where, DKM_INPUTS, NULL, &data);

    dkm_data_destroy(&data);
    return status;
}

void files_read_allocations(dkm_ctx *ctx, const char *where)
{
    brutal_where = where;
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, read_once);
}
