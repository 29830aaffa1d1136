/* The folds of a problem: those of the examples, and inside the training part of each of them. */
#include <dkmap/folds.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cv/cv_impl.h"

#define OUTER_STREAM 0x666f6c6473u /* of the outer folds; those inside fold a follow */

/* What is known of the examples while they are dealt. */
typedef struct dealing {
    double *classes; /* of each example; NULL: there are none */
    double *keys;    /* of its group; NULL: examples are dealt one by one */
    double *given;   /* its fold, from 1 on; NULL: it is dealt */
} dealing;

static dkm_local deal(dkm_cv_folds *f, const dealing *d, uint64_t stream, dkm_idx count,
                      const dkm_idx *rows, dkm_idx folds, dkm_idx *fold)
{
    return d->keys ? dkm_folds_assign_groups(f->ctx, stream, count, rows, d->classes, d->keys,
                                             folds, fold)
                   : dkm_folds_assign(f->ctx, stream, count, rows, d->classes, folds, fold);
}

/* Folds inside the training part of outer fold a. */
static dkm_local deal_inside(dkm_cv_folds *f, const dealing *d, dkm_idx a)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0, *rows = NULL, *dealt = NULL, *inner = f->of + (1 + a) * f->m;

    DKM_STEP(dkm_alloc(f->ctx, f->m, &rows));
    DKM_STEP(dkm_alloc(f->ctx, f->m, &dealt));
    for (dkm_idx i = 0; i < f->m; i++)
        if (!dkm_cv_held_out(f->problem, f->of[i], a))
            rows[count++] = i;
    DKM_STEP(deal(f, d, OUTER_STREAM + 1 + (uint64_t)a, count, rows, f->problem->inner, dealt));
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

static dkm_local cv_folds_deal(dkm_cv_folds *f, const dealing *d)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx folds = f->problem->folds, tables = f->problem->inner ? 1 + folds : 1;

    if (folds < 2)
        return dkm_fail(f->ctx, DKM_ERR_ARG, "%lld folds: there must be at least 2",
                        (long long)folds);
    DKM_STEP(dkm_calloc(f->ctx, tables * f->m, &f->of));
    for (dkm_idx i = 0; d->given && i < f->m; i++)
        f->of[i] = (dkm_idx)d->given[i] - 1;
    if (!d->given)
        DKM_STEP(deal(f, d, OUTER_STREAM, f->m, NULL, folds, f->of));
    for (dkm_idx a = 0; a + 1 < tables; a++)
        DKM_STEP(deal_inside(f, d, a));
out:
    return local;
}

/* What comes beside the examples has as many rows. */
static dkm_status check_companion(const dkm_cv_folds *f, const dkm_data *companion,
                                  const char *what)
{
    dkm_status status = DKM_OK;

    if (companion)
        DKM_REQUIRE(f->ctx, dkm_data_rows(companion) == f->m, DKM_ERR_ARG,
                    "%lld %s of %lld examples: they must match",
                    (long long)dkm_data_rows(companion), what, (long long)f->m);
out:
    return status;
}

static dkm_status find_given(dkm_cv_folds *f, double **given)
{
    const dkm_cv_problem *p = f->problem;
    dkm_status status = DKM_OK;
    dkm_idx folds = 0;

    if (!p->fold)
        return DKM_OK;
    DKM_TRY(dkm_folds_count(p->fold, &folds));
    DKM_REQUIRE(f->ctx, folds == p->folds, DKM_ERR_ARG,
                "%lld folds, and examples are given %lld of them", (long long)p->folds,
                (long long)folds);
    DKM_TRY(dkm_folds_keys(p->fold, given));
out:
    return status;
}

dkm_status dkm_cv_folds_open(dkm_cv_folds *f, dkm_ctx *ctx, const dkm_cv_problem *problem)
{
    dkm_status status = DKM_OK;
    dealing d = {0};

    *f = (dkm_cv_folds){.ctx = ctx, .problem = problem, .m = dkm_data_rows(problem->X)};
    DKM_TRY(check_companion(f, problem->fold, "fold numbers"));
    DKM_TRY(check_companion(f, problem->group, "groups"));
    DKM_TRY(check_companion(f, problem->weights, "weights"));
    DKM_TRY(dkm_folds_classes(f->problem->Y, &d.classes));
    if (problem->weights)
        DKM_TRY(dkm_folds_keys(problem->weights, &f->weight));
    DKM_TRY(find_given(f, &d.given));
    if (problem->group)
        DKM_TRY(dkm_folds_keys(problem->group, &d.keys));
    DKM_AGREE(f->ctx, cv_folds_deal(f, &d));
    if (d.classes && !d.given)
        DKM_AGREE(f->ctx, tell_small_class(f, d.classes));
out:
    dkm_folds_free(&d.given);
    dkm_folds_free(&d.keys);
    dkm_folds_free(&d.classes);
    return status;
}

void dkm_cv_folds_close(dkm_cv_folds *f)
{
    DKM_FREE(f->weight);
    DKM_FREE(f->of);
}

/* Examples that a split tests on. */
double dkm_cv_tested(const dkm_cv_folds *f, dkm_cv_cell_id cell_id)
{
    const dkm_idx *inner = f->of + (1 + cell_id.outer) * f->m;
    double sum = 0;

    for (dkm_idx i = 0; i < f->m; i++) {
        int outside = dkm_cv_held_out(f->problem, f->of[i], cell_id.outer);
        int tested = cell_id.inner < 0 ? outside : !outside && inner[i] == cell_id.inner;
        sum += tested ? (f->weight ? f->weight[i] : 1.0) : 0.0;
    }
    return sum;
}
