/** @file onecut.h  Constraints that sum up one of every example: a single slack for all of them.
 *
 *  A constraint names a candidate for each example that falls short, and adds up what those ask
 *  for: sum_i <w, Phi(x_i, z_i - c_i)> >= sum_i b_i - xi. It takes one number an example, where the
 *  example is; products of a new constraint with the others come from one application of the form.
 *
 *  For classes under a linear kernel of few features a constraint is kept as a machine of its own
 * as well, W = X'U, spread over the ranks by features: products and values then come from those.
 */
#ifndef DKMAP_ONECUT_H
#define DKMAP_ONECUT_H

#include "model/form.h"
#include "model/oracle.h"
#include "solve/qp.h"

typedef struct dkm_onecut {
    dkm_form *form;
    const dkm_oracle *oracle;
    dkm_idx n, room;  /**< constraints */
    int32_t **choice; /**< n, each this rank's examples: the candidate, or -1 */
    dkm_idx *idle;    /**< n, rounds since its multiplier was positive */
    double *b, *a;    /**< n, on every rank */
    int primal;       /**< constraints are kept as machines as well */
    double **W;       /**< n, primal: each this rank's features x r */
    int32_t *truth;   /**< primal: the class of every example */
    dkm_qp qp;        /**< on rank 0 */
} dkm_onecut;

/** An empty set. Local; dkm_onecut_clear() frees. */
dkm_onecut dkm_onecut_empty(dkm_form *form, const dkm_oracle *oracle);
void dkm_onecut_clear(dkm_onecut *cuts);

/** Add the constraint of all examples that the oracle found to fall short. Collective. */
DKM_NODISCARD
dkm_status dkm_onecut_add(dkm_onecut *cuts);

/** Solve the program from the last solution and tell all ranks the multipliers. Collective. */
DKM_NODISCARD
dkm_status dkm_onecut_solve(dkm_onecut *cuts, double C, double tolerance, dkm_qp_info *info);

/** Drop constraints whose multiplier was zero for @p rounds rounds. Local, alike on every rank. */
DKM_NODISCARD
dkm_local dkm_onecut_prune(dkm_onecut *cuts, dkm_idx rounds);

/** Multiply all right-hand sides and multipliers by @p ratio: the solution of the scaled program.
 *  Local, with the same arguments on every rank. */
void dkm_onecut_scale(dkm_onecut *cuts, double ratio);

/** G = W x of the own examples. Collective.
 *  @param[out] U, G  this rank's examples x r; U is changed */
DKM_NODISCARD
dkm_status dkm_onecut_values(dkm_onecut *cuts, double *U, double *G);

/** U: the machine, this rank's examples x r. Collective. */
DKM_NODISCARD
dkm_status dkm_onecut_machine(const dkm_onecut *cuts, double *U);

#endif
