#include "models/jkm/checkpoint_lists.h"

#include <string.h>

#include "core/alloc.h"

dkm_local dkm_checkpoint_list_put_ints(dkm_archive *state, const char *name, dkm_idx n,
                                       const dkm_idx *list)
{
    dkm_local local = DKM_LOCAL_OK;
    double *reals = NULL;

    DKM_STEP(dkm_alloc(state->ctx, n, &reals));
    for (dkm_idx c = 0; c < n; c++)
        reals[c] = (double)list[c];
    DKM_STEP(dkm_archive_put_reals(state, name, n, reals));
out:
    DKM_FREE(reals);
    return local;
}

/* A list of n numbers; *n is set by the first one asked for, when it is negative. */
static dkm_local get_list(const dkm_archive *state, const char *name, dkm_idx *n,
                          const double **list)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;

    DKM_STEP(dkm_archive_reals(state, name, &count, list));
    if (*n < 0)
        *n = count;
    if (count != *n)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "a checkpoint of %lld %s, not %lld",
                          (long long)count, name, (long long)*n));
out:
    return local;
}

dkm_local dkm_checkpoint_list_get_ints(const dkm_archive *state, const char *name, dkm_idx *n,
                                       dkm_idx **wholes)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *list = NULL;

    DKM_STEP(get_list(state, name, n, &list));
    DKM_STEP(dkm_alloc(state->ctx, *n, wholes));
    for (dkm_idx c = 0; c < *n; c++)
        DKM_STEP(dkm_archive_whole(state, name, list[c], INT64_MIN, INT64_MAX, &(*wholes)[c]));
out:
    return local;
}

dkm_local dkm_checkpoint_list_get_reals(const dkm_archive *state, const char *name, dkm_idx *n,
                                        double **reals)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *list = NULL;

    DKM_STEP(get_list(state, name, n, &list));
    DKM_STEP(dkm_alloc(state->ctx, *n, reals));
    memcpy(*reals, list, (size_t)*n * sizeof **reals);
out:
    return local;
}
