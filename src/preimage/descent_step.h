/** @file descent_step.h  One point of a descent: its row of numbers, and a step of it.
 *
 *  A point is a row of numbers, so that points can move between ranks:
 *    x (d)          the best so far
 *    trial (d)      where to look next, x + step direction
 *    direction (d)
 *    a few scalars, the indices of its starts, and its coordinates z (p)
 */
#ifndef DKMAP_PREIMAGE_DESCENT_STEP_H
#define DKMAP_PREIMAGE_DESCENT_STEP_H

#include "preimage/descent.h"

/** Starts of a point, at most. */
enum { DKM_POINT_STARTS = 5 };

/** Positions of the scalars. */
enum {
    DKM_POINT_VALUE,
    DKM_POINT_STEP,
    DKM_POINT_STATE,
    DKM_POINT_TRIED,
    DKM_POINT_START,
    DKM_POINT_SCALARS = DKM_POINT_START + DKM_POINT_STARTS
};

/** What the state can be. */
enum { DKM_POINT_FRESH, DKM_POINT_WALKING, DKM_POINT_LOST, DKM_POINT_SETTLED, DKM_POINT_FAILED };

/** What all points have in common. */
typedef struct dkm_descent_walk {
    const dkm_descent_rule *rule;
    dkm_idx d;
    double size; /**< of the objects: steps are small or large relative to it */
} dkm_descent_walk;

static inline double *dkm_descent_scalars(const dkm_descent_walk *s, double *row)
{
    return row + 3 * s->d;
}

static inline int dkm_descent_at_work(const dkm_descent_walk *s, double *row)
{
    return dkm_descent_scalars(s, row)[DKM_POINT_STATE] < DKM_POINT_SETTLED;
}

/** sum a_k b_k over d numbers. Local. */
double dkm_descent_dot(const double *a, const double *b, dkm_idx d);

/** What to do with a point, now that its trial is known: go there and turn, halve the step, settle,
 *  or be lost. Local.
 *
 *  @param[in]     point  what is known of the trial
 *  @param[in,out] row    the point
 *  @param[out]    next   space for d numbers
 */
void dkm_descent_advance(const dkm_descent_walk *s, const dkm_descent_point *point, double *row,
                         double *next);

#endif
