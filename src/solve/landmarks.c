#include <dkmap/landmarks.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "solve/greedy.h"
#include "solve/leverage.h"
#include "solve/lottery.h"
#include "solve/pivots.h"

#define UNIFORM_STREAM  0x6c616e646d61726bu
#define LEVERAGE_STREAM (UNIFORM_STREAM + 1)
#define FIRST_MOST      2000 /* objects of the first draw of leverage, whose matrix every rank holds */

const char *dkm_landmark_name(dkm_landmark_choice choice)
{
#define CHOICE_NAME(code, name) [code] = name,
    static const char *const names[] = {DKM_LANDMARK_LIST(CHOICE_NAME)};
#undef CHOICE_NAME
    size_t at = (size_t)choice;

    return at < sizeof names / sizeof *names ? names[at] : "unknown";
}

dkm_status dkm_landmarks_uniform(dkm_ctx *ctx, dkm_idx m, dkm_idx count, dkm_idx *places)
{
    const dkm_lottery lottery = {.ctx = ctx, .m = m, .stream = UNIFORM_STREAM};

    return dkm_lottery_draw(&lottery, &count, places);
}

/* A first uniform draw of a part of them, then all by what that leaves. */
static dkm_status by_leverage(dkm_grid *grid, const dkm_prepared *X, double gamma, dkm_idx *count,
                              dkm_idx *places)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(X), first = (*count + 1) / 2;
    dkm_lottery lottery = {.ctx = X->ctx, .m = m, .stream = LEVERAGE_STREAM};
    double *weights = NULL;

    first = first < FIRST_MOST ? first : FIRST_MOST;
    DKM_AGREE(X->ctx, dkm_alloc(X->ctx, X->X->mine.n, &weights));
    DKM_TRY(dkm_landmarks_uniform(X->ctx, m, first, places));
    DKM_TRY(dkm_leverage_weights(grid, X, first, places, gamma, weights));
    lottery.weights = weights;
    DKM_TRY(dkm_lottery_draw(&lottery, count, places));
out:
    DKM_FREE(weights);
    return status;
}

static dkm_local check_count(const dkm_prepared *X, dkm_idx count)
{
    if (count < 1 || count > dkm_prepared_rows(X))
        return dkm_fail(X->ctx, DKM_ERR_ARG, "%lld landmarks of %lld objects cannot be chosen",
                        (long long)count, (long long)dkm_prepared_rows(X));
    return DKM_LOCAL_OK;
}

dkm_status dkm_landmarks_choose(dkm_grid *grid, const dkm_prepared *X, dkm_landmark_choice choice,
                                double gamma, dkm_idx *count, dkm_idx *places)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(X->ctx, check_count(X, *count));
    if (choice == DKM_LANDMARKS_UNIFORM)
        DKM_TRY(dkm_landmarks_uniform(X->ctx, dkm_prepared_rows(X), *count, places));
    else if (choice == DKM_LANDMARKS_LEVERAGE)
        DKM_TRY(by_leverage(grid, X, gamma, count, places));
    else if (choice == DKM_LANDMARKS_FARTHEST)
        DKM_TRY(dkm_greedy_choose(X, DKM_GREEDY_FARTHEST, count, places));
    else if (choice == DKM_LANDMARKS_CHOLESKY)
        DKM_TRY(dkm_greedy_choose(X, DKM_GREEDY_CHOLESKY, count, places));
    else if (choice == DKM_LANDMARKS_FIRST)
        for (dkm_idx k = 0; k < *count; k++)
            places[k] = k;
    else
        DKM_TRY(dkm_pivots_choose(X, count, places));
out:
    return status;
}
