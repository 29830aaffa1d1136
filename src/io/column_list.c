#include "io/column_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

/* A list takes memory before a value was read, and the number of columns is what a header says. */
#define COLUMNS_MAX (1 << 20)

#define LISTED 200 /* bytes of names that a message shows */

dkm_idx dkm_column_find(const dkm_file *file, const char *name, size_t length)
{
    for (dkm_idx c = 0; file->names && c < file->d; c++)
        if (strlen(file->names[c]) == length && strncmp(file->names[c], name, length) == 0)
            return c;
    return -1;
}

/* An integer that fills [at, end), or nothing there. */
static int take_place(const char *at, const char *end, dkm_idx size, dkm_idx missing,
                      dkm_idx *place)
{
    char *after;
    long long value = strtoll(at, &after, 10);

    while (after < end && *after == ' ')
        after++;
    if (after > end || (after == at && at < end) || value > size)
        return 0;
    *place = after == at ? missing : value < 0 ? (dkm_idx)value + size : (dkm_idx)value;
    return after == end;
}

/* A name, a number, or first:last. @return 0 when it is none of them, or outside */
static int take_item(const dkm_file *file, const char *at, const char *end, dkm_idx *first,
                     dkm_idx *last)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));

    *first = dkm_column_find(file, at, (size_t)(end - at));
    *last = *first + 1;
    if (*first >= 0)
        return 1;
    if (at == end)
        return 0;
    if (!colon) {
        if (!take_place(at, end, file->d, 0, first))
            return 0;
        *last = *first + 1;
    } else if (!take_place(at, colon, file->d, 0, first) ||
               !take_place(colon + 1, end, file->d, file->d, last)) {
        return 0;
    }
    return *first >= 0 && *first <= *last && *last <= file->d;
}

static dkm_local refuse_item(const dkm_file *file, const char *where, const char *at, int length)
{
    char names[LISTED] = "";
    size_t used = 0;

    for (dkm_idx c = 0; file->names && c < file->d && used < sizeof names; c++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", c ? ", " : "",
                                 file->names[c]);
    if (!file->names)
        return dkm_fail(file->ctx, DKM_ERR_ARG,
                        "%s: there is no column '%.*s': it has %lld, and no names in a first line",
                        where, length, at, (long long)file->d);
    return dkm_fail(file->ctx, DKM_ERR_ARG, "%s: there is no column '%.*s': it has %lld, %s%s",
                    where, length, at, (long long)file->d, names,
                    used >= sizeof names ? "..." : "");
}

static const char *trim(const char *at, const char **end)
{
    while (*at == ' ')
        at++;
    while (*end > at && (*end)[-1] == ' ')
        --*end;
    return at;
}

/* Call for each item: count columns, note them in order, or mark those left out. */
static dkm_local walk(const dkm_file *file, const char *where, const char *list, dkm_idx *count,
                      dkm_idx *pick, char *out, int *negated, int *plain)
{
    const char *at = list;

    *count = 0;
    *negated = *plain = 0;
    for (int more = 1; more;) {
        const char *end = at + strcspn(at, ","), *begin, *next = end;
        dkm_idx first, last;
        more = *end == ',';
        begin = trim(at, &end);
        int left_out = *begin == '!';
        if (!take_item(file, begin + left_out, end, &first, &last))
            return refuse_item(file, where, begin + left_out, (int)(end - begin) - left_out);
        *negated += left_out;
        *plain += !left_out;
        for (dkm_idx c = first; c < last; c++) {
            if (left_out && out)
                out[c] = 1;
            if (!left_out && pick)
                pick[*count] = c;
            *count += !left_out;
        }
        at = next + 1;
    }
    return DKM_LOCAL_OK;
}

dkm_local dkm_column_list(const dkm_file *file, const char *where, const char *list, dkm_idx *count,
                          dkm_idx **pick)
{
    dkm_local local = DKM_LOCAL_OK;
    int negated = 0, plain = 0;
    char *out = NULL;

    *pick = NULL;
    if (file->d > COLUMNS_MAX)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG,
                          "%s has %lld columns, and lists are for %d at most; write first:last",
                          where, (long long)file->d, COLUMNS_MAX));
    DKM_STEP(dkm_calloc(file->ctx, file->d, &out));
    DKM_STEP(walk(file, where, list, count, NULL, out, &negated, &plain));
    if (*count > COLUMNS_MAX)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG, "%s lists %lld columns, and %d are the most",
                          where, (long long)*count, COLUMNS_MAX));
    if (negated && plain)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG,
                          "%s: name the columns to take, or those to leave out by !, not both",
                          where));
    DKM_STEP(dkm_alloc(file->ctx, negated ? file->d : *count, pick));
    if (plain)
        DKM_STEP(walk(file, where, list, count, *pick, NULL, &negated, &plain));
    for (dkm_idx c = 0; !plain && c < file->d; c++)
        if (!out[c])
            (*pick)[(*count)++] = c;
    if (*count == 0)
        local = dkm_fail(file->ctx, DKM_ERR_ARG, "%s: no columns are left", where);
out:
    DKM_FREE(out);
    return local;
}
