/** @file jkm_cutting_plane.h  The iterations of a joint kernel map: look, add, solve.
 *
 *  Between iterations all there is to know is the set of constraints with their multipliers, the
 * iteration and the epsilon it works at.
 */
#ifndef DKMAP_MODELS_JKM_JKM_CUTTING_PLANE_H
#define DKMAP_MODELS_JKM_JKM_CUTTING_PLANE_H

#include "models/jkm/constraint_set.h"
#include "models/jkm/one_slack.h"
#include "models/jkm/separation_oracle.h"

typedef struct dkm_cutting_plane {
    dkm_ctx *ctx;
    dkm_joint_map *map;
    dkm_separation_oracle *oracle;
    const dkm_jkm_settings *settings;
    int one;   /**< a single slack: `joint` holds the constraints, else `cuts` */
    int split; /**< a threshold: right and wrong outputs have constraints of their own */
    int slow;  /**< constraints are looked for with an exponentially averaged weight vector */
    dkm_constraint_set cuts;
    dkm_one_slack joint;
    dkm_idx round;
    double *U, *G;  /**< own examples x r: the weight vector, and W x */
    int begun;      /**< whether H has been set */
    double *H, *V;  /**< slow: own examples x r, W x of that weight vector, and what violates it */
    double *slack;  /**< own examples, twice where split: what the constraints so far require */
    double started; /**< seconds of the clock */
    double told;    /**< seconds since then at the last remark */
    double first_gap;
    double
        least; /**< smallest of the largest violations of each iteration, relative to the margin */
    dkm_jkm_info info;
} dkm_cutting_plane;

/** Run iterations until all constraints are met, or the gap is closed. Collective;
 *  dkm_cutting_plane_close() frees, also after a failure. On success U is the weight vector.
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no weight vector meets all constraints */
DKM_NODISCARD
dkm_status dkm_cutting_plane_run(dkm_cutting_plane *loop, dkm_joint_map *map,
                                 dkm_separation_oracle *oracle, const dkm_jkm_settings *settings);
/** Sums and the largest of what was found, over all examples. */
typedef struct dkm_jkm_separation {
    double slack;            /**< sum of xi at the weight vector's true constraints */
    double violation;        /**< largest, beyond the slack so far where there are slacks */
    double margin_violation; /**< largest, slack or not */
} dkm_jkm_separation;

/** What a constraint requires: the margin, or half of it beside a threshold. Local. */
double dkm_jkm_required_margin(const dkm_cutting_plane *loop);

/** Look for the constraints that the present weight vector violates most. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_separate(dkm_cutting_plane *loop, dkm_jkm_separation *found);

/** Add those that were found, as far as they are violated by @p least or more. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_add_cuts(dkm_cutting_plane *loop, double least);

/** Find a violated constraint of each own example, and how far the most violated one is from being
 *  met. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_separate_stabilized(dkm_cutting_plane *loop);
void dkm_cutting_plane_close(dkm_cutting_plane *loop);

#endif
