#include "data/pack.h"

#include <string.h>

#define PARTS 3

typedef struct parts {
    char *at[PARTS];
    dkm_idx bytes[PARTS];
} parts;

static parts find_parts(const dkm_objs *objs, dkm_idx i)
{
    parts p = {{NULL}, {0}};
    dkm_idx number = (dkm_idx)sizeof(double), from = 0, items = 0;

    if (objs->values) {
        p.at[0] = (char *)(objs->values + i * dkm_objs_step(objs));
        p.bytes[0] = objs->d * number;
    } else {
        from = objs->start[i];
        items = objs->start[i + 1] - from;
    }
    if (objs->bytes) {
        p.at[0] = objs->bytes + from;
        p.bytes[0] = items;
    }
    if (objs->col) {
        p.at[0] = (char *)(objs->col + from);
        p.bytes[0] = items * (dkm_idx)sizeof *objs->col;
    }
    if (objs->val) {
        p.at[1] = (char *)(objs->val + from);
        p.bytes[1] = items * number;
    }
    if (objs->extra) {
        p.at[2] = (char *)(objs->extra + i * objs->extras);
        p.bytes[2] = objs->extras * number;
    }
    return p;
}

dkm_idx dkm_pack_bytes(const dkm_objs *objs, dkm_idx i)
{
    parts p = find_parts(objs, i);

    return p.bytes[0] + p.bytes[1] + p.bytes[2];
}

/* The next range of memory that the stream runs through, at most n bytes; NULL when n is 0. */
static char *next_range(const dkm_objs *objs, const dkm_idx *indices, dkm_pack_cursor *at,
                        dkm_idx n, dkm_idx *bytes)
{
    while (n > 0) {
        parts p = find_parts(objs, indices[at->k]);
        for (; at->part < PARTS; at->part++, at->done = 0) {
            dkm_idx left = p.bytes[at->part] - at->done;
            if (left == 0)
                continue;
            *bytes = left < n ? left : n;
            at->done += *bytes;
            return p.at[at->part] + at->done - *bytes;
        }
        at->k++;
        at->part = 0;
    }
    return NULL;
}

void dkm_pack_to_buffer(const dkm_objs *objs, const dkm_idx *indices, dkm_pack_cursor *at,
                        dkm_idx n, char *buffer)
{
    dkm_idx bytes = 0;
    char *range;

    for (; (range = next_range(objs, indices, at, n, &bytes)) != NULL; n -= bytes) {
        memcpy(buffer, range, (size_t)bytes);
        buffer += bytes;
    }
}

void dkm_unpack_from_buffer(dkm_objs *objs, const dkm_idx *indices, dkm_pack_cursor *at, dkm_idx n,
                            const char *buffer)
{
    dkm_idx bytes = 0;
    char *range;

    for (; (range = next_range(objs, indices, at, n, &bytes)) != NULL; n -= bytes) {
        memcpy(range, buffer, (size_t)bytes);
        buffer += bytes;
    }
}

void dkm_pack_copy_object(const dkm_objs *from, dkm_idx i, dkm_objs *to, dkm_idx j)
{
    parts source = find_parts(from, i), target = find_parts(to, j);

    for (int p = 0; p < PARTS; p++)
        if (source.bytes[p] > 0)
            memcpy(target.at[p], source.at[p], (size_t)source.bytes[p]);
}
