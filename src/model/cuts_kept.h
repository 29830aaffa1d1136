/** @file cuts_kept.h  The constraints of a cutting-plane machine as parts of a state.
 *
 *  Rows of constraints lie where their examples are; in a state they are in the order of all, so
 *  that a run on another number of ranks can take them up.
 */
#ifndef DKMAP_CUTS_KEPT_H
#define DKMAP_CUTS_KEPT_H

#include "data/bundle.h"
#include "model/cutset.h"
#include "model/onecut.h"

/** What a state borrows until it is saved. */
typedef struct dkm_cuts_lent {
    double *rows, *program;
} dkm_cuts_lent;

void dkm_cuts_lent_clear(dkm_cuts_lent *lent);

/** Add a set of constraints with its program to a state. Collective. */
DKM_NODISCARD
dkm_status dkm_cutset_put(const dkm_cutset *cuts, dkm_bundle *state, dkm_cuts_lent *lent);
DKM_NODISCARD
dkm_status dkm_onecut_put(const dkm_onecut *cuts, dkm_bundle *state, dkm_cuts_lent *lent);

/** Fill an empty set from a state. Collective.
 *  @return DKM_OK; DKM_ERR_FORMAT; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_cutset_get(dkm_cutset *cuts, const dkm_bundle *state);
DKM_NODISCARD
dkm_status dkm_onecut_get(dkm_onecut *cuts, const dkm_bundle *state);

#endif
