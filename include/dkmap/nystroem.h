/** @file nystroem.h  Ridge regression past the memory of a kernel matrix: settings and findings.
 *
 *  With n landmarks C of the m inputs X as centers, f(x) = k(x, C) A minimizes
 *
 *    ||K_mn A - Y||^2 + gamma tr(A' K_nn A),  K_mn = k(X, C),  K_nn = k(C, C)
 *
 *  which is (K_nm K_mn + gamma K_nn) A = K_nm Y. It is solved by conjugate gradients, all columns
 *  at once; K_mn is computed strip by strip in every step, each strip used for both products, or
 *  stored where it takes little of the memory. The preconditioner is the Cholesky factor of
 *  (S K_mn)'(S K_mn) + gamma K_nn, distributed, S being a sparse random sketch of 3 n rows (all m
 *  where those are fewer).
 *
 *  With all inputs as centers the exact system (K + gamma I) B = Y is solved by iteration, K
 *  stored (its lower triangle) where it fits, else computed anew in every step, preconditioned by
 *  what the landmarks know of it, K_mn K_nn^-1 K_nm + (gamma + r) I, r being what they leave of
 *  k(x, x) on average.
 */
#ifndef DKMAP_NYSTROEM_H
#define DKMAP_NYSTROEM_H

#include <dkmap/landmarks.h>
#include <dkmap/ridge.h>

DKM_API_BEGIN

enum { DKM_NYSTROEM_STEPS = 500 }; /**< more are never taken */

typedef struct dkm_nystroem_settings {
    dkm_idx landmarks; /**< how many; 0: 10 sqrt(m) */
    dkm_landmark_method choice;
    int all_centers;  /**< every input is a center, and landmarks precondition only */
    double tolerance; /**< relative residual of the system at which steps end; 0: 1e-7 with
                           landmarks as centers, 1e-12 with all inputs */
    int max_steps;    /**< 0: 200 */
    dkm_ridge_precision precision; /**< of kernel values: double, or single (mixed, single) with
                                        sums in double; auto takes single from 20000 inputs on */
    dkm_storage keep;              /**< of K_mn, and of K where all inputs are centers */
    dkm_idx compare; /**< tell the distance to the exact fit for at most so many inputs */
} dkm_nystroem_settings;

typedef struct dkm_nystroem_info {
    dkm_idx landmarks;
    const char *choice, *precision;
    int all_centers;
    int stored;        /**< K_mn was, instead of being computed in every step */
    int matrix_stored; /**< K was, where all inputs are centers */
    int streamed;      /**< inputs were read anew in every step */
    int steps;
    double residual; /**< of the system solved, relative, measured at the end */
    double checked;  /**< where all inputs are centers and the values of that system are single
                          precision: the residual with those in double, from 256 of its rows drawn
                          at random; else NaN */
    int converged;   /**< the residual met the tolerance */
    double fit;      /**< ||f(X) - Y|| / ||Y|| on the training outputs, intercept taken off */
    double distance; /**< ||f(X) - f*(X)|| / ||f*(X)||, f* the exact fit, which is found for few
                          inputs only; else NaN */
    double history[DKM_NYSTROEM_STEPS]; /**< residual after each step */
} dkm_nystroem_info;

DKM_API_END

#endif
