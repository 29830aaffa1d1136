/** @file n_slack.h  The n-slack formulation: what its parts share.
 *
 *  A constraint <w, Phi(x_i, v)> >= b belongs to the rank that holds its example i: there is its
 * row v. New constraints travel to all ranks once; each rank multiplies them with its own. Where
 * there are more than `limit`, rows of the Gram matrix are on the ranks of their constraints.
 *
 *  With a threshold t every example has two slacks: <w, Phi(x_i, v)> + s t >= b, with s = 1 for
 *  v = y_i and s = -1 for v = -y.
 */
#ifndef DKMAP_MODELS_JKM_N_SLACK_H
#define DKMAP_MODELS_JKM_N_SLACK_H

#include "models/jkm/constraint_set.h"

typedef struct dkm_n_slack {
    dkm_constraint_set base;
    int sides;         /**< slacks of an example: 2 beside a threshold, else 1 */
    dkm_idx capacity;  /**< of the next three */
    dkm_idx *example;  /**< n, counted over all ranks */
    dkm_idx *choice;   /**< n, the candidate it is about, or -1 */
    double *bias_sign; /**< n, s beside a threshold, else 0 */
    dkm_idx own;       /**< constraints of this rank's examples, in the order of all */
    dkm_idx own_capacity;
    dkm_idx *qp_index; /**< own: which of all */
    dkm_idx *mine;     /**< own: the example, counted from this rank's first */
    double *V;         /**< own x r */
    dkm_idx limit;     /**< constraints whose Gram matrix rank 0 has, at most */
    dkm_qp_distributed spread;
    double weight; /**< of s s' in the Gram matrix, see n_slack.c */
    double *price; /**< of all examples x sides, what their slack costs beside C; NULL: 1 */
    double *slack; /**< own examples x sides: what the constraints so far require */
    double
        *shortage; /**< own examples x sides: by how much the oracle's constraints are violated */
} dkm_n_slack;

/** The rank that has constraint c. Local. */
int dkm_n_slack_owner(const dkm_n_slack *s, dkm_idx c);

/** Tell the spread matrix of the last @p count constraints. Collective. */
DKM_NODISCARD dkm_status dkm_n_slack_distributed_grow(dkm_n_slack *s, dkm_idx count);

/** See dkm_constraint_ops. */
DKM_NODISCARD dkm_status dkm_n_slack_add(dkm_constraint_set *set, double least);
DKM_NODISCARD dkm_status dkm_n_slack_save(dkm_constraint_set *set, dkm_archive *state,
                                          double **lent);
DKM_NODISCARD dkm_status dkm_n_slack_load(dkm_constraint_set *set, const dkm_archive *state);

#endif
