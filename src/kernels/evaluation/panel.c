#include "kernels/evaluation/panel.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/kernels/gemm_i16.h"
#include "linalg/kernels/gemm_tn.h"
#include "linalg/kernels/gemm_u8.h"

#define PIECE_BYTES   ((dkm_idx)4 << 20) /* of objects that are fetched to be converted */
#define ALIGNMENT     64
#define WORTH_KEEPING 16 /* numbers of an object, and objects, below which integers gain nothing */

static const dkm_data *slot_data(const dkm_panel *panel, dkm_idx slot)
{
    return dkm_feature_cache_data(&panel->of->slot[slot], panel->side);
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

static int may_be_int16(const dkm_panel *panel, const dkm_objs *objs)
{
    return dkm_gemm_i16_available() && objs->type == DKM_DENSE && objs->d >= WORTH_KEEPING &&
           panel->capacity >= WORTH_KEEPING;
}

static int may_be_packed(const dkm_panel *panel, const dkm_objs *objs)
{
    return dkm_gemm_tn_available() && objs->type == DKM_DENSE && panel->capacity >= DKM_TN_LEAST;
}

/* Memory for integers in every slot that may hold some, and for the products of all slots. */
static dkm_local open_products(dkm_panel *panel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = panel->of->ctx;
    dkm_idx bytes = 0;

    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++) {
        const dkm_objs *objs = uses_slot(panel, s) ? &slot_data(panel, s)->mine : NULL;
        dkm_idx width = objs ? dkm_gemm_i16_ld(objs->d) : 0;
        if (objs && may_be_packed(panel, objs))
            bytes = dkm_idx_max(bytes, DKM_TN_WORKSPACE);
        if (!objs || !may_be_int16(panel, objs))
            continue;
        DKM_STEP(dkm_alloc(ctx, panel->capacity * width, &panel->int16[s].rows));
        bytes = dkm_idx_max(bytes, dkm_gemm_i16_workspace(width) * (dkm_idx)sizeof(int16_t));
        if (!dkm_gemm_u8_available())
            continue;
        width = dkm_gemm_u8_ld(objs->d);
        DKM_STEP(dkm_alloc(ctx, panel->capacity * width, &panel->int16[s].bytes));
        bytes = dkm_idx_max(bytes, dkm_gemm_u8_workspace(width));
    }
    panel->workspace_each = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (panel->side == DKM_ROWS && bytes > 0)
        DKM_STEP(dkm_alloc(ctx, panel->threads * panel->workspace_each, &panel->workspace));
out:
    return local;
}

/* A panel that does not store values in other forms than they have. */
static dkm_local open_plain(dkm_panel *panel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = panel->of->ctx;
    const dkm_kernel *k = panel->of->kernel;

    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->objs));
    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->single));
    DKM_STEP(dkm_calloc(ctx, k->slots, &panel->int16));
    DKM_STEP(dkm_alloc(ctx, panel->capacity * k->nodes, &panel->diag));
out:
    return local;
}

dkm_local dkm_panel_open(dkm_panel *panel, const dkm_prepared *of, const dkm_node *root,
                         dkm_side side, dkm_precision precision, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;

    *panel = (dkm_panel){
        .of = of, .root = root, .precision = precision, .side = side, .capacity = capacity};
    panel->threads = dkm_ctx_threads(of->ctx);
    DKM_STEP(open_plain(panel));
    for (dkm_idx s = 0; s < of->kernel->slots; s++)
        if (uses_slot(panel, s) && wants_single(panel, &slot_data(panel, s)->mine))
            DKM_STEP(dkm_alloc(of->ctx, capacity * slot_data(panel, s)->mine.d, &panel->single[s]));
    DKM_STEP(open_products(panel));
out:
    return local;
}

static void panel_release(dkm_panel *panel)
{
    for (dkm_idx s = 0; panel->objs && s < panel->of->kernel->slots; s++) {
        if (!panel->borrowed)
            dkm_objs_clear(&panel->objs[s]);
        panel->objs[s] = (dkm_objs){0};
    }
    panel->n = 0;
    panel->borrowed = 0;
}

/* The values of @p objs, which are those of the panel from @p first on, in single precision. */
static void panel_convert(const dkm_objs *objs, dkm_idx first, float *to)
{
    for (dkm_idx i = 0; i < objs->n; i++) {
        float *restrict single = to + (first + i) * objs->d;
        const double *restrict values = objs->values + i * dkm_objs_step(objs);
        for (dkm_idx k = 0; k < objs->d; k++)
            single[k] = (float)values[k];
    }
}

/* Keep them as integers, as long as they are such. */
static void pack_int16(const dkm_objs *objs, dkm_idx first, dkm_int16_rows *int16)
{
    dkm_idx width = dkm_gemm_i16_ld(objs->d), bytes = dkm_gemm_u8_ld(objs->d);

    if (first == 0) {
        int16->most = 0;
        int16->are_bytes = int16->bytes != NULL;
    }
    for (dkm_idx i = 0; i < objs->n && int16->most >= 0; i++) {
        int16_t *row = int16->rows + (first + i) * width;
        double most = dkm_gemm_i16_pack(1, objs->d, objs->values + i * dkm_objs_step(objs), row);
        int16->most = most < 0 || most > int16->most ? most : int16->most;
        int16->are_bytes = int16->are_bytes && most >= 0 &&
                           dkm_gemm_u8_pack(objs->d, row, int16->bytes + (first + i) * bytes);
    }
}

/* The values of some objects of a slot in the other forms that the panel wants. */
static void panel_take_values(dkm_panel *panel, dkm_idx s, const dkm_objs *objs, dkm_idx first)
{
    if (panel->int16[s].rows)
        pack_int16(objs, first, &panel->int16[s]);
    if (panel->single[s])
        panel_convert(objs, first, panel->single[s]);
}

/* What tiles need beside the objects themselves. */
static void panel_finish(dkm_panel *panel)
{
    for (dkm_idx i = panel->root->size - 1; i >= 0; i--)
        panel->root[i].kind->diag(&panel->root[i], panel);
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

void dkm_panel_view(dkm_panel *panel, dkm_idx first, dkm_idx count)
{
    panel_release(panel);
    panel->borrowed = 1;
    panel->n = count;
    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++)
        if (uses_slot(panel, s)) {
            panel->objs[s] = view(&slot_data(panel, s)->mine, first, count);
            panel_take_values(panel, s, &panel->objs[s], 0);
            if (panel->single[s])
                panel->objs[s].values = NULL;
        }
    panel_finish(panel);
}

dkm_local dkm_panel_open_diag(dkm_panel *panel, const dkm_prepared *of)
{
    dkm_local local = DKM_LOCAL_OK;

    *panel = (dkm_panel){
        .of = of, .root = of->kernel->node, .side = DKM_ROWS, .capacity = of->X->mine.n};
    panel->precision = DKM_F64;
    DKM_STEP(open_plain(panel));
    dkm_panel_view(panel, 0, panel->capacity);
out:
    return local;
}

static int consecutive(dkm_idx count, const dkm_idx *indices)
{
    for (dkm_idx k = 1; k < count; k++)
        if (indices[k] != indices[0] + k)
            return 0;
    return count > 0;
}

/* Room for the extras of objects whose values are in single precision alone. */
static dkm_local open_extras(const dkm_data *of, dkm_idx count, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;

    *objs = (dkm_objs){.ctx = of->ctx, .type = of->mine.type, .n = count, .d = of->mine.d};
    if (of->mine.extra)
        DKM_STEP(dkm_objs_add_extra(objs, of->mine.extras));
out:
    return local;
}

/* Objects of a slot, whose values are wanted in single precision. As many ranks fill panels of the same
 * capacity, they come in as many pieces. */
static dkm_status fetch_in_pieces(dkm_panel *panel, dkm_idx s, dkm_idx count,
                                  const dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    const dkm_data *of = slot_data(panel, s);
    dkm_objs *objs = &panel->objs[s], piece = {0};
    dkm_idx each = dkm_idx_max(1, PIECE_BYTES / (8 * of->mine.d));

    DKM_AGREE(of->ctx, open_extras(of, count, objs));
    for (dkm_idx k = 0; k < panel->capacity; k += each) {
        dkm_idx n = k < count ? dkm_idx_min(each, count - k) : 0;
        DKM_TRY(dkm_data_fetch(of, n, n > 0 ? indices + k : NULL, &piece));
        panel_take_values(panel, s, &piece, k);
        if (n > 0 && objs->extra)
            memcpy(objs->extra + k * objs->extras, piece.extra,
                   (size_t)(n * objs->extras) * sizeof *objs->extra);
        dkm_objs_clear(&piece);
    }
out:
    dkm_objs_clear(&piece);
    return status;
}

static dkm_status fetch_slot(dkm_panel *panel, dkm_idx s, dkm_idx count, const dkm_idx *indices)
{
    dkm_status status = DKM_OK;

    if (panel->single[s])
        return fetch_in_pieces(panel, s, count, indices);
    DKM_TRY(dkm_data_fetch(slot_data(panel, s), count, indices, &panel->objs[s]));
    panel_take_values(panel, s, &panel->objs[s], 0);
out:
    return status;
}

dkm_status dkm_panel_fill(dkm_panel *panel, dkm_idx count, const dkm_idx *indices)
{
    dkm_status status = DKM_OK;

    if (dkm_ctx_size(panel->of->ctx) == 1 && consecutive(count, indices)) {
        dkm_panel_view(panel, indices[0], count);
        return DKM_OK;
    }
    panel_release(panel);
    for (dkm_idx s = 0; s < panel->of->kernel->slots; s++)
        if (uses_slot(panel, s))
            DKM_TRY(fetch_slot(panel, s, count, indices));
    panel->n = count;
    panel_finish(panel);
out:
    return status;
}

void dkm_panel_diag_from_extra(const dkm_node *node, dkm_panel *panel)
{
    const dkm_objs *X = dkm_panel_objs(panel, node);

    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = X->extra[i];
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
    panel_release(panel);
    for (dkm_idx s = 0; panel->single && s < panel->of->kernel->slots; s++)
        DKM_FREE(panel->single[s]);
    for (dkm_idx s = 0; panel->int16 && s < panel->of->kernel->slots; s++) {
        DKM_FREE(panel->int16[s].bytes);
        DKM_FREE(panel->int16[s].rows);
    }
    DKM_FREE(panel->workspace);
    DKM_FREE(panel->int16);
    DKM_FREE(panel->objs);
    DKM_FREE(panel->single);
    DKM_FREE(panel->diag);
    panel->of = NULL;
}
