/** @file one_slack_primal.h  Constraints of one_slack.h as weight vectors W = X'U, where outputs
 * are classes and the kernel is linear.
 *
 *  A weight vector is made of the choices alone: every rank adds up its share of the features of
 * all examples, in their order. All of it comes out the same on any number of ranks.
 */
#ifndef DKMAP_MODELS_JKM_ONE_SLACK_PRIMAL_H
#define DKMAP_MODELS_JKM_ONE_SLACK_PRIMAL_H

#include "models/common/reproducible.h"
#include "models/jkm/one_slack.h"

/** Make the weight vector of constraint @p k from its choices. Collective. */
DKM_NODISCARD dkm_status dkm_one_slack_primal_make(dkm_one_slack *s, dkm_idx k);

/** Make the weight vector of the last constraint, and its products with all. Collective.
 *  @param[in,out] products  n, zero before */
DKM_NODISCARD dkm_status dkm_one_slack_primal_inner(dkm_one_slack *s, dkm_twosum *products);

/** G = X W, W the sum of all weight vectors times their multipliers. Collective. */
DKM_NODISCARD dkm_status dkm_one_slack_primal_values(dkm_one_slack *s, double *G);

#endif
