/** @file loo.h  Leave-one-out and generalized cross-validation errors in closed form.
 *
 *  A fit leaves out example i with the residual e_i = b_i / p_i, where b = G t are the coefficients
 *  of the right-hand side t and p_i = G(i, i), for any G that is (K + gamma I)^-1 up to a factor:
 * in the primal 1 - X (X'X + gamma I)^-1 X'. A mean taken off the right-hand sides is taken off
 * anew from the examples that are left; with u = G 1 that makes b_i + t_i u_i / (m - 1) of b_i.
 *
 *  Where the penalty is on the coefficients, leaving out an example drops its column of K too. G is
 *  then complex, (K + i sqrt(gamma) I)^-1 up to a factor; what is given are its parts, first the
 *  one that residuals are made of, and e_i is the real part of the quotient.
 */
#ifndef DKMAP_SOLVERS_RIDGE_PATH_LOO_H
#define DKMAP_SOLVERS_RIDGE_PATH_LOO_H

#include <dkmap/ridge_path.h>

#include "matrix/multivec.h"

/** What is known of some rows for one part of G: b(i, j) at b[i * ldb + j], the others at
 *  u[i * ld] and p[i * ld]. */
typedef struct dkm_loo_part {
    const double *b;
    dkm_idx ldb;
    const double *u; /**< NULL when no mean was taken off */
    const double *p;
    dkm_idx ld;
} dkm_loo_part;

/** Some rows and columns of the right-hand sides, for one gamma. */
typedef struct dkm_loo_piece {
    dkm_idx gamma;     /**< its place in the list */
    dkm_idx row, rows; /**< of this rank's slab */
    dkm_idx col, cols; /**< all of them where classes are predicted */
    int parts;         /**< 1 or 2 */
    dkm_loo_part part[2];
} dkm_loo_piece;

typedef struct dkm_loo {
    const dkm_multivec *T; /**< right-hand sides, borrowed */
    dkm_idx m;             /**< examples */
    const dkm_path_settings *settings;
    double *sums;
    double *row; /**< of classes and label sets: what is found for one row */
} dkm_loo;

/** Begin with sums of zero. Local; dkm_loo_close() frees. */
DKM_NODISCARD dkm_local dkm_loo_open(dkm_loo *loo, const dkm_multivec *T, dkm_idx m,
                                     const dkm_path_settings *settings);
/** Add a piece. Every row and column must be added once. Local. */
void dkm_loo_add(dkm_loo *loo, const dkm_loo_piece *piece);
/** The errors of gammas [first, first + count), into their points. Collective. */
void dkm_loo_finish(dkm_loo *loo, dkm_idx first, dkm_idx count, dkm_path_point *points);
void dkm_loo_close(dkm_loo *loo);

#endif
