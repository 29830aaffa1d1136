/** @file kept_lists.h  Lists of numbers in a state, one for each constraint. */
#ifndef DKMAP_KEPT_LISTS_H
#define DKMAP_KEPT_LISTS_H

#include "data/bundle.h"

/** Add a list of whole numbers. Local. */
DKM_NODISCARD
dkm_local dkm_kept_put_wholes(dkm_bundle *state, const char *name, dkm_idx n, const dkm_idx *list);

/** Copies of a list, owned by the caller. Local.
 *  @param[in,out] n  how many there must be; set to how many there are where it is negative
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT */
DKM_NODISCARD
dkm_local dkm_kept_get_wholes(const dkm_bundle *state, const char *name, dkm_idx *n,
                              dkm_idx **wholes);
DKM_NODISCARD
dkm_local dkm_kept_get_reals(const dkm_bundle *state, const char *name, dkm_idx *n, double **reals);

#endif
