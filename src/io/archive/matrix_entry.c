#include "io/archive/matrix_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/path.h"
#include "matrix/dmat_impl.h"

#define CHUNK_BYTES (4 << 20)

dkm_matrix_entry dkm_matrix_entry_lower(const dkm_dmat *A)
{
    return (dkm_matrix_entry){
        .m = A->m, .n = A->n, .precision = A->precision, .lower = 1, .matrix = A};
}

dkm_idx dkm_matrix_entry_before(const dkm_matrix_entry *part, dkm_idx i)
{
    dkm_idx first = part->first;

    return part->lower ? i * (i + 1) / 2 - first * (first + 1) / 2 : (i - first) * part->n;
}

static dkm_idx matrix_entry_number_size(const dkm_matrix_entry *part)
{
    return part->precision == DKM_F64 ? (dkm_idx)sizeof(double) : (dkm_idx)sizeof(float);
}

double dkm_matrix_entry_bytes(const dkm_matrix_entry *part)
{
    return (double)dkm_matrix_entry_before(part, part->m) * (double)matrix_entry_number_size(part);
}

static dkm_idx matrix_entry_length_of(const dkm_matrix_entry *part, dkm_idx i)
{
    return part->lower ? i + 1 : part->n;
}

/* One side of a transfer: rows in memory, their image in the file between them and it. */
typedef struct transfer {
    dkm_ctx *ctx;
    const dkm_matrix_entry *part;
    dkm_atomic_file *out; /* when writing */
    int fd;               /* when reading */
    int64_t offset;
    dkm_idx begin;    /* the row of the part that is the first of a matrix */
    dkm_idx capacity; /* numbers in the image */
    char *image;
} transfer;

static dkm_local open_transfer(transfer *t, dkm_idx capacity)
{
    t->capacity = capacity > 0 ? capacity : 1;
    return dkm_alloc(t->ctx, t->capacity * matrix_entry_number_size(t->part), &t->image);
}

/* Numbers between a row in memory and the image. */
static void matrix_entry_convert(const transfer *t, dkm_idx at, double *row, dkm_idx count,
                                 int into)
{
    double *f64 = (double *)(void *)t->image + at;
    float *f32 = (float *)(void *)t->image + at;

    if (t->part->precision == DKM_F64) {
        memcpy(into ? f64 : row, into ? row : f64, (size_t)count * sizeof *row);
        return;
    }
    for (dkm_idx j = 0; j < count; j++) {
        if (into)
            f32[j] = (float)row[j];
        else
            row[j] = (double)f32[j];
    }
}

static dkm_local read_bytes(dkm_ctx *ctx, const char *path, int fd, char *to, dkm_idx bytes,
                            int64_t offset)
{
    for (dkm_idx done = 0; done < bytes;) {
        ssize_t got = pread(fd, to + done, (size_t)(bytes - done), offset + done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot read: %s", path,
                            got < 0 ? strerror(errno) : "it ends too early");
        done += got;
    }
    return DKM_LOCAL_OK;
}

/* Rows [first, last) that fit the image, @p rows being the first of them. */
static dkm_local move_chunk(transfer *t, dkm_idx first, dkm_idx last, dkm_idx ld, double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx size = matrix_entry_number_size(t->part),
            before = dkm_matrix_entry_before(t->part, first);
    dkm_idx bytes = (dkm_matrix_entry_before(t->part, last) - before) * size;
    int64_t offset = t->offset + before * size;

    if (!t->out)
        DKM_STEP(read_bytes(t->ctx, t->part->path, t->fd, t->image, bytes, offset));
    for (dkm_idx i = first; i < last; i++)
        matrix_entry_convert(t, dkm_matrix_entry_before(t->part, i) - before,
                             rows + (i - first) * ld, matrix_entry_length_of(t->part, i),
                             t->out != NULL);
    if (t->out)
        DKM_STEP(dkm_atomic_file_write(t->out, offset, t->image, bytes));
out:
    return local;
}

static dkm_local move_rows(transfer *t, dkm_idx first, dkm_idx count, dkm_idx ld, double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx end = first + count, last;

    for (dkm_idx i = first; i < end; i = last) {
        for (last = i + 1; last < end && dkm_matrix_entry_before(t->part, last + 1) -
                                                 dkm_matrix_entry_before(t->part, i) <=
                                             t->capacity;)
            last++;
        DKM_STEP(move_chunk(t, i, last, ld, rows + (i - first) * ld));
    }
out:
    return local;
}

dkm_local dkm_rows_file_open(dkm_rows_file *file, dkm_ctx *ctx, const dkm_matrix_entry *part)
{
    *file = (dkm_rows_file){.ctx = ctx, .part = part};
    file->fd = dkm_path_open(part->path, O_RDONLY | O_CLOEXEC, 0);
    if (file->fd < 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot read: %s", part->path, strerror(errno));
    return DKM_LOCAL_OK;
}

void dkm_rows_file_close(dkm_rows_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

dkm_local dkm_rows_file_read(const dkm_rows_file *file, dkm_idx at, dkm_idx count, double *numbers)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_idx size = matrix_entry_number_size(file->part);
    float *narrow = (float *)(numbers + count) - count; /* the second half, if they are single */
    const int single = file->part->precision == DKM_F32;

    DKM_STEP(read_bytes(file->ctx, file->part->path, file->fd,
                        single ? (char *)narrow : (char *)numbers, count * size,
                        file->part->offset + at * size));
    for (dkm_idx k = 0; single && k < count; k++) {
        float number;
        memcpy(&number, narrow + k, sizeof number);
        numbers[k] = number;
    }
out:
    return local;
}

static dkm_local move_matrix_rows(void *user, dkm_idx first, dkm_idx count, double *rows)
{
    transfer *t = user;

    return move_rows(t, t->begin + first, count, t->part->n, rows);
}

/* Numbers of an image: a few rows, and no less than one. */
static dkm_idx image_capacity(const dkm_matrix_entry *part)
{
    dkm_idx capacity = CHUNK_BYTES / matrix_entry_number_size(part);

    return capacity > part->n ? capacity : part->n;
}

/* This rank's share of the bytes of rows that lie in another file, as they are. */
static dkm_local copy_rows(transfer *t)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *from = t->part->copied;
    dkm_idx size = matrix_entry_number_size(from), all = dkm_matrix_entry_before(from, from->m),
            at = dkm_slab_first(all, dkm_ctx_rank(t->ctx), dkm_ctx_size(t->ctx)),
            end = dkm_slab_first(all, dkm_ctx_rank(t->ctx) + 1, dkm_ctx_size(t->ctx));
    dkm_rows_file file;

    DKM_STEP(dkm_rows_file_open(&file, t->ctx, from));
    for (dkm_idx count; at < end; at += count) {
        count = end - at < t->capacity ? end - at : t->capacity;
        DKM_STEP(read_bytes(t->ctx, from->path, file.fd, t->image, count * size,
                            from->offset + at * size));
        DKM_STEP(dkm_atomic_file_write(t->out, t->offset + at * size, t->image, count * size));
    }
out:
    dkm_rows_file_close(&file);
    return local;
}

dkm_status dkm_matrix_entry_write(const dkm_matrix_entry *part, dkm_atomic_file *out,
                                  int64_t offset)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = out->ctx;
    transfer t = {.ctx = ctx, .part = part, .out = out, .offset = offset};
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    if (part->first == part->m) /* nothing is here */
        return DKM_OK;
    DKM_AGREE(ctx, open_transfer(&t, image_capacity(part)));
    if (!part->copied && !part->matrix && !part->rest)
        DKM_AGREE(ctx, move_rows(&t, dkm_slab_first(part->m, rank, size),
                                 dkm_slab_count(part->m, rank, size), part->ld,
                                 (double *)(uintptr_t)part->slab));
    if (part->copied)
        DKM_AGREE(ctx, copy_rows(&t));
    if (part->matrix)
        DKM_TRY(dkm_dmat_for_each_rows(part->matrix, move_matrix_rows, &t));
    t.begin = part->rest ? part->m - part->rest->m : 0;
    if (part->rest)
        DKM_TRY(dkm_dmat_for_each_rows(part->rest, move_matrix_rows, &t));
out:
    DKM_FREE(t.image);
    return status;
}

static dkm_local open_reader(transfer *t)
{
    t->offset = t->part->offset;
    t->fd = dkm_path_open(t->part->path, O_RDONLY | O_CLOEXEC, 0);
    if (t->fd < 0)
        return dkm_fail(t->ctx, DKM_ERR_IO, "%s: cannot read: %s", t->part->path, strerror(errno));
    return open_transfer(t, image_capacity(t->part));
}

static void close_reader(transfer *t)
{
    if (t->fd >= 0)
        close(t->fd);
    DKM_FREE(t->image);
}

static dkm_local matrix_entry_check_shape(dkm_ctx *ctx, const dkm_matrix_entry *part, dkm_idx m,
                                          dkm_idx n)
{
    if (part->m == m && part->n == n)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_FORMAT, "%s: holds %lld x %lld numbers where %lld x %lld belong",
                    part->path, (long long)part->m, (long long)part->n, (long long)m, (long long)n);
}

dkm_status dkm_matrix_entry_read_matrix(const dkm_matrix_entry *part, dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    transfer t = {.ctx = ctx, .part = part, .fd = -1, .begin = part->first};

    DKM_AGREE(ctx, matrix_entry_check_shape(ctx, part, part->first + A->m, A->n));
    DKM_AGREE(ctx, open_reader(&t));
    DKM_TRY(dkm_dmat_fill_rows(A, part->lower && part->first == 0, move_matrix_rows, &t));
out:
    close_reader(&t);
    return status;
}

dkm_local dkm_matrix_entry_read_slab(dkm_ctx *ctx, const dkm_matrix_entry *part, dkm_idx n,
                                     dkm_idx ld, double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    transfer t = {.ctx = ctx, .part = part, .fd = -1};
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    DKM_STEP(matrix_entry_check_shape(ctx, part, part->m, n));
    DKM_STEP(open_reader(&t));
    DKM_STEP(move_rows(&t, dkm_slab_first(part->m, rank, size), dkm_slab_count(part->m, rank, size),
                       ld, rows));
out:
    close_reader(&t);
    return local;
}
