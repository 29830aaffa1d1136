/* The format of MNIST: two zero bytes, the type of number, how many dimensions, their sizes as
 * 32-bit numbers, then the numbers, high byte first. Plain or gzipped. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "io/formats/dense.h"
#include "io/formats/numbers.h"
#include "io/path.h"
#include "io/stream/spool.h"

#define BUFFER_BYTES (1 << 20)

typedef struct idx {
    gzFile stream;
    dkm_number number;
    int dims;
    dkm_idx d, offset; /* columns; where the numbers start */
    dkm_idx at;        /* where the stream stands; -1 after a failure */
    char *buffer;
} idx;

static dkm_local idx_report_failure(dkm_file *file)
{
    idx *state = file->state;
    int code = Z_OK;
    const char *reason = gzerror(state->stream, &code);

    state->at = -1;
    if (code == Z_ERRNO)
        return dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
    return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s is cut short or damaged%s%s: get it again",
                    file->path, code == Z_OK ? "" : ": ", code == Z_OK ? "" : reason);
}

/* Read bytes at an offset of the unpacked file; at most BUFFER_BYTES. */
static dkm_local idx_read_bytes(dkm_file *file, dkm_idx offset, dkm_idx count, void *bytes)
{
    idx *state = file->state;

    if (state->at != offset && gzseek(state->stream, (z_off_t)offset, SEEK_SET) < 0)
        return idx_report_failure(file);
    state->at = offset + count;
    if (gzread(state->stream, bytes, (unsigned)count) != (int)count)
        return idx_report_failure(file);
    return DKM_LOCAL_OK;
}

static dkm_number idx_number_of(unsigned char code)
{
    static const dkm_number numbers[] = {DKM_NUMBER_U8,  DKM_NUMBER_I8,  DKM_NUMBER_COUNT,
                                         DKM_NUMBER_I16, DKM_NUMBER_I32, DKM_NUMBER_F32,
                                         DKM_NUMBER_F64};

    return code >= 8 && code < 8 + 7 ? numbers[code - 8] : DKM_NUMBER_COUNT;
}

static dkm_local idx_read_sizes(dkm_file *file, dkm_idx *m, dkm_idx *d)
{
    dkm_local local = DKM_LOCAL_OK;
    idx *state = file->state;
    unsigned char size[4];

    *d = 1;
    for (int k = 0; k < state->dims; k++) {
        dkm_idx value;
        DKM_STEP(idx_read_bytes(file, 4 + 4 * k, 4, size));
        value = (dkm_idx)size[0] << 24 | (dkm_idx)size[1] << 16 | (dkm_idx)size[2] << 8 | size[3];
        if (k == 0)
            *m = value;
        else
            DKM_STEP(dkm_checked_mul(file->ctx, *d, value, file->path, d));
    }
    state->offset = 4 + 4 * state->dims;
    state->d = *d;
out:
    return local;
}

static dkm_local tell_short(const dkm_file *file, dkm_idx needed, dkm_idx present)
{
    const idx *state = file->state;

    return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                    "%s is cut short: its header asks for %llu bytes, it has %lld: get it again",
                    file->path, (unsigned long long)needed + (unsigned long long)state->offset,
                    (long long)present);
}

/* A plain file is as long as it says; of a gzipped one that shows when it is read. */
static dkm_local idx_check_length(const dkm_file *file, dkm_idx m, dkm_idx present)
{
    const idx *state = file->state;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx needed = 0;

    DKM_STEP(dkm_checked_mul(file->ctx, m, state->d, file->path, &needed));
    DKM_STEP(dkm_checked_mul(file->ctx, needed, (dkm_idx)sizeof(double), file->path, &needed));
    needed = m * state->d * dkm_number_bytes(state->number);
    if (!gzdirect(state->stream))
        DKM_STEP(dkm_dense_plausible(file, m, state->d, present));
    if (gzdirect(state->stream) && needed > present - state->offset)
        DKM_STEP(tell_short(file, needed, present));
out:
    return local;
}

static dkm_local read_header(dkm_file *file, dkm_idx present)
{
    dkm_local local = DKM_LOCAL_OK;
    idx *state = file->state;
    unsigned char head[4];
    dkm_idx m = 0, d = 0;

    DKM_STEP(idx_read_bytes(file, 0, 4, head));
    state->number = idx_number_of(head[2]);
    state->dims = head[3];
    if (head[0] != 0 || head[1] != 0 || state->number == DKM_NUMBER_COUNT || state->dims == 0) {
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s is no idx file: it does not begin as one",
                         file->path);
        goto out;
    }
    DKM_STEP(idx_read_sizes(file, &m, &d));
    DKM_STEP(idx_check_length(file, m, present));
    DKM_STEP(dkm_dense_resolve_type(file, m, d,
                                    state->dims == 1 && dkm_number_is_integer(state->number)));
    snprintf(file->about, sizeof file->about, "idx, %s, %d dimension%s%s",
             dkm_number_name(state->number), state->dims, state->dims == 1 ? "" : "s",
             gzdirect(state->stream) ? "" : ", gzip");
out:
    return local;
}

static dkm_local idx_open_mine(dkm_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx present = 0;
    idx *state;

    DKM_STEP(dkm_path_readable(file->ctx, file->path, &present));
    DKM_STEP(dkm_calloc(file->ctx, 1, &state));
    file->state = state;
    DKM_STEP(dkm_alloc(file->ctx, BUFFER_BYTES, &state->buffer));
    state->stream = gzopen(dkm_spool_path(file->path), "rb");
    if (!state->stream) {
        local = dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
        goto out;
    }
    DKM_STEP(read_header(file, present));
out:
    return local;
}

static dkm_status idx_open(dkm_file *file)
{
    return dkm_agree(file->ctx, idx_open_mine(file));
}

/* Read n numbers that follow each other, from number @p from of the file on. */
static dkm_local read_run(dkm_file *file, dkm_idx from, dkm_idx n, double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    idx *state = file->state;
    dkm_idx bytes = dkm_number_bytes(state->number), most = BUFFER_BYTES / bytes;

    for (dkm_idx k = 0; k < n; k += most) {
        dkm_idx part = n - k < most ? n - k : most;
        DKM_STEP(
            idx_read_bytes(file, state->offset + (from + k) * bytes, part * bytes, state->buffer));
        if (dkm_number_low_first())
            dkm_numbers_swap(state->number, state->buffer, part);
        dkm_numbers_convert(state->number, state->buffer, 1, part, values + k, 1);
    }
out:
    return local;
}

static dkm_local idx_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                          dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = file->d, width = c1 - c0;

    DKM_STEP(dkm_objs_init(objs, file->ctx, file->type, count, width, 0));
    if (step == 1 && width == d)
        DKM_STEP(read_run(file, first * d, count * d, objs->values));
    else
        for (dkm_idx i = 0; i < count; i++)
            DKM_STEP(read_run(file, (first + i * step) * d + c0, width, objs->values + i * width));
    DKM_STEP(dkm_dense_check(file, first, step, c0, objs));
out:
    return local;
}

static void idx_close(dkm_file *file)
{
    idx *state = file->state;

    if (state && state->stream)
        gzclose_r(state->stream);
    if (state)
        DKM_FREE(state->buffer);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_idx = {
    .name = "idx",
    .endings = ".idx -ubyte .idx.gz -ubyte.gz",
    .open = idx_open,
    .read = idx_read,
    .close = idx_close,
};
