/* Objects as lines of text. Each rank goes over its objects twice: first to count the bytes they
 * take, so that sums over the ranks before it say where they go, then to write them there through a
 * buffer of bounded size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/writers/sink.h"

#define BUFFER_BYTES (1 << 20)
#define NUMBER_BYTES 32 /* more than any number takes */

/* Where text goes: to the file at a place, or nowhere but into the count. */
typedef struct pen {
    dkm_sink *sink;
    char *buffer; /* NULL when only counting */
    dkm_idx used, at, count;
} pen;

static dkm_local sink_text_flush(pen *p)
{
    dkm_local local = DKM_LOCAL_OK;

    if (p->buffer)
        local = dkm_atomic_file_write(&p->sink->out, p->at, p->buffer, p->used);
    p->at += p->used;
    p->used = 0;
    return local;
}

static dkm_local sink_text_put(pen *p, const char *bytes, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;

    p->count += count;
    while (p->buffer && count > 0) {
        dkm_idx space = BUFFER_BYTES - p->used, part = count < space ? count : space;
        memcpy(p->buffer + p->used, bytes, (size_t)part);
        p->used += part;
        bytes += part;
        count -= part;
        if (p->used == BUFFER_BYTES)
            DKM_STEP(sink_text_flush(p));
    }
out:
    return local;
}

static dkm_local put_char(pen *p, char c)
{
    return sink_text_put(p, &c, 1);
}

static dkm_local put_int(pen *p, dkm_idx value)
{
    char text[NUMBER_BYTES];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int at = NUMBER_BYTES;

    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        text[--at] = '-';
    return sink_text_put(p, text + at, NUMBER_BYTES - at);
}

/* The fewest digits that read back as the same number. */
static dkm_local put_real(pen *p, double value)
{
    char text[NUMBER_BYTES];
    int length = 0;

    if (fabs(value) < 1e15 && value == floor(value) && (value != 0.0 || !signbit(value)))
        return put_int(p, (dkm_idx)value);
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (!isfinite(value) || strtod(text, NULL) == value)
            break;
    }
    return sink_text_put(p, text, length);
}

static dkm_local sink_text_put_row(pen *p, const dkm_objs *objs, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *row = objs->values + i * objs->d;

    for (dkm_idx j = 0; j < objs->d; j++) {
        if (j > 0)
            DKM_STEP(put_char(p, p->sink->writer->between));
        if (objs->type == DKM_LABELS)
            DKM_STEP(put_int(p, (dkm_idx)row[j]));
        else
            DKM_STEP(put_real(p, row[j]));
    }
out:
    return local;
}

static dkm_local put_labels(pen *p, const dkm_objs *objs, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = objs->start[i]; k < objs->start[i + 1]; k++) {
        if (k > objs->start[i])
            DKM_STEP(put_char(p, p->sink->writer->between));
        DKM_STEP(put_int(p, objs->col[k]));
    }
out:
    return local;
}

/* A field of a table in quotes, quotes inside of it doubled. */
static dkm_local put_quoted(pen *p, const char *bytes, dkm_idx length)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(put_char(p, '"'));
    for (dkm_idx k = 0; k < length; k++) {
        if (bytes[k] == '"')
            DKM_STEP(put_char(p, '"'));
        DKM_STEP(put_char(p, bytes[k]));
    }
    DKM_STEP(put_char(p, '"'));
out:
    return local;
}

static int needs_quotes(const dkm_writer *writer, const char *bytes, dkm_idx length)
{
    if (writer->between != ',' && writer->between != '\t')
        return 0;
    return length == 0 || bytes[0] == ' ' || bytes[length - 1] == ' ' || bytes[0] == '#' ||
           memchr(bytes, '"', (size_t)length) || memchr(bytes, writer->between, (size_t)length);
}

static dkm_local put_bytes(pen *p, const dkm_objs *objs, dkm_idx i)
{
    const char *bytes = objs->bytes + objs->start[i];
    dkm_idx length = objs->start[i + 1] - objs->start[i];

    if (memchr(bytes, '\n', (size_t)length))
        return dkm_fail(p->sink->ctx, DKM_ERR_UNSUPPORTED,
                        "%s: a string to be written holds a line break, which a file of lines "
                        "cannot hold",
                        p->sink->path);
    return needs_quotes(p->sink->writer, bytes, length) ? put_quoted(p, bytes, length)
                                                        : sink_text_put(p, bytes, length);
}

dkm_local dkm_sink_begin_table(dkm_sink *sink)
{
    static const char names[] = "prediction\n";

    if (sink->type != DKM_STRINGS)
        return DKM_LOCAL_OK;
    sink->end = (dkm_idx)strlen(names);
    return dkm_atomic_file_write(&sink->out, 0, names, sink->end);
}

static dkm_local put_object(pen *p, const dkm_objs *objs, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;

    if (objs->values)
        DKM_STEP(sink_text_put_row(p, objs, i));
    else if (objs->bytes)
        DKM_STEP(put_bytes(p, objs, i));
    else
        DKM_STEP(put_labels(p, objs, i));
    DKM_STEP(put_char(p, '\n'));
out:
    return local;
}

/* A row needs a label in front: 0 says nothing. Columns are counted from 1. */
static dkm_local put_svm_row(pen *p, const dkm_objs *objs, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(put_char(p, '0'));
    for (dkm_idx k = objs->start[i]; k < objs->start[i + 1]; k++) {
        DKM_STEP(put_char(p, ' '));
        DKM_STEP(put_int(p, objs->col[k] + 1));
        DKM_STEP(put_char(p, ':'));
        DKM_STEP(put_real(p, objs->val[k]));
    }
    DKM_STEP(put_char(p, '\n'));
out:
    return local;
}

typedef dkm_local put_one(pen *p, const dkm_objs *objs, dkm_idx i);

static dkm_local put_all(pen *p, const dkm_objs *objs, put_one *one)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < objs->n; i++)
        DKM_STEP(one(p, objs, i));
    DKM_STEP(sink_text_flush(p));
out:
    return local;
}

static dkm_status write_lines(dkm_sink *sink, const dkm_data *data, put_one *one)
{
    dkm_status status = DKM_OK;
    MPI_Comm comm = dkm_ctx_comm(sink->ctx);
    pen counting = {.sink = sink}, writing = {.sink = sink};
    dkm_idx before = 0, total = 0;

    DKM_AGREE(sink->ctx, dkm_alloc(sink->ctx, BUFFER_BYTES, &writing.buffer));
    DKM_AGREE(sink->ctx, put_all(&counting, &data->mine, one));
    MPI_Exscan(&counting.count, &before, 1, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(&counting.count, &total, 1, MPI_INT64_T, MPI_SUM, comm);
    writing.at = sink->end + (dkm_ctx_rank(sink->ctx) > 0 ? before : 0);
    DKM_AGREE(sink->ctx, put_all(&writing, &data->mine, one));
    sink->end += total;
out:
    DKM_FREE(writing.buffer);
    return status;
}

dkm_status dkm_sink_write_text(dkm_sink *sink, const dkm_data *data)
{
    return write_lines(sink, data, put_object);
}

dkm_status dkm_sink_write_svmlight(dkm_sink *sink, const dkm_data *data)
{
    return write_lines(sink, data, data->mine.type == DKM_LABEL_SETS ? put_object : put_svm_row);
}
