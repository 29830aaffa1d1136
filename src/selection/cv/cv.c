#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "data/objects.h"
#include "io/checkpoint/checkpointer.h"
#include "selection/cv/cv_checkpoint.h"
#include "selection/cv/cv_impl.h"
#include "selection/cv/cv_tally.h"
#include "selection/metrics/losses.h"

#define FEW          4          /* fewer units than that at once are not worth their while */
#define SMALL_SQUARE 67108864.0 /* bytes of a kernel matrix, up to which freed ones are kept: */
#define REUSED       6          /* so many, over all ranks of a group */

typedef struct run {
    dkm_ctx *ctx;
    const dkm_cv_problem *problem;
    dkm_cv_result *result;
    dkm_cv_folds folds;
    dkm_grid *grid;
    dkm_cv_grams grams;
    dkm_cv_group group;
    dkm_cv_worker worker;
    dkm_cv_checkpoint checkpoint;
    dkm_idx capacity; /* Gram matrices that a group can hold at once */
    int by_kernel;    /* each group has one kernel at a time */
    dkm_idx done, total;
    dkm_idx parts, units_at_once; /* of the settings; units that share something, at once, or 0 */
    dkm_cv_tally *tally;          /* one a point and loss, those of a loss together */
    double *means;                /* losses, one a point */
    double *inner;                /* nested: sums of losses, folds x points */
} run;

static void cv_close_run(run *r)
{
    DKM_FREE(r->inner);
    DKM_FREE(r->means);
    DKM_FREE(r->tally);
    dkm_cv_checkpoint_close(&r->checkpoint);
    dkm_cv_worker_close(&r->worker);
    if (r->group.ctx)
        dkm_ctx_reuse_memory(r->group.ctx, 0);
    dkm_cv_group_close(&r->group);
    dkm_cv_grams_close(&r->grams);
    dkm_grid_destroy(&r->grid);
    dkm_cv_folds_close(&r->folds);
}

static dkm_local cv_check(dkm_ctx *ctx, const dkm_cv_problem *p)
{
    dkm_type type = dkm_data_type(p->Y);

    if (dkm_data_rows(p->X) != dkm_data_rows(p->Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(p->X), (long long)dkm_data_rows(p->Y));
    if (p->kernels < 1 || p->settings < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "there is no setting to try");
    if (p->inner != 0 && p->inner < 2)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld inner folds: there must be at least 2",
                        (long long)p->inner);
    for (int k = 0; k <= p->more_losses; k++) {
        dkm_loss loss = dkm_cv_loss_at(p, k);
        if (loss >= DKM_LOSS_COUNT || !dkm_loss_fits(loss, type))
            return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "the loss %s is not one for %s",
                            dkm_loss_name(loss), dkm_type_name(type));
        if (loss == DKM_LOSS_KERNEL && !p->loss_kernel)
            return dkm_fail(ctx, DKM_ERR_ARG, "the loss kernel needs a kernel of the outputs");
        if (p->weights && !dkm_loss_is_mean(loss))
            return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                            "the loss %s is not a mean over examples: it takes no weights",
                            dkm_loss_name(loss));
    }
    return p->method->check ? p->method->check(ctx, p) : DKM_LOCAL_OK;
}

/* The Gram matrices that this group's cells [first, last) need. */
static dkm_local list_wanted(const run *r, const dkm_cv_cell_id *cell_id, dkm_idx first,
                             dkm_idx last, int **wanted)
{
    dkm_local local = dkm_calloc(r->ctx, r->grams.count, wanted);

    for (dkm_idx k = first; local.code == DKM_OK && k < last; k++)
        for (int side = 0; side < 2; side++) {
            dkm_idx at = r->grams.index[2 * cell_id[k].kernel + side];
            if (at >= 0)
                (*wanted)[at] = 1;
        }
    return local;
}

/* Do cells whose Gram matrices can be held at once; their sums come back on every rank. Where they
 * share something, all splits of a unit go to one group. */
static dkm_status do_cells(void *user, dkm_idx cells, const dkm_cv_cell_id *cell_id, double *sums)
{
    run *r = user;
    dkm_idx splits = cells == 0 || cell_id[0].part < 0 ? 1 : dkm_cv_splits(r->problem);
    dkm_idx first = splits * dkm_slab_first(cells / splits, r->group.index, r->group.count);
    dkm_idx last = splits * dkm_slab_first(cells / splits, r->group.index + 1, r->group.count);
    dkm_cv_list list = {.ctx = r->ctx,
                        .cell_id = cell_id,
                        .sums = sums,
                        .fold = r->folds.of,
                        .splits = splits,
                        .units_at_once = splits > 1 ? r->units_at_once : 0,
                        .done = r->done,
                        .total = r->total};
    dkm_status status = DKM_OK;
    dkm_checkpointer *checkpointer;
    int *wanted = NULL;

    DKM_AGREE(r->ctx, list_wanted(r, cell_id, first, last, &wanted));
    if (r->capacity < r->grams.count)
        dkm_cv_grams_drop(&r->group, wanted);
    DKM_TRY(dkm_cv_grams_bring(&r->grams, r->problem, r->grid, &r->group, wanted));
    dkm_phase_begin(r->ctx, "folds");
    checkpointer = dkm_checkpointer_pause(r->ctx); /* cells are checkpointed as units */
    status = dkm_cv_agree(r->ctx, &r->group, dkm_cv_work_through(&r->worker, &list, first, last));
    dkm_checkpointer_resume(r->ctx, checkpointer);
    dkm_phase_end(r->ctx);
    r->done += cells;
    if (status == DKM_OK)
        dkm_mpi_allreduce(sums, dkm_cv_width(r->problem) * cells * r->problem->settings, MPI_DOUBLE,
                          MPI_SUM, dkm_ctx_comm(r->ctx));
out:
    DKM_FREE(wanted);
    return status;
}

static void tally_cells(run *r, dkm_idx cells, const dkm_cv_cell_id *cell_id, const double *sums)
{
    dkm_idx settings = r->problem->settings, width = dkm_cv_width(r->problem);

    for (dkm_idx k = 0; k < cells; k++) {
        dkm_idx point = cell_id[k].kernel * settings;
        double rows = dkm_cv_tested(&r->folds, cell_id[k]);
        for (dkm_idx s = 0; s < settings; s++) {
            const double *sum = sums + width * (k * settings + s);
            if (!dkm_cv_wants(r->problem, cell_id[k], s))
                continue;
            for (dkm_idx l = 0; 2 * l < width; l++)
                dkm_cv_tally_add(&r->tally[l * r->result->points + point + s], sum + 2 * l, rows);
            if (r->inner)
                r->inner[cell_id[k].outer * r->result->points + point + s] += sum[0];
        }
    }
}

/* Try every setting of some kernels on every split. */
static dkm_status try_kernels(run *r, dkm_idx first, dkm_idx last)
{
    const dkm_cv_problem *p = r->problem;
    dkm_idx cells = (last - first) * dkm_cv_splits(p) * r->parts;
    dkm_status status = DKM_OK;
    dkm_cv_cell_id *cell_id = NULL;
    double *sums = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, cells, &cell_id));
    if (r->units_at_once)
        cells = dkm_cv_schedule_units(p, r->parts, r->group.count, first, last, cell_id);
    else if (r->by_kernel)
        cells = dkm_cv_schedule_kernels(p, first, last, cell_id);
    else
        cells = dkm_cv_schedule_cells(p, &r->grams, first, last, cell_id);
    DKM_AGREE(r->ctx, dkm_calloc(r->ctx, dkm_cv_width(p) * cells * p->settings, &sums));
    DKM_TRY(dkm_cv_checkpoint_run(&r->checkpoint, cells, r->units_at_once ? dkm_cv_splits(p) : 1,
                                  cell_id, sums, do_cells, r));
    tally_cells(r, cells, cell_id, sums);
out:
    DKM_FREE(sums);
    DKM_FREE(cell_id);
    return status;
}

/* Predict outer folds [first, last) with the settings their inner folds chose. */
static dkm_status try_chosen(run *r, dkm_idx first, dkm_idx last, dkm_cv_tally *outer)
{
    dkm_idx settings = r->problem->settings, width = dkm_cv_width(r->problem);
    dkm_idx n = last - first, k = 0;
    dkm_status status = DKM_OK;
    dkm_cv_cell_id *cell_id = NULL;
    double *sums = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, n, &cell_id));
    DKM_AGREE(r->ctx, dkm_calloc(r->ctx, width * n * settings, &sums));
    for (int g = 0; g < r->group.count; g++) /* a group has these kernels, as units were dealt */
        for (dkm_idx a = first; a < last; a++) {
            dkm_idx chosen = r->result->chosen[a];
            if (chosen / settings % r->group.count == g)
                cell_id[k++] = (dkm_cv_cell_id){chosen / settings, a, -1, chosen % settings, -1, 1};
        }
    DKM_TRY(dkm_cv_checkpoint_run(&r->checkpoint, n, 1, cell_id, sums, do_cells, r));
    for (k = 0; k < n; k++) {
        const double *sum = sums + width * (k * settings + cell_id[k].only);
        for (dkm_idx l = 0; 2 * l < width; l++)
            dkm_cv_tally_add(&outer[l], sum + 2 * l, dkm_cv_tested(&r->folds, cell_id[k]));
        r->result->outer_mean[cell_id[k].outer] = sum[0] / dkm_cv_tested(&r->folds, cell_id[k]);
    }
out:
    DKM_FREE(sums);
    DKM_FREE(cell_id);
    return status;
}

static dkm_status nest(run *r)
{
    dkm_cv_result *result = r->result;
    dkm_idx step = r->grams.count <= r->capacity ? result->folds : 1;
    dkm_status status = DKM_OK;
    dkm_cv_tally *outer = NULL;

    DKM_AGREE(r->ctx, dkm_calloc(r->ctx, 1 + r->problem->more_losses, &outer));
    for (dkm_idx a = 0; a < result->folds; a++)
        result->chosen[a] = dkm_cv_best(result->points, r->inner + a * result->points,
                                        dkm_loss_greater_is_better(r->problem->loss));
    for (dkm_idx a = 0; a < result->folds; a += step)
        DKM_TRY(try_chosen(r, a, a + step, outer));
    result->outer = dkm_cv_tally_score(&outer[0]);
    for (int l = 0; l < r->problem->more_losses; l++)
        result->more_outer[l] = dkm_cv_tally_score(&outer[1 + l]);
out:
    DKM_FREE(outer);
    return status;
}

static dkm_local cv_check_found(const run *r)
{
    if (isfinite(r->result->table[r->result->best].mean))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_NUMERIC, "no setting has a loss that is a number");
}

static dkm_status cv_try_all(run *r)
{
    dkm_cv_result *result = r->result;
    dkm_status status = DKM_OK;

    for (dkm_idx first = 0, last; first < r->problem->kernels; first = last) {
        last = dkm_cv_batch_end(r->problem, &r->grams, r->capacity, first);
        DKM_TRY(try_kernels(r, first, last));
    }
    for (dkm_idx p = 0; p < result->points; p++) {
        result->table[p] = dkm_cv_tally_score(&r->tally[p]);
        r->means[p] = result->table[p].mean;
    }
    for (dkm_idx p = 0; p < result->points * r->problem->more_losses; p++)
        result->more[p] = dkm_cv_tally_score(&r->tally[result->points + p]);
    result->best =
        dkm_cv_best(result->points, r->means, dkm_loss_greater_is_better(r->problem->loss));
    DKM_AGREE(r->ctx, cv_check_found(r));
    result->outer = result->table[result->best];
    for (int l = 0; l < r->problem->more_losses; l++)
        result->more_outer[l] = result->more[l * result->points + result->best];
    if (r->problem->inner)
        DKM_TRY(nest(r));
out:
    return status;
}

void dkm_cv_result_free(dkm_cv_result *result)
{
    DKM_FREE(result->table);
    DKM_FREE(result->more);
    DKM_FREE(result->more_outer);
    DKM_FREE(result->examples);
    DKM_FREE(result->fold);
    DKM_FREE(result->chosen);
    DKM_FREE(result->outer_mean);
}

static dkm_local cv_reserve(run *r)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_cv_result *result = r->result;
    dkm_idx points = r->problem->kernels * r->problem->settings, folds = r->problem->folds;
    dkm_idx more = r->problem->more_losses;

    result->points = points;
    result->folds = folds;
    DKM_STEP(dkm_calloc(r->ctx, points, &result->table));
    DKM_STEP(dkm_calloc(r->ctx, more * points, &result->more));
    DKM_STEP(dkm_calloc(r->ctx, more, &result->more_outer));
    DKM_STEP(dkm_calloc(r->ctx, (1 + more) * points, &r->tally));
    DKM_STEP(dkm_calloc(r->ctx, points, &r->means));
    if (r->problem->inner) {
        DKM_STEP(dkm_calloc(r->ctx, folds, &result->chosen));
        DKM_STEP(dkm_calloc(r->ctx, folds, &result->outer_mean));
        DKM_STEP(dkm_calloc(r->ctx, folds * points, &r->inner));
        for (dkm_idx k = 0; r->problem->wanted && k < folds * points; k++)
            r->inner[k] = r->problem->wanted[k % points] ? 0.0 : NAN;
    }
out:
    return local;
}

/* Whether settings in so many parts are worked out once for all splits: a unit at a time with what
 * was learned of the outputs stored for every split, or as many units as fit, split by split.
 * Returns how many splits are held. */
static dkm_idx share_over_splits(run *r, dkm_idx parts)
{
    const dkm_cv_problem *p = r->problem;
    dkm_idx units = (p->kernels * parts + r->group.count - 1) / r->group.count;
    dkm_idx least = units < FEW ? units : FEW, splits = dkm_cv_splits(p), held, fitting;
    double m = (double)r->folds.m, state = p->method->state_bytes(p, m);

    held = 2 + (dkm_idx)ceil((double)splits * state / (8.0 * m * m));
    if (dkm_cv_split_capacity(r->ctx, &r->group, r->folds.m, r->capacity, held) == held) {
        r->parts = parts;
        r->units_at_once = 1;
        return splits;
    }
    fitting = dkm_cv_split_capacity(r->ctx, &r->group, r->folds.m, r->capacity, 2 * units) / 2;
    if (fitting > 0 && fitting >= least) {
        r->parts = parts;
        r->units_at_once = fitting;
    }
    return 1;
}

/* Whether as many kernels are tried at once as there are groups, which then have one each: where
 * Gram matrices are large, their cells share nothing that is dear, and none is needed again. */
static int takes_kernels_apart(const run *r)
{
    const dkm_cv_problem *p = r->problem;
    unsigned wants = p->method->wants(p->options);

    return !p->inner && !(wants & DKM_CV_OUTPUT_GRAM) &&
           (p->method->relearns || !p->method->learn_outputs) &&
           !dkm_cv_is_small((double)r->folds.m, r->grams.count);
}

/* Groups of ranks, and how many Gram matrices each can hold. */
static dkm_status form_groups(run *r)
{
    const dkm_cv_problem *p = r->problem;
    dkm_idx cells = dkm_cv_kernels_wanted(p) * dkm_cv_splits(p), last = p->inner ? p->folds : 0;
    dkm_status status = DKM_OK;
    dkm_idx parts = 0;
    int groups = 1;

    DKM_TRY(dkm_cv_choose_groups(r->ctx, p, cells, r->grams.count, &groups));
    DKM_TRY(dkm_cv_group_open(&r->group, r->ctx, p, groups, r->grams.count));
    DKM_TRY(dkm_cv_capacity(r->ctx, &r->group, r->folds.m, r->grams.count, &r->capacity));
    DKM_TRY(dkm_cv_checkpoint_open(&r->checkpoint, r->ctx, p, groups));
    if (groups == dkm_ctx_size(r->ctx) && p->method->parts && dkm_cv_splits(p) > 1)
        parts = p->method->parts(p, groups);
    r->by_kernel = parts == 0 && takes_kernels_apart(r);
    if (r->by_kernel && r->capacity > groups)
        r->capacity = groups;
    r->worker.cell.problem = p;
    r->worker.cell.group = &r->group;
    r->worker.grams = &r->grams;
    DKM_AGREE(r->ctx,
              dkm_cv_worker_open(&r->worker, r->ctx, parts ? share_over_splits(r, parts) : 1));
    r->total = cells * r->parts + last;
    r->result->groups = groups;
    r->result->cells = cells + last;
    if (groups > 1)
        dkm_log(r->ctx, DKM_INFO, "%lld fits of all settings of a kernel: %d groups of %d rank%s%s",
                (long long)(cells + last), groups, dkm_ctx_size(r->ctx) / groups,
                dkm_ctx_size(r->ctx) / groups > 1 ? "s" : "",
                dkm_ctx_size(r->ctx) % groups ? " or more" : "");
    else
        dkm_log(r->ctx, DKM_INFO, "%lld fits of all settings of a kernel: all ranks on each",
                (long long)(cells + last));
out:
    return status;
}

/* Fits of small problems take and free the same few matrices over and over. */
static void reuse_memory(run *r)
{
    double square = 8.0 * (double)r->folds.m * (double)r->folds.m;

    if (square <= SMALL_SQUARE)
        dkm_ctx_reuse_memory(r->group.ctx, (int64_t)(REUSED * square / dkm_ctx_size(r->group.ctx)));
}

dkm_status dkm_cross_validate(dkm_ctx *ctx, const dkm_cv_problem *problem, dkm_cv_result *result)
{
    run r = {.ctx = ctx, .problem = problem, .result = result, .parts = 1};
    dkm_status status = DKM_OK;

    *result = (dkm_cv_result){0};
    DKM_AGREE(ctx, cv_check(ctx, problem));
    DKM_AGREE(ctx, cv_reserve(&r));
    DKM_TRY(dkm_cv_folds_open(&r.folds, ctx, problem));
    DKM_AGREE(ctx, dkm_cv_grams_open(&r.grams, ctx, problem));
    DKM_TRY(dkm_grid_create(ctx, problem->layout.P, problem->layout.Q, &r.grid));
    DKM_TRY(form_groups(&r));
    reuse_memory(&r);
    DKM_TRY(cv_try_all(&r));
    result->grams = r.grams.computed;
    result->fold = r.folds.of;
    r.folds.of = NULL;
out:
    cv_close_run(&r);
    return status;
}
