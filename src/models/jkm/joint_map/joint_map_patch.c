/* Patch terms of a joint map: s_p(x, x') = sum over patches P that hold p of <x_P, x'_P>, cell
 * by cell (joint_map_patch.h).
 *
 * Cost of a tile of na x nb pairs: 2 na nb d flops for the inner products of all cells, one
 * addition per pair, patch and cell of it, and 2 na nb r for the products with coordinates.
 * Held: one tile of each cell. */
#include "models/jkm/joint_map/joint_map_patch.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "models/common/reproducible.h"

#define TILE 32  /* inputs along each side of a tile */
#define PACK 256 /* columns that are multiplied at once */

/* Columns of some rows in the order of the cells. */
static void sort_columns(const dkm_patches *p, dkm_idx rows, const double *from, double *to)
{
    for (dkm_idx i = 0; i < rows; i++)
        for (dkm_idx k = 0; k < p->points; k++)
            to[i * p->points + k] = from[i * p->points + p->order[k]];
}

/* s_c(i, j) of na x nb inputs, whose columns are sorted, one matrix a cell after the other. */
static void joint_map_patch_fill_tile(const dkm_patches *p, dkm_idx na, const double *A, dkm_idx nb,
                                      const double *B, double *T, double *scratch)
{
    double *dots = scratch + dkm_patches_scratch(p);

    for (dkm_idx c = 0; c < p->cells; c++)
        dkm_repro_gemm_nt(na, nb, p->start[c + 1] - p->start[c], 1.0,
                          (dkm_row_block){A + p->start[c], p->points},
                          (dkm_row_block){B + p->start[c], p->points}, 0.0, T + c * na * nb);
    for (dkm_idx ij = 0; ij < na * nb; ij++) {
        for (dkm_idx c = 0; c < p->cells; c++)
            dots[c] = T[c * na * nb + ij];
        dkm_patches_sum_cells(p, dots, scratch);
        for (dkm_idx c = 0; c < p->cells; c++)
            T[c * na * nb + ij] = dots[c];
    }
}

/* What tiles are made with: rows of inputs and of coordinates, sorted by cells. */
typedef struct patch_workspace {
    double *A, *B;    /* inputs of either side */
    double *U, *V;    /* coordinates of either side */
    double *T, *D;    /* s of every cell; a product of one cell */
    double *panel[2]; /* inputs and weight vector of some training examples, as they come */
    double *scratch;
} patch_workspace;

static void patch_workspace_close(patch_workspace *w)
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

static dkm_local patch_workspace_open(dkm_ctx *ctx, const dkm_patches *p, patch_workspace *w)
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
    DKM_STEP(dkm_alloc(ctx, dkm_patches_scratch(p) + p->cells, &w->scratch));
out:
    return local;
}

/* G += the part of nb training examples, for na inputs from @p a on. */
static void apply_tile(const dkm_joint_map_patch *patch, patch_workspace *w, dkm_idx na,
                       const double *a, dkm_idx nb, double *G)
{
    const dkm_patches *p = &patch->cells;

    sort_columns(p, na, a, w->A);
    joint_map_patch_fill_tile(p, na, w->A, nb, w->B, w->T, w->scratch);
    for (dkm_idx c = 0; c < p->cells; c++) {
        dkm_idx width = p->start[c + 1] - p->start[c];
        const dkm_idx *order = p->order + p->start[c];
        dkm_repro_gemm(na, width, nb, patch->weight, (dkm_row_block){w->T + c * na * nb, nb},
                       (dkm_row_block){w->V + p->start[c], p->points}, 0.0, w->D);
        for (dkm_idx i = 0; i < na; i++)
            for (dkm_idx k = 0; k < width; k++)
                G[i * p->points + order[k]] += w->D[i * width + k];
    }
}

dkm_status dkm_joint_map_patch_apply(const dkm_joint_map *map, const dkm_joint_map_patch *patch,
                                     const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    const dkm_patches *p = &patch->cells;
    dkm_idx n = dkm_data_local_rows(A), q = p->points;
    const double *x = dkm_data_values_const(map->fitted.X);
    patch_workspace w = {0};

    DKM_AGREE(ctx, patch_workspace_open(ctx, p, &w));
    for (dkm_idx first = 0; first < map->m; first += TILE) {
        dkm_idx nb = dkm_idx_min(TILE, map->m - first);
        DKM_TRY(dkm_repro_gather(ctx, map->m, q, x, first, nb, w.panel[0]));
        DKM_TRY(dkm_repro_gather(ctx, map->m, q, U, first, nb, w.panel[1]));
        sort_columns(p, nb, w.panel[0], w.B);
        sort_columns(p, nb, w.panel[1], w.V);
        for (dkm_idx i = 0; i < n; i += TILE)
            apply_tile(patch, &w, dkm_idx_min(TILE, n - i), dkm_data_values_const(A) + i * q, nb,
                       G + i * q);
    }
    dkm_phase_flops(ctx, 4.0 * (double)n * (double)map->m * (double)q);
out:
    patch_workspace_close(&w);
    return status;
}

/* Constraints of one example, and what they are multiplied with. */
typedef struct meeting {
    const dkm_joint_map_patch *patch;
    dkm_idx na, nb;
    const dkm_idx *which; /* nb: rows of V */
    double *M;            /* na x r: s(x_a, x) o v_a times the weight */
    double *pack;         /* nb x PACK */
    double *sums;         /* na x nb */
} meeting;

/* M for the constraints whose inputs and coordinates are sorted in the workspace, beside the input x. */
static void joint_map_patch_weigh(meeting *t, patch_workspace *w, const double *x)
{
    const dkm_patches *p = &t->patch->cells;

    sort_columns(p, 1, x, w->B);
    joint_map_patch_fill_tile(p, t->na, w->A, 1, w->B, w->T, w->scratch);
    for (dkm_idx a = 0; a < t->na; a++)
        for (dkm_idx c = 0; c < p->cells; c++)
            for (dkm_idx k = p->start[c]; k < p->start[c + 1]; k++)
                t->M[a * p->points + p->order[k]] =
                    t->patch->weight * w->T[c * t->na + a] * w->U[a * p->points + k];
}

/* sums = M V', V the rows of the example, some columns at a time. */
static void joint_map_patch_meet_rows(meeting *t, const double *V)
{
    dkm_idx q = t->patch->cells.points;

    for (dkm_idx k = 0; k < q; k += PACK) {
        dkm_idx width = dkm_idx_min(PACK, q - k);
        for (dkm_idx b = 0; b < t->nb; b++)
            memcpy(t->pack + b * width, V + t->which[b] * q + k, (size_t)width * sizeof *V);
        dkm_repro_gemm_nt(t->na, t->nb, width, 1.0, (dkm_row_block){t->M + k, q},
                          (dkm_row_block){t->pack, width}, k ? 1.0 : 0.0, t->sums);
    }
}

/* Rows of B by example: those of example i are which[start[i]], ..., which[start[i + 1] - 1]. */
static dkm_local sort_rows(dkm_ctx *ctx, dkm_joint_map_rows B, dkm_idx n, dkm_idx **which,
                           dkm_idx **start)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, B.count, which));
    DKM_STEP(dkm_calloc(ctx, n + 2, start));
    for (dkm_idx b = 0; b < B.count; b++)
        (*start)[B.example[b] + 2]++;
    for (dkm_idx i = 2; i < n + 2; i++)
        (*start)[i] += (*start)[i - 1];
    for (dkm_idx b = 0; b < B.count; b++)
        (*which)[(*start)[B.example[b] + 1]++] = b;
out:
    return local;
}

/* out += the part of @p na constraints, from @p a on, whose inputs and coordinates are sorted. */
static void meet_examples(meeting *t, patch_workspace *w, const dkm_joint_map *f,
                          const dkm_idx *start, const dkm_idx *which, dkm_joint_map_rows B,
                          double *out)
{
    const double *x = dkm_data_values_const(f->fitted.X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(f->fitted.X); i++) {
        t->nb = start[i + 1] - start[i];
        t->which = which + start[i];
        if (t->nb == 0)
            continue;
        joint_map_patch_weigh(t, w, x + i * f->r);
        joint_map_patch_meet_rows(t, B.V);
        for (dkm_idx a = 0; a < t->na; a++)
            for (dkm_idx b = 0; b < t->nb; b++)
                out[a * B.count + t->which[b]] += t->sums[a * t->nb + b];
    }
}

dkm_local dkm_joint_map_patch_inner(const dkm_joint_map *map, const dkm_joint_map_patch *patch,
                                    dkm_joint_map_rows A, const double *X, dkm_joint_map_rows B,
                                    double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx q = map->r, n = dkm_data_local_rows(map->fitted.X), *which = NULL, *start = NULL;
    meeting t = {.patch = patch};
    patch_workspace w = {0};

    DKM_STEP(patch_workspace_open(ctx, &patch->cells, &w));
    DKM_STEP(sort_rows(ctx, B, n, &which, &start));
    DKM_STEP(dkm_alloc(ctx, TILE * q, &t.M));
    DKM_STEP(dkm_alloc(ctx, B.count * PACK, &t.pack));
    DKM_STEP(dkm_alloc(ctx, B.count * TILE, &t.sums));
    for (dkm_idx a = 0; a < A.count; a += TILE) {
        t.na = dkm_idx_min(TILE, A.count - a);
        sort_columns(&patch->cells, t.na, X + a * q, w.A);
        sort_columns(&patch->cells, t.na, A.V + a * q, w.U);
        meet_examples(&t, &w, map, start, which, B, out + a * B.count);
    }
out:
    DKM_FREE(t.sums);
    DKM_FREE(t.pack);
    DKM_FREE(t.M);
    DKM_FREE(start);
    DKM_FREE(which);
    patch_workspace_close(&w);
    return local;
}
