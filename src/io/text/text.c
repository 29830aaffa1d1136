#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "core/alloc.h"
#include "io/path.h"
#include "io/stream/spool.h"
#include "io/text/records.h"

#define FIRST_CAPACITY (256 << 10)
#define MIN_CAPACITY   4096
#define LINE_BYTES     ((dkm_idx)32 << 20) /* of a gzipped file, and 4 times its own bytes */
#define MAX_AT_ONCE    (1 << 30)

static dkm_local text_report_failure(dkm_text *text)
{
    int code = Z_OK;
    const char *reason = gzerror(text->stream, &code);

    if (code == Z_ERRNO)
        return dkm_fail(text->ctx, DKM_ERR_IO, "%s: %s", text->path, strerror(errno));
    return dkm_fail(text->ctx, DKM_ERR_FORMAT, "%s is cut short or damaged (%s): get it again",
                    text->path, reason);
}

/* Read as much as fits in the buffer, and zlib takes at once. */
static dkm_local read_more(dkm_text *text)
{
    dkm_idx left = text->capacity - 1 - text->have,
            capacity = left < MAX_AT_ONCE ? left : MAX_AT_ONCE;
    int got = gzread(text->stream, text->buffer + text->have, (unsigned)capacity), code = Z_OK;

    gzerror(text->stream, &code);
    if (got < 0 || (got < capacity && code != Z_OK && code != Z_STREAM_END))
        return text_report_failure(text);
    text->have += got;
    text->ended = got < capacity;
    return DKM_LOCAL_OK;
}

dkm_local dkm_text_tell_long(const dkm_text *text, dkm_idx number)
{
    return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                    "%s:%lld: a line of more than %lld bytes out of a gzipped file this small: if "
                    "that is right, unpack the file with gunzip",
                    text->path, (long long)number, (long long)text->most);
}

/* Free the buffer but for the line that is only there in part, and read on. */
static dkm_local text_refill(dkm_text *text)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx rest = text->have - text->at;

    memmove(text->buffer, text->buffer + text->at, (size_t)rest);
    text->base += text->at;
    text->have = rest;
    text->at = 0;
    if (rest > text->most)
        DKM_STEP(dkm_text_tell_long(text, text->number + 1));
    if (rest > text->capacity / 2 && text->capacity < text->most) {
        dkm_idx capacity = 2 * text->capacity < text->most ? 2 * text->capacity : text->most + 2;
        DKM_STEP(dkm_realloc(text->ctx, capacity, &text->buffer));
        text->capacity = capacity;
    }
    DKM_STEP(read_more(text));
out:
    return local;
}

dkm_local dkm_text_open(dkm_text *text, dkm_ctx *ctx, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = 0;

    *text = (dkm_text){.ctx = ctx, .path = path, .capacity = FIRST_CAPACITY};
    DKM_STEP(dkm_path_readable(ctx, path, &bytes));
    text->stream = gzopen(dkm_spool_path(path), "rb");
    if (!text->stream) {
        local = dkm_fail(ctx, DKM_ERR_IO, "%s: %s", path, strerror(errno));
        goto out;
    }
    text->most = gzdirect(text->stream) ? INT64_MAX - 2 : LINE_BYTES + 4 * bytes;
    if (gzdirect(text->stream) && bytes < text->capacity)
        text->capacity =
            bytes < MIN_CAPACITY ? MIN_CAPACITY + 2 : bytes + 2; /* all, and a zero behind */
    DKM_STEP(dkm_alloc(ctx, text->capacity, &text->buffer));
    DKM_STEP(read_more(text));
    if (text->have >= 3 && memcmp(text->buffer, "\xef\xbb\xbf", 3) == 0)
        text->at = text->start = 3;
out:
    return local;
}

dkm_local dkm_text_seek(dkm_text *text, dkm_idx offset, dkm_idx number)
{
    if (offset < text->start)
        offset = text->start;
    text->number = number - 1;
    text->again = 0;
    if (offset >= text->base + text->at && offset <= text->base + text->have) {
        text->at = offset - text->base;
        return DKM_LOCAL_OK;
    }
    if (gzseek(text->stream, (z_off_t)offset, SEEK_SET) < 0)
        return text_report_failure(text);
    text->base = offset;
    text->have = text->at = 0;
    return read_more(text);
}

static void give_line(dkm_text *text, dkm_idx length, int ended)
{
    text->line = text->buffer + text->at;
    text->offset = text->base + text->at;
    text->number++;
    text->at += length + ended;
    if (ended && length > 0 && text->line[length - 1] == '\r')
        length--;
    text->line[length] = '\0';
    text->length = length;
}

dkm_local dkm_text_next(dkm_text *text, char **line, dkm_idx *length)
{
    dkm_local local = DKM_LOCAL_OK;
    char *end = NULL;

    while (!text->again) {
        dkm_idx left = text->have - text->at;
        end = memchr(text->buffer + text->at, '\n', (size_t)left);
        if (end || (text->ended && left > 0)) {
            give_line(text, end ? end - (text->buffer + text->at) : left, end != NULL);
            break;
        }
        if (text->ended) {
            text->line = NULL;
            text->length = 0;
            break;
        }
        DKM_STEP(text_refill(text));
    }
out:
    text->again = 0;
    *line = local.code == DKM_OK ? text->line : NULL;
    *length = text->length;
    return local;
}

void dkm_text_again(dkm_text *text)
{
    text->again = 1;
}

void dkm_text_close(dkm_text *text)
{
    if (text->stream)
        gzclose_r(text->stream);
    DKM_FREE(text->buffer);
    *text = (dkm_text){0};
}
