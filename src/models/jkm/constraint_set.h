/** @file constraint_set.h  The constraints of a cutting-plane solver, and their quadratic program
 * (QP).
 *
 *  A constraint <w, Phi(x_i, v)> >= b belongs to the rank that holds its example: there its row v
 * is kept. What takes a number per constraint (example, b, multiplier) is on every rank, and the
 *  QP with its Gram matrix is on rank 0; where there are more than `limit`, rows of the matrix
 *  are on the ranks of their constraints. New constraints travel to all ranks once; each rank
 *  multiplies them with its own.
 *
 *  In the split form constraints have a threshold t beside them: <w, Phi(x_i, v)> + s t >= b, with
 *  s = 1 for v = y_i and s = -1 for v = -y.
 */
#ifndef DKMAP_MODELS_JKM_CONSTRAINT_SET_H
#define DKMAP_MODELS_JKM_CONSTRAINT_SET_H

#include "models/jkm/joint_map/joint_map.h"
#include "solvers/qp/distributed.h"

typedef struct dkm_constraint_set {
    dkm_joint_map *map;
    dkm_idx n, room;
    dkm_idx *example;  /**< n, counted over all ranks */
    dkm_idx *choice;   /**< n, the candidate it is about, or -1 */
    dkm_idx *age;      /**< n, iterations since its multiplier was positive */
    double *b, *a;     /**< n */
    double *bias_sign; /**< n, s of the split form, else 0 */
    dkm_idx own;       /**< constraints of this rank's examples, in the order of all */
    dkm_idx own_room;
    dkm_idx *place; /**< own: which of all */
    dkm_idx *mine;  /**< own: the example, counted from this rank's first */
    double *V;      /**< own x r */
    dkm_qp qp;      /**< on rank 0 */
    dkm_idx limit;  /**< constraints whose Gram matrix rank 0 has, at most */
    int far;        /**< whether there are more: it is in `spread` */
    dkm_qp_distributed spread;
    int split;        /**< whether there is a threshold */
    double threshold; /**< t */
    double weight;    /**< of s s' in the Gram matrix, see dkm_constraint_set_solve() */
} dkm_constraint_set;

/** Constraints that a rank proposes, of its own examples in ascending order. */
typedef struct dkm_proposals {
    dkm_idx count;
    dkm_idx *example; /**< counted over all ranks */
    dkm_idx *choice;
    double *b, *bias_sign;
    double *V; /**< count x r */
} dkm_proposals;

/** An empty set. Local; dkm_constraint_set_clear() frees. */
dkm_constraint_set dkm_constraint_set_empty(dkm_joint_map *map);
void dkm_constraint_set_clear(dkm_constraint_set *cuts);

/** The rank that has constraint c, and the slack that c shares with others. Local. */
int dkm_constraint_set_owner(const dkm_constraint_set *cuts, dkm_idx c);
dkm_idx dkm_constraint_set_group(const dkm_constraint_set *cuts, dkm_idx c);

/** Tell the spread matrix of the last @p count constraints. Collective. */
DKM_NODISCARD
dkm_status dkm_constraint_set_distributed_grow(dkm_constraint_set *cuts, dkm_idx count);

/** Add what all ranks propose. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_constraint_set_add(dkm_constraint_set *cuts, const dkm_proposals *mine);

/** Solve the QP from the last solution and broadcast the multipliers, and the threshold.
 *  Collective.
 *  @param[in] C  budget of a slack; 0 for none */
DKM_NODISCARD
dkm_status dkm_constraint_set_solve(dkm_constraint_set *cuts, double C, double tolerance,
                                    dkm_qp_info *info);

/** Drop constraints whose multiplier was zero for @p iterations iterations. Collective. */
DKM_NODISCARD
dkm_status dkm_constraint_set_prune(dkm_constraint_set *cuts, dkm_idx rounds);

/** Multiply all right-hand sides and multipliers, and the threshold, by @p ratio: the solution of
 * the scaled program. Local, with the same arguments on every rank. */
void dkm_constraint_set_scale(dkm_constraint_set *cuts, double ratio);

/** U = sum of a v over the constraints of each example of this rank. Local. */
void dkm_constraint_set_weights(const dkm_constraint_set *cuts, double *U);

#endif
