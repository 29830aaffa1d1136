#include "kernel/panel.h"

#include "core/alloc.h"
#include "scalapack/whole.h"

#define WORTH_KEEPING                                                                              \
    16 /* numbers of an object, and objects, below which whole numbers gain nothing */

static const dkm_data *slot_data(const dkm_panel *panel, dkm_idx slot)
{
    return dkm_slot_data(&panel->of->slot[slot], panel->side);
}

static int uses_slot(const dkm_panel *panel, dkm_idx slot)
{
    for (dkm_idx i = 0; i < panel->root->size; i++)
        if (panel->root[i].slot == slot)
            return 1;
    return 0;
}

static int wants_single(const dkm_panel *panel, const dkm_objs *objs)
{
    return panel->precision == DKM_F32 && objs->type == DKM_DENSE && objs->d > 0;
}

static int may_be_whole(const dkm_panel *panel, const dkm_objs *objs)
{
    return dkm_whole_pays() && objs->type == DKM_DENSE && objs->d >= WORTH_KEEPING &&
           panel->capacity >= WORTH_KEEPING;
}

/* Room for whole numbers in every slot that may hold some. */
static dkm_local open_whole(dkm_panel *panel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = panel->of->ctx;
    dkm_idx widest = 0;

    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++) {
        const dkm_objs *objs = uses_slot(panel, s) ? &slot_data(panel, s)->mine : NULL;
        dkm_idx width = objs ? dkm_whole_width(objs->d) : 0;
        if (!objs || !may_be_whole(panel, objs))
            continue;
        DKM_STEP(dkm_alloc(ctx, panel->capacity * width, &panel->whole[s].rows));
        widest = width > widest ? width : widest;
    }
    if (panel->side == DKM_ROWS && widest > 0)
        DKM_STEP(dkm_alloc(ctx, dkm_whole_room(widest), &panel->room));
out:
    return local;
}

/* A panel without room for values in other forms than they have. */
static dkm_local open_plain(dkm_panel *panel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = panel->of->ctx;
    const dkm_kernel *k = panel->of->kernel;

    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->objs));
    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->single));
    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->whole));
    DKM_STEP(dkm_alloc(ctx, panel->capacity * k->nodes, &panel->self));
out:
    return local;
}

dkm_local dkm_panel_open(dkm_panel *panel, const dkm_prepared *of, const dkm_node *root,
                         dkm_side side, dkm_precision precision, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;

    *panel = (dkm_panel){
        .of = of, .root = root, .precision = precision, .side = side, .capacity = capacity};
    DKM_STEP(open_plain(panel));
    for (dkm_idx s = 0; s < of->kernel->slots; s++)
        if (uses_slot(panel, s) && wants_single(panel, &slot_data(panel, s)->mine))
            DKM_STEP(dkm_alloc(of->ctx, capacity * slot_data(panel, s)->mine.d, &panel->single[s]));
    DKM_STEP(open_whole(panel));
out:
    return local;
}

static void release(dkm_panel *panel)
{
    for (dkm_idx s = 0; panel->objs && s < panel->of->kernel->slots; s++) {
        if (!panel->borrowed)
            dkm_objs_clear(&panel->objs[s]);
        panel->objs[s] = (dkm_objs){0};
    }
    panel->n = 0;
    panel->borrowed = 0;
}

static void convert(dkm_panel *panel, dkm_idx slot)
{
    dkm_objs *objs = &panel->objs[slot];
    for (dkm_idx i = 0; i < objs->n; i++) {
        float *restrict single = panel->single[slot] + i * objs->d;
        const double *restrict values = objs->values + i * dkm_objs_step(objs);
        for (dkm_idx k = 0; k < objs->d; k++)
            single[k] = (float)values[k];
    }
    if (panel->borrowed)
        objs->values = NULL;
    else
        DKM_FREE(objs->values);
}

/* Keep the values as whole numbers, as long as they are such. */
static void take_whole(const dkm_objs *objs, dkm_short *whole)
{
    dkm_idx width = dkm_whole_width(objs->d);

    whole->most = 0;
    for (dkm_idx i = 0; i < objs->n && whole->most >= 0; i++) {
        double most = dkm_whole_take(1, objs->d, objs->values + i * dkm_objs_step(objs),
                                     whole->rows + i * width);
        whole->most = most < 0 || most > whole->most ? most : whole->most;
    }
}

/* What tiles need beside the objects themselves. */
static void finish(dkm_panel *panel)
{
    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++) {
        if (panel->whole[s].rows)
            take_whole(&panel->objs[s], &panel->whole[s]);
        if (panel->single[s])
            convert(panel, s);
    }
    for (dkm_idx i = panel->root->size - 1; i >= 0; i--)
        panel->root[i].kind->self(&panel->root[i], panel);
}

static dkm_objs view(const dkm_objs *objs, dkm_idx first, dkm_idx count)
{
    dkm_objs v = *objs;

    v.n = count;
    if (v.values)
        v.values += first * dkm_objs_step(&v);
    if (v.start)
        v.start += first;
    if (v.extra)
        v.extra += first * v.extras;
    return v;
}

void dkm_panel_look(dkm_panel *panel, dkm_idx first, dkm_idx count)
{
    release(panel);
    panel->borrowed = 1;
    panel->n = count;
    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++)
        if (uses_slot(panel, s))
            panel->objs[s] = view(&slot_data(panel, s)->mine, first, count);
    finish(panel);
}

dkm_local dkm_panel_selves(dkm_panel *panel, const dkm_prepared *of)
{
    dkm_local local = DKM_LOCAL_OK;

    *panel = (dkm_panel){
        .of = of, .root = of->kernel->node, .side = DKM_ROWS, .capacity = of->X->mine.n};
    panel->precision = DKM_F64;
    DKM_STEP(open_plain(panel));
    dkm_panel_look(panel, 0, panel->capacity);
out:
    return local;
}

static int consecutive(dkm_idx count, const dkm_idx *wanted)
{
    for (dkm_idx k = 1; k < count; k++)
        if (wanted[k] != wanted[0] + k)
            return 0;
    return count > 0;
}

dkm_status dkm_panel_fill(dkm_panel *panel, dkm_idx count, const dkm_idx *wanted)
{
    dkm_status status = DKM_OK;

    if (dkm_ctx_size(panel->of->ctx) == 1 && consecutive(count, wanted)) {
        dkm_panel_look(panel, wanted[0], count);
        return DKM_OK;
    }
    release(panel);
    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++)
        if (uses_slot(panel, s))
            DKM_TRY(dkm_data_fetch(slot_data(panel, s), count, wanted, &panel->objs[s]));
    panel->n = count;
    finish(panel);
out:
    return status;
}

void dkm_panel_self_extra(const dkm_node *node, dkm_panel *panel)
{
    const dkm_objs *X = dkm_panel_objs(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_self(panel, node)[i] = X->extra[i];
}

const void *dkm_panel_values(const dkm_panel *panel, const dkm_node *node, dkm_idx i)
{
    const dkm_objs *objs = &panel->objs[node->slot];

    if (panel->single[node->slot])
        return panel->single[node->slot] + i * objs->d;
    return objs->values + i * dkm_objs_step(objs);
}

dkm_idx dkm_panel_step(const dkm_panel *panel, const dkm_node *node)
{
    const dkm_objs *objs = &panel->objs[node->slot];

    return panel->single[node->slot] ? objs->d : dkm_objs_step(objs);
}

void dkm_panel_close(dkm_panel *panel)
{
    if (!panel->of)
        return;
    release(panel);
    for (dkm_idx s = 0; panel->single && s < panel->of->kernel->slots; s++)
        DKM_FREE(panel->single[s]);
    for (dkm_idx s = 0; panel->whole && s < panel->of->kernel->slots; s++)
        DKM_FREE(panel->whole[s].rows);
    DKM_FREE(panel->room);
    DKM_FREE(panel->whole);
    DKM_FREE(panel->objs);
    DKM_FREE(panel->single);
    DKM_FREE(panel->self);
    panel->of = NULL;
}
