#include "export/export_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"

#define BUFFER_BYTES (1 << 20)
#define ROWS_BYTES   (1 << 20)
#define TEXT_BYTES   2048
#define EACH_LINE    10

dkm_status dkm_export_file_open(dkm_export_file *file, dkm_ctx *ctx, const char *path)
{
    dkm_status status = DKM_OK;

    *file = (dkm_export_file){.ctx = ctx, .local = DKM_LOCAL_OK};
    DKM_TRY(dkm_atomic_file_open(&file->out, ctx, path));
    DKM_AGREE(ctx,
              dkm_ctx_rank(ctx) == 0 ? dkm_alloc(ctx, BUFFER_BYTES, &file->buffer) : DKM_LOCAL_OK);
out:
    return status;
}

static void flush_buffer(dkm_export_file *file)
{
    if (file->local.code == DKM_OK)
        file->local = dkm_atomic_file_write(&file->out, file->at, file->buffer, file->used);
    file->at += file->used;
    file->used = 0;
}

void dkm_export_bytes(dkm_export_file *file, const void *bytes, dkm_idx count)
{
    const char *from = bytes;

    while (file->buffer && count > 0) {
        dkm_idx space = BUFFER_BYTES - file->used, part = count < space ? count : space;
        memcpy(file->buffer + file->used, from, (size_t)part);
        file->used += part;
        from += part;
        count -= part;
        if (file->used == BUFFER_BYTES)
            flush_buffer(file);
    }
}

void dkm_export_text(dkm_export_file *file, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if ((size_t)length < sizeof text)
        dkm_export_bytes(file, text, length);
    else if (file->local.code == DKM_OK)
        file->local = dkm_fail(file->ctx, DKM_ERR_SIZE, "a line of %d bytes in %s: at most %d fit",
                               length, file->out.path, TEXT_BYTES);
}

void dkm_export_numbers(dkm_export_file *file, dkm_idx count, const double *numbers)
{
    for (dkm_idx k = 0; file->buffer && k < count; k++)
        dkm_export_text(file, "%.17g,%c", numbers[k],
                        k + 1 == count || k % EACH_LINE == EACH_LINE - 1 ? '\n' : ' ');
}

void dkm_export_doubles(dkm_export_file *file, dkm_idx count, const double *numbers)
{
    for (dkm_idx k = 0; file->buffer && k < count; k++) {
        unsigned char bytes[8];
        uint64_t word;
        memcpy(&word, numbers + k, sizeof word);
        for (int b = 0; b < 8; b++)
            bytes[b] = (unsigned char)(word >> (8 * b));
        dkm_export_bytes(file, bytes, sizeof bytes);
    }
}

/* Rows that rank 0 has got, one by one. */
static dkm_local
write_rows(dkm_export_file *file, const dkm_objs *got, const dkm_row_transform *transform,
           void (*write)(dkm_export_file *file, dkm_idx count, const double *numbers))
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *rows = got;
    dkm_objs changed = {0};

    if (transform && !dkm_row_transform_is_identity(transform)) {
        DKM_STEP(dkm_row_transform_apply(transform, got, &changed));
        rows = &changed;
    }
    for (dkm_idx i = 0; i < rows->n; i++)
        write(file, rows->d, rows->values + i * dkm_objs_step(rows));
out:
    dkm_objs_clear(&changed);
    return local;
}

dkm_status
dkm_export_rows(dkm_export_file *file, const dkm_data *rows, const dkm_row_transform *transform,
                void (*write)(dkm_export_file *file, dkm_idx count, const double *numbers))
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(rows), d = dkm_data_cols(rows), *indices = NULL;
    dkm_idx each = ROWS_BYTES / 8 / (d > 0 ? d : 1) + 1;
    dkm_objs got = {0};

    each = each < m ? each : m;
    DKM_AGREE(file->ctx, dkm_alloc(file->ctx, each, &indices));
    for (dkm_idx first = 0; first < m; first += each) {
        dkm_idx count = m - first < each ? m - first : each;
        for (dkm_idx i = 0; i < count; i++)
            indices[i] = first + i;
        DKM_TRY(dkm_data_fetch(rows, dkm_ctx_rank(file->ctx) == 0 ? count : 0, indices, &got));
        if (file->local.code == DKM_OK)
            file->local = write_rows(file, &got, transform, write);
        dkm_objs_clear(&got);
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_export_file_commit(dkm_export_file *file)
{
    dkm_status status = DKM_OK;

    if (file->buffer)
        flush_buffer(file);
    DKM_AGREE(file->ctx, file->local);
    DKM_TRY(dkm_atomic_file_commit(&file->out));
out:
    return status;
}

void dkm_export_file_close(dkm_export_file *file)
{
    dkm_atomic_file_close(&file->out);
    DKM_FREE(file->buffer);
}
