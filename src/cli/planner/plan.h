/** @file plan.h  What a fit will take: bytes per rank, operations and seconds, phase by phase.
 *
 *  Bytes follow from sizes and the grid. Seconds are those of a calibration, scaled by how much of
 *  its machine the ranks put to use; without one they are unknown.
 */
#ifndef DKMAP_CLI_PLANNER_PLAN_H
#define DKMAP_CLI_PLANNER_PLAN_H

#include <dkmap/grid.h>

#include "cli/core/calibration.h"

typedef enum plan_method { PLAN_KRR, PLAN_KPCA, PLAN_KDE, PLAN_JKM } plan_method;

/** What is to be planned. */
typedef struct plan_problem {
    plan_method method;
    dkm_idx m;           /**< examples */
    dkm_idx x_cols;      /**< numbers of an input; 0 where inputs are no dense rows */
    dkm_idx y_cols;      /**< numbers of an output; 0 where there are none or they are no rows */
    double x_bytes;      /**< of an input */
    double y_bytes;      /**< of an output */
    dkm_idx outputs;     /**< right-hand sides of the ridge system, coordinates of a joint map */
    dkm_idx components;  /**< wanted eigenpairs; 0 is all */
    int mixed;           /**< factor in single precision beside the double matrix */
    dkm_idx rounds;      /**< of a joint map or an eigensolver, as expected; 0 where unknown */
    dkm_idx constraints; /**< that it ends with */
    int primal;          /**< it goes through the features of its inputs, without a Gram matrix */
    int ranks, P, Q;
    dkm_idx block;
    int nodes;
} plan_problem;

enum { PLAN_PHASES = 8 };

typedef struct plan_phase {
    const char *name;
    double bytes;   /**< held on the fullest rank while it lasts */
    double flops;   /**< of all ranks */
    double seconds; /**< NaN where unknown */
} plan_phase;

typedef struct plan {
    int count;
    plan_phase phases[PLAN_PHASES];
    double peak; /**< bytes of the fullest rank */
    double flops;
    double seconds; /**< NaN where unknown */
} plan;

/** Columns of a block and of the basis of the block eigensolver. Local. */
double plan_block(double components);
double plan_basis(double components);

/** Reckon. Local.
 *  @param[in] c  NULL without a calibration */
void plan_make(const plan_problem *problem, const calibration *c, plan *out);

#endif
