/** @file reference_cone.h  The exact optimum of a joint kernel map on the unit sphere, by its
 * cones.
 *
 *  All constraints of an example come to one: with g = A_i theta, a = <g, y_i> and b the length of
 *  what is left of g, a - b / tan(phi/2) >= 1/2 where sin(phi/2) = epsilon / 2. Alternating
 *  projections onto those cones with a penalty (ADMM) find the shortest theta.
 */
#ifndef DKMAP_REFERENCE_CONE_H
#define DKMAP_REFERENCE_CONE_H

enum { ORACLE_CONE_MOST = 64 }; /**< of q m, and of t */

typedef struct reference_cone {
    int m, q, t;     /**< examples, outputs, parameters */
    const double *A; /**< m q x t, row-major: g of all examples is A theta */
    const double *Y; /**< m x q, rows of unit length */
    double epsilon;
} reference_cone;

/** 1/2 ||theta||^2 at the optimum. */
double reference_cone_solve(const reference_cone *c, double *theta);

#endif
