#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cv/cv_impl.h"

#define QUICK 400 /* numbers per row: products of so many take as long as a number to be sent */

/* The place of a kernel among the distinct ones, where it is put if it is new. */
static dkm_idx gram_index(dkm_cv_grams *grams, const dkm_kernel *kernel, int outputs)
{
    dkm_idx k = 0;

    while (k < grams->count &&
           (grams->outputs[k] != outputs ||
            strcmp(dkm_kernel_text(grams->kernel[k]), dkm_kernel_text(kernel)) != 0))
        k++;
    if (k == grams->count) {
        grams->kernel[grams->count] = kernel;
        grams->outputs[grams->count++] = outputs;
    }
    return k;
}

dkm_local dkm_cv_grams_open(dkm_cv_grams *grams, dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    unsigned wants = problem->method->wants(problem->options);
    dkm_idx n = problem->kernels;
    dkm_local local = DKM_LOCAL_OK;

    *grams = (dkm_cv_grams){0};
    DKM_STEP(dkm_alloc(ctx, 2 * n, &grams->kernel));
    DKM_STEP(dkm_alloc(ctx, 2 * n, &grams->outputs));
    DKM_STEP(dkm_alloc(ctx, 2 * n, &grams->index));
    for (dkm_idx k = 0; k < n; k++) {
        grams->index[2 * k] = wants & DKM_CV_INPUT_GRAM ? gram_index(grams, problem->kx[k], 0) : -1;
        grams->index[2 * k + 1] =
            wants & DKM_CV_OUTPUT_GRAM ? gram_index(grams, problem->ky[k], 1) : -1;
    }
out:
    return local;
}

void dkm_cv_grams_close(dkm_cv_grams *grams)
{
    DKM_FREE(grams->kernel);
    DKM_FREE(grams->outputs);
    DKM_FREE(grams->index);
}

/* All rows of the Gram matrix of one kernel, in slabs of all ranks. */
static dkm_status cv_gram_cache_compute(const dkm_kernel *kernel, const dkm_data *objects,
                                        dkm_grid *grid, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL;

    *rows = NULL;
    DKM_TRY(dkm_kernel_prepare(kernel, objects, &prepared));
    DKM_TRY(dkm_gram(grid, kernel, prepared, dkm_grid_block(grid, objects->m), DKM_F64, &K));
    DKM_TRY(dkm_gram_to_rows(K, rows));
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    return status;
}

/* Which of them this group lacks, by its first rank. */
static dkm_local count_missing(dkm_ctx *ctx, const dkm_cv_group *group, const int *wanted,
                               int **lack)
{
    int first = dkm_ctx_rank(group->ctx) == 0;
    dkm_local local = dkm_alloc(ctx, group->grams, lack);

    for (dkm_idx k = 0; *lack && k < group->grams; k++)
        (*lack)[k] = first && wanted[k] && !group->gram[k];
    return local;
}

/* Of the group's own objects, by the group alone. */
static dkm_status bring_alone(const dkm_cv_grams *grams, dkm_cv_group *group, dkm_idx k)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    DKM_TRY(dkm_kernel_clone(group->ctx, grams->kernel[k], &kernel));
    DKM_TRY(cv_gram_cache_compute(kernel, grams->outputs[k] ? group->Y : group->X, group->grid,
                                  &group->gram[k]));
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

static dkm_status bring_one(dkm_cv_grams *grams, const dkm_cv_problem *problem, dkm_grid *grid,
                            dkm_cv_group *group, dkm_idx k, int wanted)
{
    const dkm_data *objects = grams->outputs[k] ? problem->Y : problem->X;
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL, *copy = NULL;

    DKM_TRY(cv_gram_cache_compute(grams->kernel[k], objects, grid, &rows));
    grams->computed++;
    if (group->own_ctx) {
        DKM_TRY(dkm_cv_group_copy(group, wanted && !group->gram[k], rows, &copy));
    } else {
        copy = rows;
        rows = NULL;
    }
    if (copy)
        group->gram[k] = copy;
out:
    dkm_data_destroy(&rows);
    return status;
}

void dkm_cv_grams_drop(dkm_cv_group *group, const int *wanted)
{
    for (dkm_idx k = 0; k < group->grams; k++)
        if (!wanted[k])
            dkm_data_destroy(&group->gram[k]);
}

/* Whether kernel values of the objects take no longer than to send them. */
static int is_quick(const dkm_data *objects)
{
    return objects->mine.type == DKM_LABELS ||
           (objects->mine.type == DKM_DENSE && objects->mine.d <= QUICK);
}

/* What groups compute by themselves, all at the same time. */
static dkm_status bring_apart(dkm_cv_grams *grams, dkm_ctx *ctx, dkm_cv_group *group,
                              const int *wanted, const int *apart)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(ctx, "gram");
    for (dkm_idx k = 0; k < grams->count; k++) {
        grams->computed += apart[k];
        if (apart[k] && wanted[k] && !group->gram[k] && status == DKM_OK)
            status = bring_alone(grams, group, k);
    }
    status = dkm_cv_agree(ctx, group, status);
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_cv_grams_bring(dkm_cv_grams *grams, const dkm_cv_problem *problem, dkm_grid *grid,
                              dkm_cv_group *group, const int *wanted)
{
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_status status = DKM_OK;
    int *apart = NULL, *lack = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, grams->count, &apart));
    DKM_AGREE(ctx, count_missing(ctx, group, wanted, &lack));
    MPI_Allreduce(MPI_IN_PLACE, lack, (int)grams->count, MPI_INT, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < grams->count; k++) {
        const dkm_data *objects = grams->outputs[k] ? problem->Y : problem->X;
        apart[k] = lack[k] > 0 && group->own_ctx && (grams->outputs[k] || group->X) &&
                   (lack[k] == 1 || is_quick(objects));
        if (lack[k] > 0 && !apart[k])
            DKM_TRY(bring_one(grams, problem, grid, group, k, wanted[k]));
    }
    DKM_TRY(bring_apart(grams, ctx, group, wanted, apart));
out:
    DKM_FREE(lack);
    DKM_FREE(apart);
    return status;
}
