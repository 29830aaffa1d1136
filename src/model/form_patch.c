#include "model/form_patch.h"

#include "core/alloc.h"
#include "model/panels.h"

#define TILE 32 /* inputs along each side of a tile */

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

/* Columns of some rows in the order of the cells. */
static void sort_columns(const dkm_partition *p, dkm_idx rows, const double *from, double *to)
{
    for (dkm_idx i = 0; i < rows; i++)
        for (dkm_idx k = 0; k < p->points; k++)
            to[i * p->points + k] = from[i * p->points + p->order[k]];
}

/* s_c(i, j) of na x nb inputs, whose columns are sorted, one matrix a cell after the other. */
static void fill_tile(const dkm_partition *p, dkm_idx na, const double *A, dkm_idx nb,
                      const double *B, double *T, double *scratch)
{
    double *dots = scratch + dkm_partition_scratch(p);

    for (dkm_idx c = 0; c < p->cells; c++)
        dkm_rows_meet(na, nb, p->start[c + 1] - p->start[c], 1.0,
                      (dkm_block){A + p->start[c], p->points},
                      (dkm_block){B + p->start[c], p->points}, 0.0, T + c * na * nb);
    for (dkm_idx ij = 0; ij < na * nb; ij++) {
        for (dkm_idx c = 0; c < p->cells; c++)
            dots[c] = T[c * na * nb + ij];
        dkm_partition_spread(p, dots, scratch);
        for (dkm_idx c = 0; c < p->cells; c++)
            T[c * na * nb + ij] = dots[c];
    }
}

/* What tiles are made with: rows of inputs and of coordinates, sorted by cells. */
typedef struct room {
    double *A, *B;    /* inputs of either side */
    double *U, *V;    /* coordinates of either side */
    double *T, *D;    /* s of every cell; a product of one cell */
    double *panel[2]; /* inputs and machine of some training examples, as they come */
    double *scratch;
} room;

static void close_room(room *w)
{
    DKM_FREE(w->A);
    DKM_FREE(w->B);
    DKM_FREE(w->U);
    DKM_FREE(w->V);
    DKM_FREE(w->T);
    DKM_FREE(w->D);
    DKM_FREE(w->panel[0]);
    DKM_FREE(w->panel[1]);
    DKM_FREE(w->scratch);
}

static dkm_local open_room(dkm_ctx *ctx, const dkm_partition *p, room *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx rows = TILE * p->points;

    DKM_STEP(dkm_alloc(ctx, rows, &w->A));
    DKM_STEP(dkm_alloc(ctx, rows, &w->B));
    DKM_STEP(dkm_alloc(ctx, rows, &w->U));
    DKM_STEP(dkm_alloc(ctx, rows, &w->V));
    DKM_STEP(dkm_alloc(ctx, p->cells * TILE * TILE, &w->T));
    DKM_STEP(dkm_alloc(ctx, rows > TILE * TILE ? rows : TILE * TILE, &w->D));
    DKM_STEP(dkm_alloc(ctx, rows, &w->panel[0]));
    DKM_STEP(dkm_alloc(ctx, rows, &w->panel[1]));
    DKM_STEP(dkm_alloc(ctx, dkm_partition_scratch(p) + p->cells, &w->scratch));
out:
    return local;
}

/* G += the part of nb training examples, for na inputs from @p a on. */
static void apply_tile(const dkm_form_patch *patch, room *w, dkm_idx na, const double *a,
                       dkm_idx nb, double *G)
{
    const dkm_partition *p = &patch->cells;

    sort_columns(p, na, a, w->A);
    fill_tile(p, na, w->A, nb, w->B, w->T, w->scratch);
    for (dkm_idx c = 0; c < p->cells; c++) {
        dkm_idx width = p->start[c + 1] - p->start[c];
        const dkm_idx *order = p->order + p->start[c];
        dkm_rows_times(na, width, nb, patch->weight, (dkm_block){w->T + c * na * nb, nb},
                       (dkm_block){w->V + p->start[c], p->points}, 0.0, w->D);
        for (dkm_idx i = 0; i < na; i++)
            for (dkm_idx k = 0; k < width; k++)
                G[i * p->points + order[k]] += w->D[i * width + k];
    }
}

dkm_status dkm_form_patch_apply(const dkm_form *form, const dkm_form_patch *patch,
                                const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = form->base.ctx;
    const dkm_partition *p = &patch->cells;
    dkm_idx n = dkm_data_local_rows(A), q = p->points;
    const double *x = dkm_data_values_const(form->base.X);
    room w = {0};

    DKM_AGREE(ctx, open_room(ctx, p, &w));
    for (dkm_idx first = 0; first < form->m; first += TILE) {
        dkm_idx nb = least(TILE, form->m - first);
        DKM_TRY(dkm_rows_gather(ctx, form->m, q, x, first, nb, w.panel[0]));
        DKM_TRY(dkm_rows_gather(ctx, form->m, q, U, first, nb, w.panel[1]));
        sort_columns(p, nb, w.panel[0], w.B);
        sort_columns(p, nb, w.panel[1], w.V);
        for (dkm_idx i = 0; i < n; i += TILE)
            apply_tile(patch, &w, least(TILE, n - i), dkm_data_values_const(A) + i * q, nb,
                       G + i * q);
    }
    dkm_phase_flops(ctx, 4.0 * (double)n * (double)form->m * (double)q);
out:
    close_room(&w);
    return status;
}

/* out += the part of na x nb constraints, whose inputs and coordinates are sorted; ld is that of
 * out. */
static void meet_tile(const dkm_form_patch *patch, room *w, dkm_idx na, dkm_idx nb, dkm_idx ld,
                      double *out)
{
    const dkm_partition *p = &patch->cells;

    fill_tile(p, na, w->A, nb, w->B, w->T, w->scratch);
    for (dkm_idx c = 0; c < p->cells; c++) {
        const double *t = w->T + c * na * nb;
        dkm_rows_meet(na, nb, p->start[c + 1] - p->start[c], patch->weight,
                      (dkm_block){w->U + p->start[c], p->points},
                      (dkm_block){w->V + p->start[c], p->points}, 0.0, w->D);
        for (dkm_idx i = 0; i < na; i++)
            for (dkm_idx j = 0; j < nb; j++)
                out[i * ld + j] += t[i * nb + j] * w->D[i * nb + j];
    }
}

dkm_local dkm_form_patch_meet(const dkm_form *form, const dkm_form_patch *patch, dkm_form_rows A,
                              const double *X, dkm_form_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_partition *p = &patch->cells;
    const double *own = dkm_data_values_const(form->base.X);
    dkm_idx q = p->points;
    room w = {0};

    DKM_STEP(open_room(form->base.ctx, p, &w));
    for (dkm_idx b = 0; b < B.count; b += TILE) {
        dkm_idx nb = least(TILE, B.count - b);
        for (dkm_idx j = 0; j < nb; j++)
            sort_columns(p, 1, own + B.example[b + j] * q, w.B + j * q);
        sort_columns(p, nb, B.V + b * q, w.V);
        for (dkm_idx a = 0; a < A.count; a += TILE) {
            dkm_idx na = least(TILE, A.count - a);
            sort_columns(p, na, X + a * q, w.A);
            sort_columns(p, na, A.V + a * q, w.U);
            meet_tile(patch, &w, na, nb, B.count, out + a * B.count + b);
        }
    }
out:
    close_room(&w);
    return local;
}
