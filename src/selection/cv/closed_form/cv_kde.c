/* The outputs of the training part are decomposed once, for as many components as any setting asks
 * for: fewer are the leading ones of those. One ridge system serves them all; a setting cuts its
 * predictions to its own number of components, and the pre-image of that is judged.
 *
 * Cost: that of cv_kde_outputs.c and cv_ridge.c per split, and a pre-image per setting and test
 * row. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "matrix/dmat_impl.h"
#include "search/topk.h"
#include "selection/cv/closed_form/cv_kde.h"

static unsigned cv_kde_wants(const void *options)
{
    (void)options;
    return DKM_CV_INPUT_GRAM | DKM_CV_OUTPUT_GRAM;
}

static dkm_local cv_kde_check(dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    const dkm_cv_ridge *r = problem->options;

    if (r->components < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no number of components to try");
    if (!problem->ky)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no kernel of the outputs");
    return dkm_cv_ridge_check(ctx, problem);
}

static void cv_kde_release(void **state)
{
    dkm_cv_outputs_free(*state);
    DKM_FREE(*state);
}

/* All rows of numbers, less their means, which every split takes off anyway: their kernel matrix
 * has lost the digits of small differences between large numbers. */
static dkm_local base_of_numbers(const dkm_data *Y, dkm_ctx *ctx, dkm_cv_lowrank *lowrank)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = Y->m, d = Y->mine.d;
    double *mean = NULL, *rows = NULL;

    DKM_STEP(dkm_calloc(ctx, d, &mean));
    DKM_STEP(dkm_alloc(ctx, m * d, &rows));
    for (dkm_idx k = 0; k < m * d; k++)
        mean[k % d] += Y->mine.values[k] / (double)m;
    for (dkm_idx k = 0; k < m * d; k++)
        rows[k] = Y->mine.values[k] - mean[k % d];
    DKM_STEP(dkm_cv_lowrank_of_rows(ctx, m, d, rows, lowrank));
out:
    DKM_FREE(rows);
    DKM_FREE(mean);
    return local;
}

static dkm_status cv_kde_find_base(dkm_cv_cell *cell, dkm_cv_lowrank *lowrank)
{
    dkm_ctx *ctx = cell->group->ctx;
    const dkm_data *Y = cell->group->Y;

    return dkm_agree(ctx, dkm_cv_outputs_linear(cell) && Y->mine.d < DKM_CV_LOWRANK_MAX
                              ? base_of_numbers(Y, ctx, lowrank)
                              : dkm_cv_lowrank_of_gram(ctx, cell->L, lowrank));
}

/* Coordinates, block-cyclic and in slabs. */
static double cv_kde_state_bytes(const dkm_cv_problem *problem, double n)
{
    dkm_eigen_settings most = dkm_cv_most_components(problem->options);

    return 16.0 * n * (most.components > 0 ? fmin(n, (double)most.components) : n);
}

static dkm_status cv_kde_learn_outputs(dkm_cv_cell *cell, void **state)
{
    dkm_status status = DKM_OK;
    dkm_cv_outputs *s = NULL;

    DKM_AGREE(cell->group->ctx, dkm_calloc(cell->group->ctx, 1, &s));
    DKM_TRY(dkm_cv_outputs_learn(cell, s));
out:
    *state = s;
    return status;
}

/* The first @p p of the columns of some rows. */
static dkm_status first_columns(dkm_ctx *ctx, dkm_idx rows, const double *from, dkm_idx cols,
                                dkm_idx p, dkm_data **cut)
{
    dkm_status status = dkm_data_create_dense(ctx, rows, p, cut);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*cut); i++)
        memcpy(dkm_data_values(*cut) + i * p, from + i * cols, (size_t)p * sizeof *from);
    return status;
}

/* The training outputs nearest to the rows of @p Q, by as many components as those have. */
static dkm_status find_candidates(dkm_cv_cell *cell, const dkm_cv_outputs *s, const dkm_data *Q,
                                  dkm_data **pred)
{
    dkm_candidates candidates = {.norms = s->norms};
    dkm_status status = DKM_OK;

    DKM_TRY(first_columns(cell->group->ctx, dkm_data_rows(s->points),
                          dkm_data_values_const(s->points), s->p, dkm_data_cols(Q), &candidates.Z));
    DKM_TRY(dkm_topk_objects(Q, &candidates, cell->Y, s->which, pred));
out:
    dkm_data_destroy(&candidates.Z);
    return status;
}

static dkm_status try_components(dkm_cv_cell *cell, const dkm_cv_outputs *s, const double *rows,
                                 dkm_idx setting)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_idx p = dkm_cv_components(s, &r->eigen[setting / r->gammas]);
    dkm_status status = DKM_OK;
    dkm_data *Q = NULL, *pred = NULL;

    DKM_TRY(first_columns(cell->group->ctx, cell->test.count, rows, s->p, p, &Q));
    DKM_TRY(s->linear.U ? dkm_linear_map_apply(&s->linear, Q, &pred)
                        : find_candidates(cell, s, Q, &pred));
    DKM_TRY(dkm_cv_score_predictions(cell, setting, pred));
out:
    dkm_data_destroy(&pred);
    dkm_data_destroy(&Q);
    return status;
}

static dkm_status cv_kde_take(dkm_cv_cell *cell, void *state, dkm_idx g, dkm_dmat *F)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    double *rows = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cell->truth->mine.n * F->n, &rows));
    DKM_TRY(dkm_dmat_to_rows(F, rows));
    for (dkm_idx j = 0; j < r->components; j++)
        if (dkm_cv_wanted(cell, j * r->gammas + g))
            DKM_TRY(try_components(cell, state, rows, j * r->gammas + g));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status cv_kde_run(dkm_cv_cell *cell, void *state)
{
    dkm_cv_outputs *s = state;

    return dkm_cv_ridge_each(cell, &(dkm_cv_targets){s->Z, s->C}, cv_kde_take, s);
}

const dkm_cv_method dkm_cv_kde = {.name = "kde",
                                  .wants = cv_kde_wants,
                                  .check = cv_kde_check,
                                  .find_base = cv_kde_find_base,
                                  .learn_outputs = cv_kde_learn_outputs,
                                  .state_bytes = cv_kde_state_bytes,
                                  .run = cv_kde_run,
                                  .release = cv_kde_release,
                                  .parts = dkm_cv_inverse_parts,
                                  .share = dkm_cv_inverse_make,
                                  .unshare = dkm_cv_inverse_drop};
