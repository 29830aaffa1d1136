#include "kernels/discrete/set_lists.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/evaluation/object_hash.h"
#include "kernels/evaluation/sparse_dot.h"

static int set_lists_compare(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return x < y ? -1 : x > y;
}

static dkm_idx set_lists_sort_unique(dkm_idx *ids, dkm_idx count)
{
    dkm_idx distinct = 0;

    qsort(ids, (size_t)count, sizeof *ids, set_lists_compare);
    for (dkm_idx k = 0; k < count; k++)
        if (distinct == 0 || ids[distinct - 1] != ids[k])
            ids[distinct++] = ids[k];
    return distinct;
}

/* A number for a word: itself when short, which is below 2^59, else a hash above that. */
static dkm_idx word_id(const char *word, dkm_idx length)
{
    uint64_t id = (uint64_t)length;

    if (length > 7)
        return (dkm_idx)(dkm_hash_bytes(word, length) | (uint64_t)1 << 63);
    for (dkm_idx k = 0; k < length; k++)
        id = id << 8 | (unsigned char)word[k];
    return (dkm_idx)id;
}

static dkm_idx split_words(const char *text, dkm_idx length, dkm_idx *ids)
{
    dkm_idx count = 0;

    for (dkm_idx at = 0; at < length;) {
        const char *blank = memchr(text + at, ' ', (size_t)(length - at));
        dkm_idx end = blank ? blank - text : length;
        if (end > at)
            ids[count++] = word_id(text + at, end - at);
        at = end + 1;
    }
    return count;
}

/* The members of object i, unsorted. */
static dkm_idx list_members(const dkm_objs *X, dkm_idx i, dkm_idx *ids)
{
    dkm_idx count;

    if (X->values) {
        ids[0] = (dkm_idx)X->values[i];
        return 1;
    }
    count = X->start[i + 1] - X->start[i];
    if (X->bytes)
        return split_words(X->bytes + X->start[i], count, ids);
    memcpy(ids, X->col + X->start[i], (size_t)count * sizeof *ids);
    return count;
}

static dkm_idx most_members(const dkm_objs *X)
{
    if (X->values)
        return X->n;
    return X->start[X->n] - X->start[0];
}

dkm_local dkm_sets_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    (void)node;
    DKM_STEP(dkm_objs_init(out, X->ctx, DKM_LABEL_SETS, X->n, 0, most_members(X)));
    DKM_STEP(dkm_objs_add_extra(out, 1));
    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx *ids = out->col + out->start[i];
        dkm_idx count = set_lists_sort_unique(ids, list_members(X, i, ids));
        out->start[i + 1] = out->start[i] + count;
        out->extra[i] = (double)count;
    }
out:
    return local;
}

dkm_local dkm_sets_intersect(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    return dkm_sparse_dot_tile(DKM_SPARSE_PRODUCT, dkm_panel_objs(task->A, node), task->a,
                               dkm_panel_objs(task->B, node), task->b, C);
}
