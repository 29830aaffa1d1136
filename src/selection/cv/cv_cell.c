#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "matrix/dmat_impl.h"
#include "selection/cv/cv_impl.h"

static void cv_cell_close_split(dkm_cv_split *s, const dkm_cv_method *method)
{
    if (s->state)
        method->release(&s->state);
    dkm_data_destroy(&s->weights);
    dkm_data_destroy(&s->truth);
    dkm_data_destroy(&s->Y);
    DKM_FREE(s->test.rows);
    DKM_FREE(s->train.rows);
}

/* Examples that are in neither part: those of the outer fold while inner folds are tried. */
static dkm_local cv_cell_list_parts(const dkm_cv_cell *cell, const dkm_idx *fold, dkm_cv_split *s)
{
    dkm_idx m = cell->group->Y->m;
    const dkm_idx *inner = fold + (1 + s->outer) * m;
    dkm_local local = DKM_LOCAL_OK;

    s->train.count = s->test.count = 0;
    DKM_STEP(dkm_alloc(cell->group->ctx, m, &s->train.rows));
    DKM_STEP(dkm_alloc(cell->group->ctx, m, &s->test.rows));
    for (dkm_idx i = 0; i < m; i++) {
        int outside = dkm_cv_held_out(cell->problem, fold[i], s->outer);
        int tests = s->inner < 0 ? outside : !outside && inner[i] == s->inner;
        dkm_cv_part *part = tests ? &s->test : outside ? NULL : &s->train;
        if (part)
            part->rows[part->count++] = i;
    }
out:
    return local;
}

static dkm_status cv_cell_open_split(const dkm_cv_cell *cell, const dkm_idx *fold, dkm_cv_split *s)
{
    dkm_status status = DKM_OK;
    const dkm_cv_group *group = cell->group;
    dkm_idx block = cell->problem->layout.block;

    DKM_AGREE(group->ctx, cv_cell_list_parts(cell, fold, s));
    s->nb = block ? block : dkm_grid_block(group->grid, s->train.count);
    DKM_TRY(dkm_data_select(group->Y, s->train.count, s->train.rows, &s->Y));
    DKM_TRY(dkm_data_select(group->Y, s->test.count, s->test.rows, &s->truth));
    if (group->weights)
        DKM_TRY(dkm_data_select(group->weights, s->test.count, s->test.rows, &s->weights));
out:
    return status;
}

dkm_local dkm_cv_worker_open(dkm_cv_worker *w, dkm_ctx *ctx, dkm_idx splits)
{
    w->splits = splits;
    return dkm_calloc(ctx, splits, &w->split);
}

void dkm_cv_worker_close(dkm_cv_worker *w)
{
    for (dkm_idx k = 0; w->split && k < w->splits; k++)
        cv_cell_close_split(&w->split[k], w->cell.problem->method);
    DKM_FREE(w->split);
    DKM_FREE(w->lowrank.E);
}

static const dkm_data *gram_at(const dkm_cv_worker *w, dkm_idx index)
{
    return index < 0 ? NULL : w->cell.group->gram[index];
}

/* The slot that holds a split. */
static dkm_cv_split *split_of(const dkm_cv_worker *w, dkm_cv_cell_id cell_id)
{
    dkm_idx inner = w->cell.problem->inner;

    return &w->split[(cell_id.inner < 0 ? cell_id.outer : cell_id.outer * inner + cell_id.inner) %
                     w->splits];
}

static void take_split(dkm_cv_cell *cell, const dkm_cv_split *s)
{
    cell->train = s->train;
    cell->test = s->test;
    cell->nb = s->nb;
    cell->Y = s->Y;
    cell->truth = s->truth;
    cell->weights = s->weights;
}

/* Make the worker's base that of the outputs the cell looks at. */
static dkm_status cv_cell_find_base(dkm_cv_worker *w, dkm_idx output_index)
{
    const dkm_cv_method *method = w->cell.problem->method;
    dkm_status status = DKM_OK;

    if (!method->find_base || dkm_ctx_size(w->cell.group->ctx) > 1 ||
        (w->base_known && w->base_place == output_index))
        return DKM_OK;
    DKM_FREE(w->lowrank.E);
    w->lowrank = (dkm_cv_lowrank){0};
    w->base_place = output_index;
    w->base_known = 1;
    DKM_TRY(method->find_base(&w->cell, &w->lowrank));
    w->cell.lowrank = w->lowrank.q > 0 ? &w->lowrank : NULL;
out:
    return status;
}

/* Make the worker's split and what was learned of the outputs fit the cell. */
static dkm_status get_ready(dkm_cv_worker *w, dkm_cv_cell_id cell_id, const dkm_idx *fold)
{
    const dkm_cv_method *method = w->cell.problem->method;
    dkm_idx output_index = w->grams->index[2 * cell_id.kernel + 1];
    dkm_cv_split *s = split_of(w, cell_id);
    int same = s->Y && s->outer == cell_id.outer && s->inner == cell_id.inner &&
               s->output_index == output_index;
    dkm_status status = DKM_OK;

    w->cell.id = cell_id;
    w->cell.inner = cell_id.inner < 0 ? NULL : fold + (1 + cell_id.outer) * w->cell.group->Y->m;
    w->cell.K = gram_at(w, w->grams->index[2 * cell_id.kernel]);
    w->cell.L = gram_at(w, output_index);
    DKM_TRY(cv_cell_find_base(w, output_index));
    if (!same) {
        cv_cell_close_split(s, method);
        *s = (dkm_cv_split){
            .outer = cell_id.outer, .inner = cell_id.inner, .output_index = output_index};
        DKM_TRY(cv_cell_open_split(&w->cell, fold, s));
    }
    take_split(&w->cell, s);
    if (!same && method->learn_outputs)
        DKM_TRY(method->learn_outputs(&w->cell, &s->state));
out:
    return status;
}

dkm_status dkm_cv_work(dkm_cv_worker *w, dkm_cv_cell_id cell_id, const dkm_idx *fold, double *sums)
{
    dkm_status status = DKM_OK;

    w->cell.sums = sums;
    DKM_TRY(get_ready(w, cell_id, fold));
    if (w->slot && !*w->slot)
        DKM_TRY(w->cell.problem->method->share(&w->cell, w->slot));
    w->cell.shared = w->slot ? *w->slot : NULL;
    DKM_TRY(w->cell.problem->method->run(&w->cell, split_of(w, cell_id)->state));
out:
    return status;
}

/* Sums of one loss of the test part and of its roots. */
static dkm_status sum_losses(const dkm_cv_cell *cell, dkm_loss loss, const dkm_data *pred,
                             double *losses, double sums[2])
{
    dkm_status status = DKM_OK;
    const dkm_cv_group *group = cell->group;
    const dkm_score_settings settings = {
        .loss = loss, .ky = group->loss_kernel, .labels = group->labels};
    double mine[2] = {0, 0};

    DKM_TRY(dkm_score_rows_by(cell->truth, pred, &settings, losses));
    for (dkm_idx i = 0; i < cell->truth->mine.n; i++) {
        double w = cell->weights ? cell->weights->mine.values[i] : 1.0;
        mine[0] += w * losses[i];
        mine[1] += w * sqrt(fmax(losses[i], 0.0));
    }
    MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(group->ctx));
out:
    return status;
}

dkm_status dkm_cv_score_predictions(dkm_cv_cell *cell, dkm_idx setting, const dkm_data *pred)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cell->group->ctx;
    double *losses = NULL, sums[2];

    DKM_AGREE(ctx, dkm_alloc(ctx, cell->truth->mine.n, &losses));
    for (int k = 0; k <= cell->problem->more_losses; k++) {
        DKM_TRY(sum_losses(cell, dkm_cv_loss_at(cell->problem, k), pred, losses, sums));
        if (dkm_ctx_rank(ctx) == 0) {
            double *into = cell->sums + dkm_cv_width(cell->problem) * setting + 2 * k;
            into[0] += sums[0];
            into[1] += sums[1];
        }
    }
out:
    DKM_FREE(losses);
    return status;
}

dkm_status dkm_cv_extract(const dkm_data *G, const dkm_cv_part *rows, const dkm_cv_part *cols,
                          dkm_type type, dkm_data **cut)
{
    dkm_status status = dkm_data_select(G, rows->count, rows->rows, cut);
    dkm_idx n = cols->count, m = G->mine.d;
    dkm_objs *objs;

    if (status != DKM_OK)
        return status;
    objs = &(*cut)->mine;
    for (dkm_idx i = 0; i < objs->n; i++) /* columns ascend, so that none is overwritten early */
        for (dkm_idx j = 0; j < n; j++)
            objs->values[i * n + j] = objs->values[i * m + cols->rows[j]];
    objs->d = n;
    objs->type = type;
    return DKM_OK;
}

void dkm_cv_submatrix_fill(const dkm_data *G, const dkm_cv_part *rows, const dkm_cv_part *cols,
                           dkm_dmat *A)
{
    for (dkm_idx j = 0; j < cols->count; j++) {
        const double *from = G->mine.values + cols->rows[j] * G->mine.d;
        double *to = dkm_dmat_f64(A) + j * dkm_dmat_ld(A);
        for (dkm_idx i = 0; i < rows->count; i++)
            to[i] = from[rows->rows[i]];
    }
}

dkm_status dkm_cv_submatrix(const dkm_cv_cell *cell, const dkm_data *G, const dkm_cv_part *rows,
                            const dkm_cv_part *cols, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_data *cut = NULL;
    dkm_dmat *made = NULL;

    *A = NULL;
    DKM_TRY(dkm_dmat_create(cell->group->grid, rows->count, cols->count, cell->nb, cell->nb,
                            DKM_F64, &made));
    if (dkm_ctx_size(cell->group->ctx) == 1) {
        dkm_cv_submatrix_fill(G, rows, cols, made);
    } else {
        DKM_TRY(dkm_cv_extract(G, rows, cols, DKM_DENSE, &cut));
        DKM_TRY(dkm_dmat_from_rows(made, cut->mine.values));
    }
    *A = made;
    made = NULL;
out:
    dkm_dmat_destroy(&made);
    dkm_data_destroy(&cut);
    return status;
}
