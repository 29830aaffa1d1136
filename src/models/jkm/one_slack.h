/** @file one_slack.h  Constraints that sum up one of every example: a single slack for all of them.
 *
 *  A constraint names a candidate for each example that falls short, and adds up what those require
 *: sum_i <w, Phi(x_i, z_i - c_i)> >= sum_i b_i - xi. It takes one number per example, where the
 *  example is; products of a new constraint with the others come from one application of the joint
 *map.
 *
 *  For classes under a linear kernel of few features a constraint is kept as a weight vector of its
 *own as well, W = X'U, spread over the ranks by features: products and values then come from those.
 */
#ifndef DKMAP_MODELS_JKM_ONE_SLACK_H
#define DKMAP_MODELS_JKM_ONE_SLACK_H

#include "models/jkm/joint_map/joint_map.h"
#include "models/jkm/separation_oracle.h"
#include "solvers/qp/qp.h"

typedef struct dkm_one_slack {
    dkm_joint_map *map;
    const dkm_separation_oracle *oracle;
    dkm_idx n, room;  /**< constraints */
    int32_t **choice; /**< n, each this rank's examples: the candidate, or -1 */
    dkm_idx *age;     /**< n, iterations since its multiplier was positive */
    double *b, *a;    /**< n, on every rank */
    int primal;       /**< constraints are kept as weight vectors as well */
    double **W;       /**< n, primal: each this rank's features x r */
    int32_t *truth;   /**< primal: the class of every example */
    dkm_qp qp;        /**< on rank 0 */
} dkm_one_slack;

/** An empty set. Local; dkm_one_slack_clear() frees. */
dkm_one_slack dkm_one_slack_empty(dkm_joint_map *map, const dkm_separation_oracle *oracle);
void dkm_one_slack_clear(dkm_one_slack *cuts);

/** Add the constraint of all examples that the oracle found to fall short. Collective. */
DKM_NODISCARD
dkm_status dkm_one_slack_add(dkm_one_slack *cuts);

/** Solve the QP from the last solution and broadcast the multipliers. Collective. */
DKM_NODISCARD
dkm_status dkm_one_slack_solve(dkm_one_slack *cuts, double C, double tolerance, dkm_qp_info *info);

/** Drop constraints whose multiplier was zero for @p iterations iterations. Local, alike on every
 * rank. */
DKM_NODISCARD
dkm_local dkm_one_slack_prune(dkm_one_slack *cuts, dkm_idx rounds);

/** Multiply all right-hand sides and multipliers by @p ratio: the solution of the scaled program.
 *  Local, with the same arguments on every rank. */
void dkm_one_slack_scale(dkm_one_slack *cuts, double ratio);

/** G = W x of the own examples. Collective.
 *  @param[out] U, G  this rank's examples x r; U is changed */
DKM_NODISCARD
dkm_status dkm_one_slack_values(dkm_one_slack *cuts, double *U, double *G);

/** U: the weight vector, this rank's examples x r. Collective. */
DKM_NODISCARD
dkm_status dkm_one_slack_weights(const dkm_one_slack *cuts, double *U);

#endif
