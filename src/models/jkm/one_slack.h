/** @file one_slack.h  The 1-slack formulation: what its parts share.
 *
 *  A constraint names a candidate for each example that falls short, and adds up what those
 * require: sum_i <w, Phi(x_i, z_i - c_i)> >= sum_i b_i - xi. It takes one number per example, where
 * the example is; products of a new constraint with the others come from one application of the
 * joint map.
 *
 *  For classes under a linear kernel of few features a constraint is also stored as a weight vector
 *  W = X'U, distributed over the ranks by features: products and scores then come from those.
 */
#ifndef DKMAP_MODELS_JKM_ONE_SLACK_H
#define DKMAP_MODELS_JKM_ONE_SLACK_H

#include "models/jkm/constraint_set.h"

typedef struct dkm_one_slack {
    dkm_constraint_set base;
    dkm_idx capacity; /**< of choice and W */
    int32_t **choice; /**< n, each this rank's examples: the candidate, or -1 */
    int primal;       /**< whether constraints are stored as weight vectors as well */
    int named;        /**< choices of classes say all that a kernel matrix is applied to */
    double **W; /**< n: this rank's features x r (primal), or its examples' scores x r, or NULL */
} dkm_one_slack;

/** See dkm_constraint_ops. */
DKM_NODISCARD dkm_status dkm_one_slack_save(dkm_constraint_set *set, dkm_archive *state,
                                            double **lent);
DKM_NODISCARD dkm_status dkm_one_slack_load(dkm_constraint_set *set, const dkm_archive *state);

#endif
