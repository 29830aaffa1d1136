/** @file descent.h  Many small minimizations at once: min over x of ||Psi - phi(x)||^2.
 *
 *  All points take their steps together, so that each round is a few matrix products. A point that
 *  a step does not bring nearer tries half of it; a point whose direction is undefined begins
 *  anew from the next of its starts, the training objects nearest to Psi. Once half of the points
 *  have settled the others go on among themselves.
 */
#ifndef DKMAP_PREIMAGE_DESCENT_H
#define DKMAP_PREIMAGE_DESCENT_H

#include "preimage/kernel_expansion.h"
#include "preimage/preimage.h"

/** What is known of one point t. */
typedef struct dkm_descent_point {
    dkm_idx d;
    const double *t;
    const double *dk_ds; /**< the gradient of <Psi, phi(t)> is by_s + 2 by_a t */
    double inner, dk_da; /**< inner is <Psi, phi(t)> */
    double self, slope;  /**< k(t, t), and its gradient is 2 slope t */
} dkm_descent_point;

typedef struct dkm_descent_rule {
    const char *name;
    int full_steps; /**< begin with the full direction; else step lengths are learned */
    /** Where to go from t. Local.
     *  @return nonzero when that is undefined */
    int (*direction)(const dkm_descent_point *point, double *direction);
} dkm_descent_rule;

/** The state of methods that descend. */
typedef struct dkm_descent_state {
    dkm_candidates training; /**< where to start */
    dkm_kernel_expansion expansion;
} dkm_descent_state;

/** Solve for all rows of coordinates. Collective.
 *
 *  A point that no start brings anywhere gets the nearest training object; how many there were, and
 *  how many had not settled when the iterations were over, is reported as a warning.
 *
 *  @param[in,out] state  as dkm_descent_prepare() left it
 */
DKM_NODISCARD dkm_status dkm_descent_solve(const dkm_preimage *pre, dkm_descent_state *state,
                                           const dkm_descent_rule *rule, const dkm_data *Z,
                                           dkm_data **Y);

/** Numbers a point takes. Local. */
dkm_idx dkm_descent_width(const dkm_preimage *pre);

/** Expansion and starts, and their end. Collective, and local.
 *  @param[out] state  a dkm_descent_state */
DKM_NODISCARD dkm_status dkm_descent_prepare(const dkm_preimage *pre, void *state);
void dkm_descent_clear(void *state);

#endif
