/* The folds of a problem: those of the examples, and inside the training part of each of them. */
#include <dkmap/folds.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cv/cv_impl.h"

#define OUTER_STREAM 0x666f6c6473u /* of the outer folds; those inside fold a follow */

/* Folds inside the training part of outer fold a. */
static dkm_local deal_inside(dkm_cv_folds *f, const double *classes, dkm_idx a)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0, *rows = NULL, *dealt = NULL, *inner = f->of + (1 + a) * f->m;

    DKM_STEP(dkm_alloc(f->ctx, f->m, &rows));
    DKM_STEP(dkm_alloc(f->ctx, f->m, &dealt));
    for (dkm_idx i = 0; i < f->m; i++)
        if (!dkm_cv_held_out(f->problem, f->of[i], a))
            rows[count++] = i;
    DKM_STEP(dkm_folds_assign(f->ctx, OUTER_STREAM + 1 + (uint64_t)a, count, rows, classes,
                              f->problem->inner, dealt));
    for (dkm_idx k = 0; k < count; k++)
        inner[rows[k]] = dealt[k];
out:
    DKM_FREE(dealt);
    DKM_FREE(rows);
    return local;
}

/* A class with fewer members than folds is missing from some of them. */
static dkm_local tell_small_class(dkm_cv_folds *f, const double *classes)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx folds = f->problem->folds, members = 0;
    double class = 0;

    DKM_STEP(dkm_folds_smallest(f->ctx, f->m, classes, &class, &members));
    if (members < folds)
        dkm_log(f->ctx, DKM_WARN,
                "class %g has %lld example%s and there are %lld folds: it is missing from some",
                class, (long long)members, members > 1 ? "s" : "", (long long)folds);
out:
    return local;
}

static dkm_local cv_folds_deal(dkm_cv_folds *f, const double *classes)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx folds = f->problem->folds, tables = f->problem->inner ? 1 + folds : 1;

    if (folds < 2)
        return dkm_fail(f->ctx, DKM_ERR_ARG, "%lld folds: there must be at least 2",
                        (long long)folds);
    DKM_STEP(dkm_calloc(f->ctx, tables * f->m, &f->of));
    DKM_STEP(dkm_folds_assign(f->ctx, OUTER_STREAM, f->m, NULL, classes, folds, f->of));
    for (dkm_idx a = 0; a + 1 < tables; a++)
        DKM_STEP(deal_inside(f, classes, a));
out:
    return local;
}

dkm_status dkm_cv_folds_open(dkm_cv_folds *f, dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    dkm_status status = DKM_OK;
    double *classes = NULL;

    *f = (dkm_cv_folds){.ctx = ctx, .problem = problem, .m = dkm_data_rows(problem->X)};
    DKM_TRY(dkm_folds_classes(f->problem->Y, &classes));
    DKM_AGREE(f->ctx, cv_folds_deal(f, classes));
    if (classes)
        DKM_AGREE(f->ctx, tell_small_class(f, classes));
out:
    dkm_folds_free(&classes);
    return status;
}

void dkm_cv_folds_close(dkm_cv_folds *f)
{
    DKM_FREE(f->of);
}

/* Examples that a split tests on. */
dkm_idx dkm_cv_tested(const dkm_cv_folds *f, dkm_cv_cell_id place)
{
    const dkm_idx *inner = f->of + (1 + place.outer) * f->m;
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < f->m; i++) {
        int outside = dkm_cv_held_out(f->problem, f->of[i], place.outer);
        count += place.inner < 0 ? outside : !outside && inner[i] == place.inner;
    }
    return count;
}
