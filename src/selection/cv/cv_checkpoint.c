#include "selection/cv/cv_checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"

#define PORTIONS 16 /* safe points of a batch of cells, at the most */

enum { DONE, SUMS }; /* of an entry: a flag, then dkm_cv_width() sums */

static void cv_checkpoint_key(const dkm_cv_checkpoint *k, char stage[DKM_STAGE_LENGTH])
{
    const dkm_cv_problem *p = k->problem;

    snprintf(stage, DKM_STAGE_LENGTH,
             "cells kernels=%lld settings=%lld folds=%lld inner=%lld losses=%d Y=%016llx",
             (long long)p->kernels, (long long)p->settings, (long long)p->folds,
             (long long)p->inner, 1 + p->more_losses, (unsigned long long)k->fingerprint);
}

static dkm_idx entry_width(const dkm_cv_checkpoint *k)
{
    return SUMS + dkm_cv_width(k->problem);
}

/* The numbers of a setting in a cell. */
static double *cv_checkpoint_entry(const dkm_cv_checkpoint *k, dkm_cv_cell_id cell_id,
                                   dkm_idx setting)
{
    const dkm_cv_problem *p = k->problem;
    dkm_idx each = p->inner ? p->inner : 1, split = cell_id.outer;
    dkm_idx row = cell_id.kernel * dkm_cv_splits(p) + split * each + (p->inner ? cell_id.inner : 0);

    if (p->inner && cell_id.inner < 0) /* the outer fold itself, with what its inner folds chose */
        row = p->kernels * dkm_cv_splits(p) + cell_id.outer;
    return k->table + (row * p->settings + setting) * entry_width(k);
}

static int is_done(const dkm_cv_checkpoint *k, dkm_cv_cell_id cell_id)
{
    for (dkm_idx s = 0; s < k->problem->settings; s++)
        if (dkm_cv_wants(k->problem, cell_id, s) && cv_checkpoint_entry(k, cell_id, s)[DONE] == 0)
            return 0;
    return 1;
}

static void cv_checkpoint_take(const dkm_cv_checkpoint *k, dkm_cv_cell_id cell_id, double *sums)
{
    dkm_idx width = dkm_cv_width(k->problem);

    for (dkm_idx s = 0; s < k->problem->settings; s++)
        if (dkm_cv_wants(k->problem, cell_id, s))
            memcpy(sums + width * s, cv_checkpoint_entry(k, cell_id, s) + SUMS,
                   (size_t)width * sizeof *sums);
}

static void cv_checkpoint_put(const dkm_cv_checkpoint *k, dkm_cv_cell_id cell_id,
                              const double *sums)
{
    dkm_idx width = dkm_cv_width(k->problem);

    for (dkm_idx s = 0; s < k->problem->settings; s++) {
        double *e = cv_checkpoint_entry(k, cell_id, s);
        if (!dkm_cv_wants(k->problem, cell_id, s))
            continue;
        e[DONE] = 1;
        memcpy(e + SUMS, sums + width * s, (size_t)width * sizeof *sums);
    }
}

static dkm_idx cv_checkpoint_numbers(const dkm_cv_checkpoint *k)
{
    return k->rows * k->problem->settings * entry_width(k);
}

#define CELLS_FIELD(k)                                                                             \
    DKM_STATE_ARRAY("table", DKM_STATE_REAL, (k)->table, cv_checkpoint_numbers(k))

dkm_status dkm_cv_checkpoint_open(dkm_cv_checkpoint *k, dkm_ctx *ctx, const dkm_cv_problem *problem,
                                  int groups)
{
    dkm_status status = DKM_OK;
    char stage[DKM_STAGE_LENGTH];
    int found = 0;

    *k = (dkm_cv_checkpoint){.ctx = ctx, .problem = problem, .groups = groups};
    k->rows = problem->kernels * dkm_cv_splits(problem) + (problem->inner ? problem->folds : 0);
    if (!dkm_checkpointer_enabled(ctx))
        return DKM_OK;
    DKM_AGREE(ctx, dkm_calloc(ctx, cv_checkpoint_numbers(k), &k->table));
    k->fingerprint = dkm_checkpointer_fingerprint(problem->Y, "");
    dkm_state_field fields[] = {CELLS_FIELD(k)};
    cv_checkpoint_key(k, stage);
    DKM_TRY(dkm_checkpointer_load_table(ctx, stage, DKM_STATE_TABLE(fields), &found));
out:
    return status;
}

void dkm_cv_checkpoint_close(dkm_cv_checkpoint *k)
{
    DKM_FREE(k->table);
}

static dkm_status cv_checkpoint_save_state(const dkm_cv_checkpoint *k)
{
    char stage[DKM_STAGE_LENGTH];
    dkm_state_field fields[] = {CELLS_FIELD(k)};

    if (!dkm_checkpointer_due(k->ctx, dkm_state_bytes(DKM_STATE_TABLE(fields)), 1))
        return DKM_OK;
    cv_checkpoint_key(k, stage);
    return dkm_checkpointer_save_table(k->ctx, stage, DKM_STATE_TABLE(fields));
}

/* Units of which a cell is not done, without gaps; returns how many cells they have. */
static dkm_idx list_rest(const dkm_cv_checkpoint *k, dkm_idx cells, dkm_idx unit,
                         const dkm_cv_cell_id *cell_id, dkm_cv_cell_id *rest)
{
    dkm_idx count = 0;

    for (dkm_idx first = 0; first < cells; first += unit) {
        int complete = 1;
        for (dkm_idx c = first; c < first + unit; c++)
            complete = complete && is_done(k, cell_id[c]);
        for (dkm_idx c = first; !complete && c < first + unit; c++)
            rest[count++] = cell_id[c];
    }
    return count;
}

/* One portion of the rest. */
static dkm_status do_portion(dkm_cv_checkpoint *k, dkm_idx cells, const dkm_cv_cell_id *cell_id,
                             dkm_cv_do work, void *user)
{
    dkm_status status = DKM_OK;
    dkm_idx width = dkm_cv_width(k->problem) * k->problem->settings;
    double *sums = NULL;

    DKM_AGREE(k->ctx, dkm_calloc(k->ctx, cells * width, &sums));
    DKM_TRY(work(user, cells, cell_id, sums));
    for (dkm_idx c = 0; c < cells; c++)
        cv_checkpoint_put(k, cell_id[c], sums + c * width);
    DKM_TRY(cv_checkpoint_save_state(k));
out:
    DKM_FREE(sums);
    return status;
}

dkm_status dkm_cv_checkpoint_run(dkm_cv_checkpoint *k, dkm_idx cells, dkm_idx unit,
                                 const dkm_cv_cell_id *cell_id, double *sums, dkm_cv_do work,
                                 void *user)
{
    dkm_status status = DKM_OK;
    dkm_cv_cell_id *rest = NULL;
    dkm_idx count, units, portion;

    if (!k->table)
        return work(user, cells, cell_id, sums);
    DKM_AGREE(k->ctx, dkm_alloc(k->ctx, cells, &rest));
    count = list_rest(k, cells, unit, cell_id, rest);
    units = count / unit;
    portion = (units + PORTIONS - 1) / PORTIONS;
    portion = unit * (portion > k->groups ? portion : k->groups);
    for (dkm_idx first = 0; first < count; first += portion)
        DKM_TRY(do_portion(k, first + portion < count ? portion : count - first, rest + first, work,
                           user));
    for (dkm_idx c = 0; c < cells; c++)
        cv_checkpoint_take(k, cell_id[c],
                           sums + c * dkm_cv_width(k->problem) * k->problem->settings);
out:
    DKM_FREE(rest);
    return status;
}
