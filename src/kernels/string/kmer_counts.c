#include "kernels/string/kmer_counts.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "kernels/evaluation/sparse_dot.h"

dkm_local dkm_counts_open(dkm_counts *c, dkm_ctx *ctx, dkm_idx n, dkm_idx most, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;

    *c = (dkm_counts){.objs = objs, .capacity = most};
    DKM_STEP(dkm_objs_init(objs, ctx, DKM_SPARSE, n, 0, most));
    DKM_STEP(dkm_objs_add_extra(objs, 1));
    DKM_STEP(dkm_alloc(ctx, most, &c->code));
out:
    return local;
}

void dkm_counts_close(dkm_counts *c)
{
    DKM_FREE(c->code);
}

static int kmer_counts_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Memory for @p more entries after those there are. */
static dkm_local reserve(dkm_counts *c, dkm_idx used, dkm_idx more)
{
    dkm_local local = DKM_LOCAL_OK;

    if (used + more <= c->capacity)
        return local;
    c->capacity = 2 * (used + more);
    DKM_STEP(dkm_realloc(c->objs->ctx, c->capacity, &c->objs->col));
    DKM_STEP(dkm_realloc(c->objs->ctx, c->capacity, &c->objs->val));
out:
    return local;
}

dkm_local dkm_counts_add(dkm_counts *c, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_objs *o = c->objs;
    dkm_idx used = o->start[c->done];

    DKM_STEP(reserve(c, used, count));
    qsort(c->code, (size_t)count, sizeof *c->code, kmer_counts_compare);
    for (dkm_idx k = 0, end; k < count; k = end, used++) {
        for (end = k + 1; end < count && c->code[end] == c->code[k];)
            end++;
        o->col[used] = (dkm_idx)c->code[k];
        o->val[used] = (double)(end - k);
        o->extra[c->done] += o->val[used] * o->val[used];
    }
    o->start[++c->done] = used;
out:
    return local;
}

dkm_local dkm_counts_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    return dkm_sparse_dot_tile(DKM_SPARSE_PRODUCT, dkm_panel_objs(task->A, node), task->a,
                               dkm_panel_objs(task->B, node), task->b, C);
}
