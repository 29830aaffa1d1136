#include "data/builder.h"

#include <string.h>

#include "core/alloc.h"

#define FIRST_CAPACITY 256

dkm_local dkm_builder_begin(dkm_builder *g, dkm_objs *objs, dkm_ctx *ctx, dkm_type type, dkm_idx n,
                            dkm_idx d)
{
    *g = (dkm_builder){.objs = objs, .capacity = FIRST_CAPACITY};
    return dkm_objs_init(objs, ctx, type, n, d, g->capacity);
}

static dkm_local set_capacity(dkm_builder *g, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_objs *o = g->objs;

    if (o->bytes)
        DKM_STEP(dkm_realloc(o->ctx, capacity, &o->bytes));
    if (o->col)
        DKM_STEP(dkm_realloc(o->ctx, capacity, &o->col));
    if (o->val)
        DKM_STEP(dkm_realloc(o->ctx, capacity, &o->val));
    g->capacity = capacity;
out:
    return local;
}

static dkm_local builder_need(dkm_builder *g, dkm_idx more)
{
    dkm_idx capacity = g->capacity;

    if (g->used + more <= capacity)
        return DKM_LOCAL_OK;
    while (capacity < g->used + more)
        capacity *= 2;
    return set_capacity(g, capacity);
}

dkm_local dkm_builder_entry(dkm_builder *g, dkm_idx col, double val)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(builder_need(g, 1));
    g->objs->col[g->used] = col;
    if (g->objs->val)
        g->objs->val[g->used] = val;
    g->used++;
out:
    return local;
}

dkm_local dkm_builder_bytes(dkm_builder *g, const char *bytes, dkm_idx length)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(builder_need(g, length));
    memcpy(g->objs->bytes + g->used, bytes, (size_t)length);
    g->used += length;
out:
    return local;
}

void dkm_builder_next(dkm_builder *g)
{
    g->objs->start[++g->made] = g->used;
}

dkm_local dkm_builder_end(dkm_builder *g)
{
    return set_capacity(g, g->used);
}
