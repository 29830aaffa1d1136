/* One step of a descent with backtracking: a trial that does not improve halves the step, one
 * that does becomes the iterate. Cost: a few times d operations per point. Local. */
#include "preimage/descent_step.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-8  /* of a step, relative to the size of the objects */
#define NOISE     1e-14 /* of a value, relative to its parts */

double dkm_descent_dot(const double *a, const double *b, dkm_idx d)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Look next at x + step direction; a step too small to matter settles the point. */
static void set_trial(const dkm_descent_walk *s, double *row)
{
    double *x = row, *trial = row + s->d, *direction = row + 2 * s->d,
           *c = dkm_descent_scalars(s, row);
    double length = c[DKM_POINT_STEP] * sqrt(dkm_descent_dot(direction, direction, s->d));

    for (dkm_idx k = 0; k < s->d; k++)
        trial[k] = x[k] + c[DKM_POINT_STEP] * direction[k];
    if (!(length > TOLERANCE * s->size))
        c[DKM_POINT_STATE] = DKM_POINT_SETTLED;
}

/* The step that would have been right for the last one (Barzilai and Borwein). */
static double learn_step(const dkm_descent_walk *s, const double *old, const double *new,
                         double step)
{
    double along = dkm_descent_dot(old, old, s->d),
           change = along - dkm_descent_dot(old, new, s->d);

    return change > 0 ? step * along / change : 2.0 * step;
}

static double first_step(const dkm_descent_walk *s, const double *direction)
{
    double length = sqrt(dkm_descent_dot(direction, direction, s->d));

    return s->rule->full_steps ? 1.0 : length > 0 ? 0.1 * s->size / length : 0.0;
}

/* The trial is the best so far: turn to where to go from there. */
static void accept(const dkm_descent_walk *s, const dkm_descent_point *point, double value,
                   double *row, double *next)
{
    double *direction = row + 2 * s->d, *c = dkm_descent_scalars(s, row);

    memcpy(row, point->t, (size_t)s->d * sizeof *row);
    c[DKM_POINT_VALUE] = value;
    if (s->rule->direction(point, next)) {
        c[DKM_POINT_STATE] = DKM_POINT_LOST;
        return;
    }
    c[DKM_POINT_STEP] = s->rule->full_steps || c[DKM_POINT_STATE] == DKM_POINT_FRESH
                            ? first_step(s, next)
                            : learn_step(s, direction, next, c[DKM_POINT_STEP]);
    c[DKM_POINT_STATE] = DKM_POINT_WALKING;
    memcpy(direction, next, (size_t)s->d * sizeof *next);
    set_trial(s, row);
}

void dkm_descent_advance(const dkm_descent_walk *s, const dkm_descent_point *point, double *row,
                         double *next)
{
    double *c = dkm_descent_scalars(s, row), value = point->self - 2.0 * point->inner;
    double noise = NOISE * (fabs(point->self) + 2.0 * fabs(point->inner));

    if (c[DKM_POINT_STATE] == DKM_POINT_FRESH ? isfinite(value)
                                              : value <= c[DKM_POINT_VALUE] + noise) {
        accept(s, point, value, row, next);
    } else if (c[DKM_POINT_STATE] == DKM_POINT_FRESH) {
        c[DKM_POINT_STATE] = DKM_POINT_LOST;
    } else {
        c[DKM_POINT_STEP] *= 0.5;
        set_trial(s, row);
    }
}
