/* Cross-validation of kernel ridge regression: each split solves one system per list of gammas
 * (cv_ridge.c), whose outputs are numbers, or classes as one-hot columns, less the means of its
 * training part. Cost: that of cv_ridge.c; the targets of a cell are on its group of ranks. */
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "models/common/target_encoder.h"
#include "selection/cv/closed_form/cv_ridge.h"

/* Outputs of the training part as numbers. */
typedef struct krr {
    dkm_target_encoder targets;
    double *mean; /* of each column, or zero */
    dkm_dmat *T;  /* less the means */
    double *C;    /* T = E(train, .) C of a low-rank factor; else NULL */
} krr;

static unsigned cv_krr_wants(const void *options)
{
    (void)options;
    return DKM_CV_INPUT_GRAM;
}

static void cv_krr_release(void **state)
{
    krr *s = *state;

    DKM_FREE(s->C);
    dkm_dmat_destroy(&s->T);
    DKM_FREE(s->mean);
    dkm_target_encoder_clear(&s->targets);
    DKM_FREE(*state);
}

static dkm_status cv_krr_encode(dkm_cv_cell *cell, krr *s)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    dkm_idx cols = s->targets.cols;
    double *rows = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, cols, &s->mean));
    DKM_AGREE(ctx, dkm_alloc(ctx, cell->Y->mine.n * cols, &rows));
    dkm_target_encoder_encode(&s->targets, cell->Y, rows);
    DKM_TRY(dkm_dmat_create(cell->group->grid, cell->train.count, cols, cell->nb, cell->nb, DKM_F64,
                            &s->T));
    DKM_TRY(dkm_dmat_from_rows(s->T, rows));
    if (r->center) {
        DKM_TRY(dkm_dmat_column_means(s->T, s->mean));
        dkm_dmat_add_row(s->T, -1.0, s->mean);
    }
out:
    DKM_FREE(rows);
    return status;
}

/* All outputs as numbers. */
static dkm_status cv_krr_find_base(dkm_cv_cell *cell, dkm_cv_lowrank *lowrank)
{
    const dkm_data *Y = cell->group->Y;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    dkm_target_encoder targets = {0};
    double *rows = NULL;

    DKM_TRY(dkm_target_encoder_learn(&targets, Y));
    DKM_AGREE(ctx, dkm_alloc(ctx, Y->m * targets.cols, &rows));
    dkm_target_encoder_encode(&targets, Y, rows);
    DKM_AGREE(ctx, dkm_cv_lowrank_of_rows(ctx, Y->m, targets.cols, rows, lowrank));
out:
    DKM_FREE(rows);
    dkm_target_encoder_clear(&targets);
    return status;
}

/* T = E(train, .) C: the columns less their means. */
static dkm_local cv_krr_combine(const dkm_cv_cell *cell, krr *s)
{
    dkm_idx q = cell->lowrank->q;
    dkm_local local = dkm_calloc(cell->group->ctx, q * s->targets.cols, &s->C);

    for (dkm_idx j = 0; local.code == DKM_OK && j < s->targets.cols; j++) {
        s->C[j * q + j] = 1;
        s->C[j * q + q - 1] = -s->mean[j];
    }
    return local;
}

static double cv_krr_state_bytes(const dkm_cv_problem *problem, double n)
{
    return 8.0 * n * (problem->Y->mine.type == DKM_DENSE ? (double)problem->Y->mine.d : n);
}

static dkm_status cv_krr_learn_outputs(dkm_cv_cell *cell, void **state)
{
    dkm_status status = DKM_OK;
    krr *s = NULL;

    DKM_AGREE(cell->group->ctx, dkm_calloc(cell->group->ctx, 1, &s));
    DKM_TRY(dkm_target_encoder_learn(&s->targets, cell->Y));
    DKM_TRY(cv_krr_encode(cell, s));
    if (cell->lowrank &&
        cell->lowrank->q == s->targets.cols + 1) /* else the training part lacks a class */
        DKM_AGREE(cell->group->ctx, cv_krr_combine(cell, s));
out:
    *state = s;
    return status;
}

static dkm_status cv_krr_take(dkm_cv_cell *cell, void *state, dkm_idx g, dkm_dmat *F)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_data *numbers = NULL, *pred = NULL;

    dkm_dmat_add_row(F, 1.0, s->mean);
    DKM_TRY(dkm_data_create_dense(cell->group->ctx, cell->test.count, s->targets.cols, &numbers));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(numbers)));
    DKM_TRY(dkm_target_encoder_decode(&s->targets, &numbers, &pred));
    DKM_TRY(dkm_cv_score_predictions(cell, g, pred));
out:
    dkm_data_destroy(&pred);
    dkm_data_destroy(&numbers);
    return status;
}

static dkm_status cv_krr_run(dkm_cv_cell *cell, void *state)
{
    krr *s = state;

    return dkm_cv_ridge_each(cell, &(dkm_cv_targets){s->T, s->C}, cv_krr_take, s);
}

const dkm_cv_method dkm_cv_krr = {.name = "krr",
                                  .wants = cv_krr_wants,
                                  .check = dkm_cv_ridge_check,
                                  .find_base = cv_krr_find_base,
                                  .learn_outputs = cv_krr_learn_outputs,
                                  .relearns = 1,
                                  .state_bytes = cv_krr_state_bytes,
                                  .run = cv_krr_run,
                                  .release = cv_krr_release,
                                  .parts = dkm_cv_inverse_parts,
                                  .share = dkm_cv_inverse_make,
                                  .unshare = dkm_cv_inverse_drop};
