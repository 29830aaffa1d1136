/* Arrays as numpy saves them, alone (npy) or several in a zip archive (npz). A rank reads its own rows
 * only, through a buffer of bounded size: batches of rows in C order, strips of columns in Fortran
 * order. More than two dimensions are rows of all that follows the first, in C order. An array that
 * is compressed can only be read from its beginning: one rank unpacks it for all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "io/formats/dense.h"
#include "io/formats/npy_header.h"
#include "io/formats/zip.h"
#include "io/path.h"

#define BUFFER_BYTES (1 << 20)
#define NEAR_BYTES   (16 << 10) /* rows no farther apart than this are read together */
#define STRIP_BYTES  (64 << 10)
#define MAX_AT_ONCE  (1 << 30)

typedef struct npy {
    int fd;
    dkm_zip zip;          /* of npz */
    dkm_idx base;         /* where the array begins in the file */
    dkm_inflate *inflate; /* of an array that is compressed; else NULL */
    dkm_npy_header head;
} npy;

/* Which rows and columns of the file go where. */
typedef struct wish {
    const dkm_file *file;
    const npy *state;
    dkm_idx first, step, count, c0, c1;
    double *values;
    char *buffer;
} wish;

static dkm_local npy_read_bytes(const dkm_file *file, dkm_idx offset, dkm_idx count, void *bytes)
{
    const npy *state = file->state;
    char *to = bytes;

    if (state->inflate)
        return dkm_inflate_read(state->inflate, offset, count, bytes);
    offset += state->base;
    while (count > 0) {
        size_t step = (size_t)(count < MAX_AT_ONCE ? count : MAX_AT_ONCE);
        ssize_t got = pread(state->fd, to, step, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
        if (got == 0)
            return dkm_fail(file->ctx, DKM_ERR_IO, "%s became shorter while it was read",
                            file->path);
        to += got;
        offset += got;
        count -= got;
    }
    return DKM_LOCAL_OK;
}

/* Columns of all dimensions after the first together, and bytes the numbers take. */
static dkm_local npy_measure(const dkm_file *file, const dkm_npy_header *h, dkm_idx *d,
                             dkm_idx *bytes)
{
    dkm_local local = DKM_LOCAL_OK;

    *d = 1;
    for (int k = 1; k < h->dims; k++)
        DKM_STEP(dkm_checked_mul(file->ctx, *d, h->shape[k], file->path, d));
    DKM_STEP(dkm_checked_mul(file->ctx, *d, h->shape[0], file->path, bytes));
    DKM_STEP(dkm_checked_mul(file->ctx, *bytes, dkm_number_bytes(h->number), file->path, bytes));
out:
    return local;
}

static dkm_local npy_check_length(const dkm_file *file, dkm_idx offset, dkm_idx needed,
                                  dkm_idx present)
{
    if (present - offset >= needed)
        return DKM_LOCAL_OK;
    return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                    "%s is cut short: its header asks for %llu bytes, it has %lld: get or write it "
                    "again",
                    file->path, (unsigned long long)needed + (unsigned long long)offset,
                    (long long)present);
}

static dkm_local open_file(dkm_file *file, dkm_idx *bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    npy *state;

    DKM_STEP(dkm_path_readable(file->ctx, file->path, bytes));
    DKM_STEP(dkm_calloc(file->ctx, 1, &state));
    file->state = state;
    state->fd = dkm_path_open(file->path, O_RDONLY | O_CLOEXEC, 0);
    if (state->fd < 0)
        local = dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
out:
    return local;
}

/* Find the array in an archive; @p bytes, of the archive, become those of the array. */
static dkm_local find_array(dkm_file *file, dkm_zip_member *member, dkm_idx *bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    npy *state = file->state;

    state->zip = (dkm_zip){file->ctx, file->path, state->fd, *bytes};
    DKM_STEP(dkm_zip_find(&state->zip, file->dataset, member));
    state->base = member->offset;
    *bytes = member->bytes;
    if (member->deflated)
        DKM_STEP(dkm_inflate_open(&state->zip, member, &state->inflate));
out:
    return local;
}

static dkm_local npy_open_mine(dkm_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = 0, d = 0, needed = 0, front;
    int zipped = dkm_path_ends(file->path, ".npz");
    char head[DKM_NPY_HEADER_ROOM];
    dkm_zip_member member = {0};
    npy *state;

    DKM_STEP(open_file(file, &bytes));
    state = file->state;
    if (zipped)
        DKM_STEP(find_array(file, &member, &bytes));
    front = bytes < DKM_NPY_HEADER_ROOM ? bytes : DKM_NPY_HEADER_ROOM;
    DKM_STEP(npy_read_bytes(file, 0, front, head));
    DKM_STEP(dkm_npy_header_parse(file->ctx, file->path, head, front, &state->head));
    DKM_STEP(npy_measure(file, &state->head, &d, &needed));
    DKM_STEP(npy_check_length(file, state->head.offset, needed, bytes));
    if (member.deflated)
        DKM_STEP(dkm_dense_plausible(file, state->head.shape[0], d, member.packed));
    DKM_STEP(
        dkm_dense_resolve_type(file, state->head.shape[0], d,
                               state->head.dims == 1 && dkm_number_is_integer(state->head.number)));
    snprintf(file->about, sizeof file->about, "%s, %s, %s order%s",
             member.deflated ? "npz, compressed"
             : zipped        ? "npz"
                             : "npy",
             dkm_number_name(state->head.number), state->head.fortran ? "Fortran" : "C",
             state->head.swapped ? ", other byte order" : "");
out:
    return local;
}

static dkm_status npy_open(dkm_file *file)
{
    return dkm_agree(file->ctx, npy_open_mine(file));
}

/* Read @p span bytes at @p offset of the numbers into the buffer, in the byte order of here. */
static dkm_local npy_read_numbers(const wish *w, dkm_idx offset, dkm_idx span)
{
    const dkm_npy_header *h = &w->state->head;
    dkm_local local = npy_read_bytes(w->file, h->offset + offset, span, w->buffer);

    if (h->swapped)
        dkm_numbers_swap(h->number, w->buffer, span / dkm_number_bytes(h->number));
    return local;
}

/* Rows [i, i + rows) of the wish, columns [c, c + cols) of the file, in one batch. */
static dkm_local read_chunk(const wish *w, dkm_idx i, dkm_idx rows, dkm_idx c, dkm_idx cols)
{
    dkm_number number = w->state->head.number;
    dkm_idx bytes = dkm_number_bytes(number), width = w->c1 - w->c0;
    dkm_idx apart = w->step * w->file->d * bytes;
    dkm_idx offset = ((w->first + i * w->step) * w->file->d + c) * bytes;
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(npy_read_numbers(w, offset, (rows - 1) * apart + cols * bytes));
    for (dkm_idx k = 0; k < rows; k++)
        dkm_numbers_convert(number, w->buffer + k * apart, 1, cols,
                            w->values + (i + k) * width + c - w->c0, 1);
out:
    return local;
}

static dkm_local read_c_order(const wish *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = dkm_number_bytes(w->state->head.number), width = w->c1 - w->c0;
    dkm_idx apart = w->step * w->file->d * bytes, rows = 1;
    dkm_idx cols = width < BUFFER_BYTES / bytes ? width : BUFFER_BYTES / bytes;

    if (width == 0)
        goto out;
    if (apart <= NEAR_BYTES)
        rows = BUFFER_BYTES / apart;
    for (dkm_idx i = 0; i < w->count; i += rows)
        for (dkm_idx c = w->c0; c < w->c1; c += cols)
            DKM_STEP(read_chunk(w, i, i + rows < w->count ? rows : w->count - i, c,
                                c + cols < w->c1 ? cols : w->c1 - c));
out:
    return local;
}

/* Where column c, counted in C order over the last dimensions, is in Fortran order. */
static dkm_idx fortran_column(const dkm_npy_header *h, dkm_idx c)
{
    dkm_idx column = 0, weight = 1, index[DKM_NPY_DIMS];

    for (int k = h->dims - 1; k > 0; k--) {
        index[k] = c % h->shape[k];
        c /= h->shape[k];
    }
    for (int k = 1; k < h->dims; k++) {
        column += weight * index[k];
        weight *= h->shape[k];
    }
    return column;
}

static dkm_local read_fortran_order(const wish *w)
{
    const dkm_npy_header *h = &w->state->head;
    dkm_idx bytes = dkm_number_bytes(h->number), width = w->c1 - w->c0;
    dkm_idx fit = STRIP_BYTES / (w->step * bytes), most = fit > 1 ? fit : 1;
    dkm_local local = DKM_LOCAL_OK;

    if (width == 0)
        goto out;
    for (dkm_idx i = 0; i < w->count; i += most)
        for (dkm_idx c = w->c0; c < w->c1; c++) {
            dkm_idx rows = i + most < w->count ? most : w->count - i;
            dkm_idx at = fortran_column(h, c) * w->file->m + w->first + i * w->step;
            DKM_STEP(npy_read_numbers(w, at * bytes, ((rows - 1) * w->step + 1) * bytes));
            dkm_numbers_convert(h->number, w->buffer, w->step, rows,
                                w->values + i * width + c - w->c0, width);
        }
out:
    return local;
}

/* Numbers that stand in the file as they will in memory need no buffer. */
static int is_direct(const wish *w)
{
    const dkm_npy_header *h = &w->state->head;

    return h->number == DKM_NUMBER_F64 && !h->swapped && !h->fortran && w->step == 1 &&
           w->c0 == 0 && w->c1 == w->file->d;
}

static dkm_local npy_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                          dkm_idx c1, dkm_objs *objs)
{
    const npy *state = file->state;
    dkm_local local = DKM_LOCAL_OK;
    wish w = {file, state, first, step, count, c0, c1, NULL, NULL};

    DKM_STEP(dkm_objs_init(objs, file->ctx, file->type, count, c1 - c0, 0));
    w.values = objs->values;
    if (is_direct(&w)) {
        DKM_STEP(npy_read_bytes(file, state->head.offset + first * file->d * 8, count * file->d * 8,
                                w.values));
    } else {
        DKM_STEP(dkm_alloc(file->ctx, BUFFER_BYTES, &w.buffer));
        DKM_STEP(state->head.fortran ? read_fortran_order(&w) : read_c_order(&w));
    }
    DKM_STEP(dkm_dense_check(file, first, step, c0, objs));
out:
    DKM_FREE(w.buffer);
    return local;
}

static void npy_close(dkm_file *file)
{
    npy *state = file->state;

    if (state)
        dkm_inflate_close(&state->inflate);
    if (state && state->fd >= 0)
        close(state->fd);
    DKM_FREE(file->state);
}

/* Whether the array is compressed; a failure is left to open(). */
static int npz_is_forward(dkm_file *file)
{
    dkm_zip_member member = {0};
    dkm_idx bytes = 0;
    dkm_local local = open_file(file, &bytes);

    if (local.code == DKM_OK)
        local = find_array(file, &member, &bytes);
    npy_close(file);
    return local.code == DKM_OK && member.deflated;
}

const dkm_format dkm_format_npy = {
    .name = "npy",
    .endings = ".npy",
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
};

const dkm_format dkm_format_npz = {
    .name = "npz",
    .endings = ".npz",
    .is_forward = npz_is_forward,
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
};
