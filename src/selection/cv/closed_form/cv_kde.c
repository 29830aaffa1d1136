/* The outputs of the training part are decomposed once, for as many components as any setting asks
 * for: fewer are the leading ones of those. One ridge system serves them all; a setting cuts its
 * predictions to its own number of components, and the pre-image of that is judged. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/linalg.h"
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

/* The training outputs nearest to the rows of @p Q. */
static dkm_status find_candidates(dkm_cv_cell *cell, const dkm_cv_outputs *s, const dkm_data *Q,
                                  dkm_data **pred)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_candidates candidates = {.norms = s->norms};
    dkm_idx n = dkm_data_local_rows(Q), *index = NULL;
    dkm_status status = DKM_OK;
    double *distance = NULL;
    dkm_objs got = {0};

    DKM_TRY(first_columns(ctx, dkm_data_rows(s->points), dkm_data_values_const(s->points), s->p,
                          dkm_data_cols(Q), &candidates.Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &distance));
    DKM_TRY(dkm_topk(Q, &candidates, 1, index, distance));
    for (dkm_idx i = 0; s->which && i < n; i++)
        index[i] = s->which[index[i]];
    DKM_TRY(dkm_data_fetch(cell->Y, n, index, &got));
    DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(Q), &got, pred));
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    dkm_data_destroy(&candidates.Z);
    return status;
}

/* mean + Q U, of as many components as Q has. */
static dkm_status find_linear(dkm_cv_cell *cell, const dkm_cv_outputs *s, const dkm_data *Q,
                              dkm_data **pred)
{
    dkm_status status = DKM_OK;
    dkm_idx n = cell->test.count, d = dkm_dmat_cols(s->U), p = dkm_data_cols(Q);
    dkm_dmat *C = NULL, *F = NULL, *T = NULL, *U = NULL;

    DKM_TRY(dkm_dmat_create(cell->group->grid, n, p, cell->nb, cell->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Q)));
    DKM_TRY(dkm_dmat_create_like(C, d, cell->nb, DKM_F64, &F));
    DKM_TRY(dkm_dmat_create(cell->group->grid, d, s->p, cell->nb, cell->nb, DKM_F64, &T));
    DKM_TRY(dkm_dmat_create_like(T, p, cell->nb, DKM_F64, &U));
    dkm_la_transpose(s->U, T);
    dkm_la_lacpy_cols(T, 0, U);
    dkm_la_gemm('N', 'T', 1.0, C, U, 0.0, F);
    dkm_dmat_add_row(F, 1.0, s->mean);
    DKM_TRY(dkm_data_create_dense(cell->group->ctx, n, d, pred));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(*pred)));
out:
    dkm_dmat_destroy(&U);
    dkm_dmat_destroy(&T);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&C);
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
    DKM_TRY((s->U ? find_linear : find_candidates)(cell, s, Q, &pred));
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
