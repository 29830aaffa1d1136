/** @file constraint_checkpoint.h  The constraints of a cutting-plane solver as parts of a state.
 *
 *  Rows of constraints lie where their examples are; in a state they are in the order of all, so
 *  that a run on another number of ranks can take them up.
 */
#ifndef DKMAP_MODELS_JKM_CONSTRAINT_CHECKPOINT_H
#define DKMAP_MODELS_JKM_CONSTRAINT_CHECKPOINT_H

#include "io/archive/archive.h"
#include "models/jkm/constraint_set.h"
#include "models/jkm/one_slack.h"

/** What a state borrows until it is saved. */
typedef struct dkm_constraints_borrowed {
    double *rows, *program;
} dkm_constraints_borrowed;

void dkm_constraints_borrowed_clear(dkm_constraints_borrowed *lent);

/** Add a set of constraints with its program to a state. Collective. */
DKM_NODISCARD
dkm_status dkm_constraint_set_save(const dkm_constraint_set *cuts, dkm_archive *state,
                                   dkm_constraints_borrowed *lent);
DKM_NODISCARD
dkm_status dkm_one_slack_save(const dkm_one_slack *cuts, dkm_archive *state,
                              dkm_constraints_borrowed *lent);

/** Fill an empty set from a state. Collective.
 *  @return DKM_OK; DKM_ERR_FORMAT; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_constraint_set_restore(dkm_constraint_set *cuts, const dkm_archive *state);
DKM_NODISCARD
dkm_status dkm_one_slack_restore(dkm_one_slack *cuts, const dkm_archive *state);

#endif
