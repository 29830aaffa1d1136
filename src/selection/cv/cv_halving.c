/* Successive halving (Jamieson and Talwalkar 2016, AISTATS, PMLR 51:240-248): all settings are tried
 * on few examples, the better half of them on twice as many, and so on to all examples. With N
 * settings there are R = ceil(log2 N) rounds, round r on m / 2^(R-1-r) examples; fewer where the
 * first round would have less than EXAMPLES a fold.
 *
 * The budget is examples, the resource of the paper: a round costs as many of them as any other.
 * Fits that take n^3 flops are dominated by the last round, of two settings or a few.
 *
 * Folds are dealt once. A round has the first examples of an order in which folds and classes come
 * in equal shares, so that a round contains all those before it. Replicated: five numbers per
 * example. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/folds.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cv/cv_impl.h"
#include "selection/cv/cv_tally.h"
#include "selection/metrics/losses.h"

#define EXAMPLES 10 /* per fold of the first round, and two of each class, at the least */
#define STREAM   0x68616c76696e67u

typedef struct halving {
    dkm_ctx *ctx;
    const dkm_cv_problem *problem;
    dkm_cv_result *result;
    dkm_cv_folds folds;
    dkm_idx m, points, left; /* examples, points, and those still tried */
    char *wanted;
    dkm_idx *order; /* examples, those of the first round first */
    dkm_idx rounds;
} halving;

/* An example on its way to an order in which strata come in equal shares. */
typedef struct fold_row {
    double stratum, share; /* share: how much of its stratum comes before it */
    uint64_t shuffle;
    dkm_idx row;
} fold_row;

static int by_stratum(const void *a, const void *b)
{
    const fold_row *x = a, *y = b;

    if (x->stratum != y->stratum)
        return x->stratum < y->stratum ? -1 : 1;
    if (x->shuffle != y->shuffle)
        return x->shuffle < y->shuffle ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_share(const void *a, const void *b)
{
    const fold_row *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    if (x->shuffle != y->shuffle)
        return x->shuffle < y->shuffle ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int ascending(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return x < y ? -1 : x > y;
}

/* Put examples in order; returns how many strata there are. */
static dkm_idx mix_strata(const halving *h, fold_row *list)
{
    dkm_idx strata = 0;

    qsort(list, (size_t)h->m, sizeof *list, by_stratum);
    for (dkm_idx i = 0, next; i < h->m; i = next, strata++) {
        for (next = i; next < h->m && list[next].stratum == list[i].stratum;)
            next++;
        for (dkm_idx k = i; k < next; k++)
            list[k].share = ((double)(k - i) + 0.5) / (double)(next - i);
    }
    qsort(list, (size_t)h->m, sizeof *list, by_share);
    for (dkm_idx i = 0; i < h->m; i++)
        h->order[i] = list[i].row;
    return strata;
}

/* The order of the examples, and how many rounds there are. */
static dkm_local plan_rounds(halving *h, const double *classes)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx folds = h->problem->folds, strata, least;
    fold_row *list = NULL;

    DKM_STEP(dkm_alloc(h->ctx, h->m, &list));
    for (dkm_idx i = 0; i < h->m; i++)
        list[i] = (fold_row){(double)h->folds.of[i] + (classes ? (double)folds * classes[i] : 0.0),
                             0, dkm_random_bits(dkm_ctx_seed(h->ctx), STREAM, (uint64_t)i, 0), i};
    strata = mix_strata(h, list);
    least = EXAMPLES * folds > 2 * strata ? EXAMPLES * folds : 2 * strata;
    h->rounds = 1;
    while (h->left > ((dkm_idx)1 << h->rounds) && (h->m >> h->rounds) >= least)
        h->rounds++;
out:
    DKM_FREE(list);
    return local;
}

static dkm_status halving_open(halving *h)
{
    const dkm_cv_problem *p = h->problem;
    dkm_status status = DKM_OK;
    double *classes = NULL;

    h->m = dkm_data_rows(p->X);
    h->points = p->kernels * p->settings;
    DKM_TRY(dkm_cv_folds_open(&h->folds, h->ctx, p));
    DKM_TRY(dkm_folds_classes(p->Y, &classes));
    DKM_AGREE(h->ctx, dkm_alloc(h->ctx, h->points, &h->wanted));
    DKM_AGREE(h->ctx, dkm_alloc(h->ctx, h->m, &h->order));
    for (dkm_idx k = 0; k < h->points; k++)
        h->left += h->wanted[k] = p->wanted ? p->wanted[k] : 1;
    DKM_AGREE(h->ctx, plan_rounds(h, classes));
out:
    dkm_folds_free(&classes);
    return status;
}

static void halving_close(halving *h)
{
    DKM_FREE(h->order);
    DKM_FREE(h->wanted);
    dkm_cv_folds_close(&h->folds);
}

/* The examples of a round, of which objects known by a matrix are a part of it. */
static dkm_status select_inputs(const dkm_data *X, const dkm_cv_part *part, dkm_data **some)
{
    if (X->mine.type == DKM_GRAM || X->mine.type == DKM_DISTANCE)
        return dkm_cv_extract(X, part, part, X->mine.type, some);
    return dkm_data_select(X, part->count, part->rows, some);
}

static dkm_status fold_labels(const halving *h, const dkm_cv_part *part, dkm_data **fold)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_labels(h->ctx, part->count, fold));
    for (dkm_idx i = 0; i < (*fold)->mine.n; i++)
        (*fold)->mine.values[i] = (double)h->folds.of[part->rows[(*fold)->first + i]] + 1;
out:
    return status;
}

/* Cross-validate what is left on some of the examples. */
static dkm_status try_some(const halving *h, const dkm_cv_part *part, dkm_cv_result *result)
{
    dkm_cv_problem some = *h->problem;
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL, *fold = NULL, *weights = NULL;

    if (part->count < h->m && h->problem->weights)
        DKM_TRY(dkm_data_select(h->problem->weights, part->count, part->rows, &weights));
    if (weights)
        some.weights = weights;
    if (part->count < h->m) {
        DKM_TRY(select_inputs(h->problem->X, part, &X));
        DKM_TRY(dkm_data_select(h->problem->Y, part->count, part->rows, &Y));
        some.X = X;
        some.Y = Y;
    }
    DKM_TRY(fold_labels(h, part, &fold));
    some.fold = fold;
    some.group = NULL; /* the folds have regard to groups already */
    some.wanted = h->wanted;
    DKM_TRY(dkm_cross_validate(h->ctx, &some, result));
out:
    dkm_data_destroy(&weights);
    dkm_data_destroy(&fold);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* Keep the better half. */
static dkm_local drop_half(halving *h, const dkm_cv_score *table)
{
    int greater = dkm_loss_greater_is_better(h->problem->loss);
    dkm_local local = DKM_LOCAL_OK;
    double *means = NULL;
    dkm_idx keep = (h->left + 1) / 2;

    DKM_STEP(dkm_alloc(h->ctx, h->points, &means));
    for (dkm_idx k = 0; k < h->points; k++)
        means[k] = h->wanted[k] ? table[k].mean : NAN;
    memset(h->wanted, 0, (size_t)h->points);
    for (h->left = 0; h->left < keep; h->left++) {
        dkm_idx best = dkm_cv_best(h->points, means, greater);
        if (isnan(means[best]))
            break;
        h->wanted[best] = 1;
        means[best] = NAN;
    }
out:
    DKM_FREE(means);
    return local;
}

/* What a round found of the points it tried, and all else of the last one. */
static dkm_local take_round(halving *h, dkm_idx count, dkm_cv_result *round)
{
    dkm_cv_result *all = h->result, before = *all;
    dkm_local local = DKM_LOCAL_OK;
    int more = h->problem->more_losses;

    if (!before.table)
        DKM_STEP(dkm_calloc(h->ctx, h->points, &before.examples));
    for (dkm_idx k = 0; k < h->points; k++) {
        if (h->wanted[k])
            before.examples[k] = count;
        if (h->wanted[k] || !before.table)
            continue;
        round->table[k] = before.table[k];
        for (int l = 0; l < more; l++)
            round->more[l * h->points + k] = before.more[l * h->points + k];
    }
    round->examples = before.examples;
    round->cells += before.cells;
    round->grams += before.grams;
    before.examples = NULL;
    *all = *round;
    *round = (dkm_cv_result){0};
out:
    dkm_cv_result_free(&before);
    return local;
}

static dkm_status try_round(halving *h, dkm_idx r)
{
    dkm_cv_part part = {.count = h->m >> (h->rounds - 1 - r), .rows = NULL};
    dkm_status status = DKM_OK;
    dkm_cv_result round = {0};
    dkm_idx tried = h->left;

    DKM_AGREE(h->ctx, dkm_alloc(h->ctx, h->m, &part.rows));
    memcpy(part.rows, h->order, (size_t)part.count * sizeof *part.rows);
    qsort(part.rows, (size_t)part.count, sizeof *part.rows, ascending);
    DKM_TRY(try_some(h, &part, &round));
    DKM_AGREE(h->ctx, take_round(h, part.count, &round));
    if (r + 1 < h->rounds)
        DKM_AGREE(h->ctx, drop_half(h, h->result->table));
    dkm_log(h->ctx, DKM_INFO, "round %lld of %lld: %lld settings on %lld examples",
            (long long)r + 1, (long long)h->rounds, (long long)tried, (long long)part.count);
out:
    DKM_FREE(part.rows);
    dkm_cv_result_free(&round);
    return status;
}

dkm_status dkm_cross_validate_halving(dkm_ctx *ctx, const dkm_cv_problem *problem,
                                      dkm_cv_result *result)
{
    halving h = {.ctx = ctx, .problem = problem, .result = result};
    dkm_status status = DKM_OK;

    *result = (dkm_cv_result){0};
    DKM_REQUIRE(ctx, problem->inner == 0, DKM_ERR_ARG,
                "successive halving is not nested: leave inner folds out, or search a grid or at "
                "random");
    DKM_REQUIRE(ctx, dkm_data_type(problem->X) != DKM_GRAPH, DKM_ERR_UNSUPPORTED,
                "successive halving takes some of the examples, and no part of a graph stands for "
                "itself: search a grid or at random");
    DKM_TRY(halving_open(&h));
    for (dkm_idx r = 0; r < h.rounds; r++)
        DKM_TRY(try_round(&h, r));
out:
    halving_close(&h);
    return status;
}
