/** @file separation_oracle.h  The most violated constraint of every example, given the weight
 * vector's values W x.
 *
 *  On the unit sphere, with a = g.y_i, c = 1 - epsilon^2/2 and r = g - a y_i, the output that
 *  violates most is g / ||g|| where a <= c ||g||, and else c y_i + epsilon sqrt(1 - epsilon^2/4)
 *  r / ||r||. Among all vectors it is y_i + epsilon (g - y_i) / ||g - y_i||. In a finite set it is
 *  the candidate farther than epsilon whose constraint is violated most, the first of equals.
 */
#ifndef DKMAP_MODELS_JKM_SEPARATION_ORACLE_H
#define DKMAP_MODELS_JKM_SEPARATION_ORACLE_H

#include "models/jkm/output_space/output_space.h"

struct dkm_chain;

typedef struct dkm_separation_oracle {
    const dkm_output_space *space;
    dkm_idx first, n; /**< this rank's examples */
    double epsilon, margin;
    dkm_jkm_rescale rescale;
    dkm_jkm_oracle user;
    struct dkm_chain *chain; /**< of label sequences; else NULL. Borrowed */
    double *away;            /**< n x r: where to go where g does not say */
    double *violation;       /**< n: b - <g, v>; negative infinity where there is no constraint */
    double *b;               /**< n */
    dkm_idx *choice;         /**< n: the candidate, or -1 */
    double *V;               /**< n x r: v = y_i - y, by which g is multiplied */
} dkm_separation_oracle;

/** Make ready for the examples of @p space. Collective; dkm_separation_oracle_close() frees, also
 * after a failure. */
DKM_NODISCARD dkm_status dkm_separation_oracle_open(dkm_separation_oracle *oracle,
                                                    const dkm_output_space *space, dkm_idx m,
                                                    const dkm_jkm_settings *settings);
void dkm_separation_oracle_close(dkm_separation_oracle *oracle);

/** Take another epsilon, and the margin that goes with it. Local. */
void dkm_separation_oracle_set_epsilon(dkm_separation_oracle *oracle, double epsilon);

/** Find the most violated constraint of each own example. Collective.
 *  @param[in] G  n x r, W x_i */
DKM_NODISCARD dkm_status dkm_separation_oracle_search(dkm_separation_oracle *oracle,
                                                      const double *G);

#endif
