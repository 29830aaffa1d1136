#include "kernels/joint/patches.h"

#include <stdlib.h>

#include "core/alloc.h"

static int ascending(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return x < y ? -1 : x > y;
}

static dkm_idx patches_place(const dkm_patch_edges *c, dkm_idx edge)
{
    dkm_idx k = 0;

    while (c->edge[k] != edge)
        k++;
    return k;
}

/* Patches at 0, step, 2 step, ... and flush with the end; cells between all their edges. */
static dkm_local cut(dkm_ctx *ctx, dkm_idx length, dkm_idx size, dkm_idx step, dkm_patch_edges *c)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx edges = 0;

    *c = (dkm_patch_edges){.length = length, .patches = (length - size + step - 1) / step + 1};
    DKM_STEP(dkm_alloc(ctx, 2 * c->patches, &c->edge));
    DKM_STEP(dkm_alloc(ctx, c->patches, &c->from));
    DKM_STEP(dkm_alloc(ctx, c->patches, &c->to));
    for (dkm_idx k = 0; k < c->patches; k++) {
        dkm_idx at = k * step < length - size ? k * step : length - size;
        c->edge[2 * k] = c->from[k] = at;
        c->edge[2 * k + 1] = c->to[k] = at + size;
    }
    qsort(c->edge, (size_t)(2 * c->patches), sizeof *c->edge, ascending);
    for (dkm_idx k = 0; k < 2 * c->patches; k++)
        if (edges == 0 || c->edge[k] != c->edge[edges - 1])
            c->edge[edges++] = c->edge[k];
    c->cells = edges - 1;
    for (dkm_idx k = 0; k < c->patches; k++) {
        c->from[k] = patches_place(c, c->from[k]);
        c->to[k] = patches_place(c, c->to[k]);
    }
out:
    return local;
}

static dkm_local patches_check(dkm_ctx *ctx, dkm_idx length, dkm_idx size, dkm_idx step)
{
    if (size <= length && step <= size)
        return DKM_LOCAL_OK;
    if (step > size)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "patches of size %lld that are %lld apart leave gaps: take a step of at "
                        "most %lld",
                        (long long)size, (long long)step, (long long)size);
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "patches of size %lld are larger than a side of %lld: take a smaller size",
                    (long long)size, (long long)length);
}

static void list_points(dkm_patches *p)
{
    dkm_idx n = 0;

    for (dkm_idx cell = 0; cell < p->cells; cell++) {
        dkm_idx I = cell / p->cols.cells, J = cell % p->cols.cells;
        p->start[cell] = n;
        for (dkm_idx i = p->rows.edge[I]; i < p->rows.edge[I + 1]; i++)
            for (dkm_idx j = p->cols.edge[J]; j < p->cols.edge[J + 1]; j++)
                p->order[n++] = i * p->cols.length + j;
    }
    p->start[p->cells] = n;
}

dkm_local dkm_patches_make(dkm_patches *p, dkm_ctx *ctx, dkm_idx height, dkm_idx width,
                           dkm_idx size, dkm_idx step)
{
    dkm_local local = DKM_LOCAL_OK;
    int flat = height == 1;

    *p = (dkm_patches){.ctx = ctx, .points = height * width};
    DKM_STEP(patches_check(ctx, width, size, step));
    if (!flat)
        DKM_STEP(patches_check(ctx, height, size, step));
    DKM_STEP(cut(ctx, height, flat ? 1 : size, flat ? 1 : step, &p->rows));
    DKM_STEP(cut(ctx, width, size, step, &p->cols));
    p->cells = p->rows.cells * p->cols.cells;
    DKM_STEP(dkm_alloc(ctx, p->cells + 1, &p->start));
    DKM_STEP(dkm_alloc(ctx, p->points, &p->order));
    list_points(p);
out:
    return local;
}

static void clear_cuts(dkm_patch_edges *c)
{
    DKM_FREE(c->edge);
    DKM_FREE(c->from);
    DKM_FREE(c->to);
}

void dkm_patches_clear(dkm_patches *p)
{
    clear_cuts(&p->rows);
    clear_cuts(&p->cols);
    DKM_FREE(p->start);
    DKM_FREE(p->order);
}

dkm_idx dkm_patches_scratch(const dkm_patches *p)
{
    return p->rows.patches * p->cols.cells + p->rows.patches * p->cols.patches;
}

static double patches_batch_rows(const double *x, dkm_idx from, dkm_idx to, dkm_idx by)
{
    double sum = 0;

    for (dkm_idx k = from; k < to; k++)
        sum += x[k * by];
    return sum;
}

/* Cells to patches: sums over rows of cells, then over columns. Back: each patch to its cells. */
void dkm_patches_sum_cells(const dkm_patches *p, double *dots, double *scratch)
{
    const dkm_patch_edges *R = &p->rows, *C = &p->cols;
    double *strips = scratch, *patches = scratch + R->patches * C->cells;

    for (dkm_idx P = 0; P < R->patches; P++) {
        for (dkm_idx j = 0; j < C->cells; j++)
            strips[P * C->cells + j] = patches_batch_rows(dots + j, R->from[P], R->to[P], C->cells);
        for (dkm_idx Q = 0; Q < C->patches; Q++)
            patches[P * C->patches + Q] =
                patches_batch_rows(strips + P * C->cells, C->from[Q], C->to[Q], 1);
    }
    for (dkm_idx k = 0; k < p->cells; k++)
        dots[k] = 0;
    for (dkm_idx P = 0; P < R->patches; P++) {
        double *strip = strips + P * C->cells;
        for (dkm_idx j = 0; j < C->cells; j++)
            strip[j] = 0;
        for (dkm_idx Q = 0; Q < C->patches; Q++)
            for (dkm_idx j = C->from[Q]; j < C->to[Q]; j++)
                strip[j] += patches[P * C->patches + Q];
        for (dkm_idx i = R->from[P]; i < R->to[P]; i++)
            for (dkm_idx j = 0; j < C->cells; j++)
                dots[i * C->cells + j] += strip[j];
    }
}
