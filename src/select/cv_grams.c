#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "select/cv_impl.h"

/* The place of a kernel among the distinct ones, where it is put if it is new. */
static dkm_idx place_of(dkm_cv_grams *grams, const dkm_kernel *kernel, int outputs)
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
    DKM_STEP(dkm_alloc(ctx, 2 * n, &grams->place));
    for (dkm_idx k = 0; k < n; k++) {
        grams->place[2 * k] = wants & DKM_CV_INPUT_GRAM ? place_of(grams, problem->kx[k], 0) : -1;
        grams->place[2 * k + 1] =
            wants & DKM_CV_OUTPUT_GRAM ? place_of(grams, problem->ky[k], 1) : -1;
    }
out:
    return local;
}

void dkm_cv_grams_close(dkm_cv_grams *grams)
{
    DKM_FREE(grams->kernel);
    DKM_FREE(grams->outputs);
    DKM_FREE(grams->place);
}

/* All rows of the Gram matrix of one kernel, in slabs of all ranks. */
static dkm_status compute(const dkm_kernel *kernel, const dkm_data *objects, dkm_grid *grid,
                          dkm_data **rows)
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

/* Whether any group lacks it. */
static int is_missing(dkm_ctx *ctx, const dkm_cv_group *group, dkm_idx k, int wanted)
{
    int mine = wanted && !group->gram[k], any = 0;

    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
    return any;
}

static dkm_status bring_one(dkm_cv_grams *grams, const dkm_cv_problem *problem, dkm_grid *grid,
                            dkm_cv_group *group, dkm_idx k, int wanted)
{
    const dkm_data *objects = grams->outputs[k] ? problem->Y : problem->X;
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL, *copy = NULL;

    DKM_TRY(compute(grams->kernel[k], objects, grid, &rows));
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

dkm_status dkm_cv_grams_bring(dkm_cv_grams *grams, const dkm_cv_problem *problem, dkm_grid *grid,
                              dkm_cv_group *group, const int *wanted)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);

    for (dkm_idx k = 0; k < grams->count; k++)
        if (is_missing(ctx, group, k, wanted[k]))
            DKM_TRY(bring_one(grams, problem, grid, group, k, wanted[k]));
out:
    return status;
}
