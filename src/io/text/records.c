/* Where the records of a text file start. The bytes of a plain file are cut into one range per
 * rank; a line belongs to the rank in whose range it begins. Each rank notes a record about every
 * SPACING bytes, counting its own records and lines from 0; sums over the ranks before it make
 * those counts global. */
#include "io/text/records.h"

#include <string.h>
#include <zlib.h>

#include "core/alloc.h"
#include "io/path.h"

#define SPACING (256 << 10)
#define CHUNK   (1 << 20)

typedef struct scan {
    dkm_records *records;
    const char *path;
    const dkm_text *text;
    gzFile stream;
    dkm_idx number; /* of the first line */
    char *chunk;
    int chunk_bytes;        /* no more than the file has, and one to see its end */
    dkm_idx first;          /* byte of all that is scanned */
    dkm_idx low, high;      /* lines that begin in [low, high) are ours */
    dkm_idx lines, found;   /* lines begun, records among them */
    dkm_idx line;           /* offset of the line we are in */
    int in_line, undecided; /* a line of ours goes on; it may yet be a record */
    dkm_idx capacity;
} scan;

/* Whether a line whose first byte, or first byte that is not blank, is c begins a record. */
static int begins(dkm_records_kind kind, char c)
{
    if (kind == DKM_RECORDS_HEADED)
        return c == '>';
    return kind == DKM_RECORDS_LINES ||
           (c != '#' && (c != '\n' || kind == DKM_RECORDS_UNCOMMENTED));
}

static int passes_over(dkm_records_kind kind, char c)
{
    return kind == DKM_RECORDS_FILLED && (c == ' ' || c == '\t' || c == '\r');
}

int dkm_records_begins(dkm_records_kind kind, const char *line, dkm_idx length)
{
    dkm_idx k = 0;

    while (k < length && passes_over(kind, line[k]))
        k++;
    return begins(kind, k < length ? line[k] : '\n');
}

static dkm_local note_record(scan *s)
{
    dkm_records *r = s->records;
    dkm_local local = DKM_LOCAL_OK;

    if (r->marked == 0 || s->line - r->marks[r->marked - 1].offset >= SPACING) {
        if (r->marked == s->capacity) {
            s->capacity = 2 * s->capacity + 8;
            DKM_STEP(dkm_realloc(r->ctx, s->capacity, &r->marks));
        }
        r->marks[r->marked++] = (dkm_records_mark){s->found, s->line, s->lines - 1};
    }
    s->found++;
out:
    return local;
}

/* Go over n bytes at @p offset of the file; done when a line begins past the range. */
static dkm_local scan_bytes(scan *s, const char *bytes, dkm_idx n, dkm_idx offset, int *done)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_records_kind kind = s->records->kind;

    for (dkm_idx k = 0; k < n; k++) {
        if (!s->in_line) {
            s->line = offset + k;
            *done = s->line >= s->high;
            if (*done)
                break;
            s->lines++;
            s->in_line = s->undecided = 1;
        }
        if (s->undecided && !passes_over(kind, bytes[k])) {
            s->undecided = 0;
            if (begins(kind, bytes[k]))
                DKM_STEP(note_record(s));
        }
        if (!s->undecided || bytes[k] == '\n') {
            const char *end = memchr(bytes + k, '\n', (size_t)(n - k));
            k = end ? end - bytes : n;
            s->in_line = end == NULL;
        }
    }
out:
    return local;
}

static dkm_local scan_range(scan *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx offset = s->low > s->first ? s->low - 1 : s->low;
    int got = 0, done = s->low >= s->high, code = Z_OK;

    /* the byte before the range shows whether a line begins with it: that line is not ours */
    s->in_line = s->low > s->first;
    if (!done && gzseek(s->stream, (z_off_t)offset, SEEK_SET) < 0)
        goto torn;
    for (; !done; offset += got) {
        got = gzread(s->stream, s->chunk, (unsigned)s->chunk_bytes);
        gzerror(s->stream, &code);
        if (got < 0 || code == Z_BUF_ERROR)
            goto torn;
        DKM_STEP(scan_bytes(s, s->chunk, got, offset, &done));
        if (s->in_line && offset + got - s->line > s->text->most)
            DKM_STEP(dkm_text_tell_long(s->text, s->number + s->lines - 1));
        done |= got < s->chunk_bytes;
    }
    goto out;
torn:
    local =
        dkm_fail(s->records->ctx, DKM_ERR_FORMAT, "%s is cut short or damaged (%s): get it again",
                 s->path, gzerror(s->stream, &code));
out:
    return local;
}

/* A gzipped file cannot be entered in the middle: rank 0 takes all of it. */
static void choose_range(scan *s, dkm_idx offset, dkm_idx bytes)
{
    dkm_ctx *ctx = s->records->ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx span = bytes > offset ? bytes - offset : 0;

    s->first = offset;
    if (gzdirect(s->stream)) {
        s->low = offset + span / size * rank + (rank < span % size ? rank : span % size);
        s->high = s->low + span / size + (rank < span % size);
    } else {
        s->low = rank == 0 ? offset : INT64_MAX;
        s->high = INT64_MAX;
    }
}

static dkm_local scan_mine(scan *s, dkm_idx offset)
{
    dkm_ctx *ctx = s->records->ctx;
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    dkm_idx bytes = 0;

    DKM_STEP(dkm_path_readable(ctx, s->path, &bytes));
    DKM_STEP(dkm_text_open(&text, ctx, s->path));
    s->text = &text;
    s->stream = text.stream;
    s->chunk_bytes = !gzdirect(s->stream) || bytes >= CHUNK ? CHUNK
                     : bytes < 4096                         ? 4096
                                                            : (int)bytes + 1;
    DKM_STEP(dkm_alloc(ctx, s->chunk_bytes, &s->chunk));
    choose_range(s, offset > text.start ? offset : text.start, bytes);
    DKM_STEP(scan_range(s));
out:
    DKM_FREE(s->chunk);
    dkm_text_close(&text);
    return local;
}

/* Count records and lines over the file, with those before the scanned part. */
static void make_global(scan *s, dkm_idx number, int *counts, int *starts)
{
    dkm_records *r = s->records;
    dkm_idx mine[2] = {s->found, s->lines}, before[2] = {0, 0};
    int width = (int)(sizeof *r->marks / sizeof(dkm_idx)), marked = (int)r->marked * width;

    MPI_Exscan(mine, before, 2, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(r->ctx));
    if (dkm_ctx_rank(r->ctx) == 0)
        before[0] = before[1] = 0;
    for (dkm_idx k = 0; k < r->marked; k++) {
        r->marks[k].record += before[0];
        r->marks[k].number += before[1] + number;
    }
    MPI_Allreduce(&s->found, &r->count, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(r->ctx));
    MPI_Allgather(&marked, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(r->ctx));
    starts[0] = 0;
    for (int k = 1; k < dkm_ctx_size(r->ctx) + 1; k++)
        starts[k] = starts[k - 1] + counts[k - 1];
}

dkm_status dkm_records_index(dkm_records *records, dkm_ctx *ctx, const char *path,
                             dkm_records_kind kind, dkm_idx offset, dkm_idx number)
{
    dkm_status status = DKM_OK;
    scan s = {.records = records, .path = path, .number = number};
    int *counts = NULL, *starts, size = dkm_ctx_size(ctx);
    dkm_records_mark *all = NULL;
    dkm_idx width = (dkm_idx)(sizeof *all / sizeof(dkm_idx));

    *records = (dkm_records){.ctx = ctx, .kind = kind};
    DKM_AGREE(ctx, scan_mine(&s, offset));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * size + 1, &counts));
    starts = counts + size;
    make_global(&s, number, counts, starts);
    DKM_AGREE(ctx, dkm_alloc(ctx, starts[size] / width, &all));
    MPI_Allgatherv(records->marks, (int)(records->marked * width), MPI_INT64_T, all, counts, starts,
                   MPI_INT64_T, dkm_ctx_comm(ctx));
    DKM_FREE(records->marks);
    records->marks = all;
    records->marked = starts[size] / width;
    all = NULL;
out:
    DKM_FREE(all);
    DKM_FREE(counts);
    return status;
}

/* The last mark at or before record k. */
static const dkm_records_mark *mark_before(const dkm_records *records, dkm_idx k)
{
    dkm_idx low = 0, high = records->marked;

    while (high - low > 1) {
        dkm_idx middle = low + (high - low) / 2;
        if (records->marks[middle].record <= k)
            low = middle;
        else
            high = middle;
    }
    return &records->marks[low];
}

dkm_local dkm_records_seek(const dkm_records *records, dkm_text *text, dkm_idx next, dkm_idx k)
{
    const dkm_records_mark *mark = mark_before(records, k);
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    char *line;

    if (next < 0 || next > k || mark->record > next) {
        DKM_STEP(dkm_text_seek(text, mark->offset, mark->number));
        next = mark->record;
    }
    for (;;) {
        DKM_STEP(dkm_text_next(text, &line, &length));
        if (!line) {
            local = dkm_fail(text->ctx, DKM_ERR_IO, "%s has changed while it was read", text->path);
            goto out;
        }
        if (dkm_records_begins(records->kind, line, length) && next++ == k)
            break;
    }
    dkm_text_again(text);
out:
    return local;
}

void dkm_records_clear(dkm_records *records)
{
    DKM_FREE(records->marks);
    *records = (dkm_records){0};
}
