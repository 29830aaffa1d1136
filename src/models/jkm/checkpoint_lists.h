/** @file checkpoint_lists.h  Lists of numbers in a state, one for each constraint. */
#ifndef DKMAP_MODELS_JKM_CHECKPOINT_LISTS_H
#define DKMAP_MODELS_JKM_CHECKPOINT_LISTS_H

#include "io/archive/archive.h"

/** Add a list of integers. Local. */
DKM_NODISCARD
dkm_local dkm_checkpoint_list_put_ints(dkm_archive *state, const char *name, dkm_idx n,
                                       const dkm_idx *list);

/** Copies of a list, owned by the caller. Local.
 *  @param[in,out] n  how many there must be; set to how many there are where it is negative
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT */
DKM_NODISCARD
dkm_local dkm_checkpoint_list_get_ints(const dkm_archive *state, const char *name, dkm_idx *n,
                                       dkm_idx **wholes);
DKM_NODISCARD
dkm_local dkm_checkpoint_list_get_reals(const dkm_archive *state, const char *name, dkm_idx *n,
                                        double **reals);

#endif
