/* Chooses among the ways to choose landmarks: uniform, ridge leverage scores, pivoted Cholesky
 * (random, greedy), farthest points. Each has its file, with reference and cost. */
#include <dkmap/landmarks.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "solvers/landmarks/greedy.h"
#include "solvers/landmarks/ridge_leverage_scores.h"
#include "solvers/landmarks/rpcholesky.h"
#include "solvers/landmarks/weighted_sampling.h"

#define UNIFORM_STREAM  0x6c616e646d61726bu
#define LEVERAGE_STREAM (UNIFORM_STREAM + 1)
#define PILOT_MAX       2000 /* objects of the first draw of leverage, whose matrix every rank holds */

const char *dkm_landmark_name(dkm_landmark_method choice)
{
#define CHOICE_NAME(code, name) [code] = name,
    static const char *const names[] = {DKM_LANDMARK_LIST(CHOICE_NAME)};
#undef CHOICE_NAME
    size_t at = (size_t)choice;

    return at < sizeof names / sizeof *names ? names[at] : "unknown";
}

dkm_status dkm_landmarks_uniform(dkm_ctx *ctx, dkm_idx m, dkm_idx count, dkm_idx *indices)
{
    const dkm_weighted_sampling sampling = {.ctx = ctx, .m = m, .stream = UNIFORM_STREAM};

    return dkm_weighted_sampling_draw(&sampling, &count, indices);
}

/* A first uniform draw of a part of them, then all by what that leaves. */
static dkm_status landmarks_by_leverage(dkm_grid *grid, const dkm_prepared *X, double gamma,
                                        dkm_idx *count, dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(X), first = (*count + 1) / 2;
    dkm_weighted_sampling sampling = {.ctx = X->ctx, .m = m, .stream = LEVERAGE_STREAM};
    double *weights = NULL;

    first = first < PILOT_MAX ? first : PILOT_MAX;
    DKM_AGREE(X->ctx, dkm_alloc(X->ctx, X->X->mine.n, &weights));
    DKM_TRY(dkm_landmarks_uniform(X->ctx, m, first, indices));
    DKM_TRY(dkm_ridge_leverage_scores(grid, X, first, indices, gamma, weights));
    sampling.weights = weights;
    DKM_TRY(dkm_weighted_sampling_draw(&sampling, count, indices));
out:
    DKM_FREE(weights);
    return status;
}

static dkm_local landmarks_check_count(const dkm_prepared *X, dkm_idx count)
{
    if (count < 1 || count > dkm_prepared_rows(X))
        return dkm_fail(X->ctx, DKM_ERR_ARG, "%lld landmarks of %lld objects cannot be chosen",
                        (long long)count, (long long)dkm_prepared_rows(X));
    return DKM_LOCAL_OK;
}

dkm_status dkm_landmarks_choose(dkm_grid *grid, const dkm_prepared *X, dkm_landmark_method choice,
                                double gamma, dkm_idx *count, dkm_idx *indices)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(X->ctx, landmarks_check_count(X, *count));
    if (choice == DKM_LANDMARKS_UNIFORM)
        DKM_TRY(dkm_landmarks_uniform(X->ctx, dkm_prepared_rows(X), *count, indices));
    else if (choice == DKM_LANDMARKS_LEVERAGE)
        DKM_TRY(landmarks_by_leverage(grid, X, gamma, count, indices));
    else if (choice == DKM_LANDMARKS_FARTHEST)
        DKM_TRY(dkm_greedy_choose(X, DKM_GREEDY_FARTHEST, count, indices));
    else if (choice == DKM_LANDMARKS_CHOLESKY)
        DKM_TRY(dkm_greedy_choose(X, DKM_GREEDY_CHOLESKY, count, indices));
    else if (choice == DKM_LANDMARKS_FIRST)
        for (dkm_idx k = 0; k < *count; k++)
            indices[k] = k;
    else
        DKM_TRY(dkm_rpcholesky_choose(X, count, indices));
out:
    return status;
}
