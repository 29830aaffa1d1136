/* rownorm(A): A(x, x') / (D(x) D(x')) with D(x) = sum of A(x, t) over the training objects t. An
 * object that has nothing in common with any of them has D = 0 and stays at the origin.
 *
 * Cost: one pass over A(X, T), n m / ranks values per rank for n objects, when they are
 * prepared; the training objects travel to all ranks in panels. Then one multiplication per
 * value. */
#include "core/alloc.h"
#include "kernels/evaluation/panel.h"
#include "kernels/evaluation/prepare.h"

#define ROWS_EACH 512
#define COLS_EACH 256

typedef struct summing {
    const dkm_node *inner;
    dkm_idx mine; /* objects of this rank's slab */
    dkm_panel rows, cols;
    double *tile, *scratch, *sums;
    dkm_idx indices[COLS_EACH];
} summing;

static dkm_local open_summing(summing *s, const dkm_node *inner, const dkm_prepared *P)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_prepared *T = P->training ? P->training : P;
    dkm_idx tile = (dkm_idx)ROWS_EACH * COLS_EACH;

    s->inner = inner;
    s->mine = P->X->mine.n;
    DKM_STEP(dkm_panel_open(&s->rows, P, inner, DKM_ROWS, DKM_F64, ROWS_EACH));
    DKM_STEP(dkm_panel_open(&s->cols, T, inner, DKM_COLS, DKM_F64, COLS_EACH));
    DKM_STEP(dkm_alloc(P->ctx, tile, &s->tile));
    DKM_STEP(dkm_alloc(P->ctx, tile * dkm_node_scratch(inner), &s->scratch));
    DKM_STEP(dkm_calloc(P->ctx, s->mine, &s->sums));
out:
    return local;
}

static void close_summing(summing *s)
{
    dkm_panel_close(&s->rows);
    dkm_panel_close(&s->cols);
    DKM_FREE(s->tile);
    DKM_FREE(s->scratch);
    DKM_FREE(s->sums);
}

/* Add to the sums of all objects of the slab what the training objects in memory give them. */
static dkm_local rownorm_add_columns(summing *s)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx first = 0; first < s->mine; first += ROWS_EACH) {
        dkm_idx n = s->mine - first < ROWS_EACH ? s->mine - first : ROWS_EACH;
        dkm_tile C = {DKM_F64, n, s->cols.n, n, s->tile};
        dkm_tile_task task = {.A = &s->rows, .B = &s->cols, .scratch = s->scratch};
        dkm_panel_view(&s->rows, first, n);
        DKM_STEP(dkm_node_tile(s->inner, &task, &C));
        for (dkm_idx j = 0; j < C.nb; j++)
            for (dkm_idx i = 0; i < n; i++)
                s->sums[first + i] += s->tile[i + j * n];
    }
out:
    return local;
}

static dkm_status sum_rows(summing *s, dkm_idx m)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx first = 0; first < m; first += COLS_EACH) {
        dkm_idx n = m - first < COLS_EACH ? m - first : COLS_EACH;
        for (dkm_idx k = 0; k < n; k++)
            s->indices[k] = first + k;
        DKM_TRY(dkm_panel_fill(&s->cols, n, s->indices));
        if (local.code == DKM_OK)
            local = rownorm_add_columns(s);
    }
    DKM_AGREE(s->cols.of->ctx, local);
out:
    return status;
}

/* Keep 1 / D as the only extra of objects that are nothing else. */
static dkm_local keep_inverses(const dkm_prepared *P, const double *sums, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_init(objs, P->ctx, DKM_DENSE, P->X->mine.n, 0, 0));
    DKM_STEP(dkm_objs_add_extra(objs, 1));
    for (dkm_idx i = 0; i < objs->n; i++) {
        if (sums[i] < 0)
            return dkm_fail(P->ctx, DKM_ERR_NUMERIC,
                            "rownorm: the kernel values of object %lld to the training objects add "
                            "up to %g; use it on kernels that are not negative",
                            (long long)(P->X->first + i), sums[i]);
        objs->extra[i] = sums[i] > 0 ? 1.0 / sums[i] : 0.0;
    }
out:
    return local;
}

static dkm_status rownorm_train(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    const dkm_prepared *T = P->training ? P->training : P;
    summing s = {0};
    dkm_objs objs = {0};

    DKM_AGREE(P->ctx, open_summing(&s, node->inner[0], P));
    DKM_TRY(sum_rows(&s, T->X->m));
    DKM_AGREE(P->ctx, keep_inverses(P, s.sums, &objs));
    DKM_TRY(dkm_feature_cache_fill(P, node->slot, &objs));
out:
    close_summing(&s);
    dkm_objs_clear(&objs);
    return status;
}

static void rownorm_diag(const dkm_node *node, dkm_panel *panel)
{
    const double *inverse = dkm_panel_objs(panel, node)->extra;

    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] =
            dkm_panel_diag(panel, node->inner[0])[i] * inverse[i] * inverse[i];
}

static dkm_local rownorm_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = dkm_node_tile(node->inner[0], task, C);

    dkm_map_sides(C, dkm_panel_objs(task->A, node)->extra + task->a,
                  dkm_panel_objs(task->B, node)->extra + task->b);
    return local;
}

const dkm_kernel_class dkm_kernel_class_rownorm = {.name = "rownorm",
                                                   .min_inner = 1,
                                                   .max_inner = 1,
                                                   .is_data_dependent = 1,
                                                   .train = rownorm_train,
                                                   .diag = rownorm_diag,
                                                   .tile = rownorm_tile};
