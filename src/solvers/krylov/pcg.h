/** @file pcg.h  Preconditioned conjugate gradients for many right-hand sides at once.
 *
 *  Each column is a run of its own with its own step lengths; the products with the matrix and the
 *  preconditioner are done for all columns together. The direction update is the flexible one,
 *  which tolerates rounding in the preconditioner (such as one in single precision).
 */
#ifndef DKMAP_SOLVERS_KRYLOV_PCG_H
#define DKMAP_SOLVERS_KRYLOV_PCG_H

#include "solvers/operators/linop.h"

typedef struct dkm_pcg_settings {
    double tolerance; /**< on ||Y - A X|| / ||Y||, Frobenius, measured and not carried along */
    int max_steps;
    dkm_linop A;
    dkm_linop f32;      /**< may be empty; as A, faster and less exact, for steps: residuals are
                             measured by A, and a run that ends above the tolerance because of it goes
                             on from what was measured */
    dkm_linop M;        /**< preconditioner, about the inverse of A */
    int patience;       /**< steps without a smaller residual before a run is given up; 0 is 6 */
    double worth;       /**< steps beyond which another method is faster: a run that would take more
                             from where it is, at the rate so far, is given up; 0: never */
    dkm_multivec *left; /**< may be NULL; takes Y - A X as measured at the end */
    double *history;    /**< may be NULL; space for max_steps residuals, as carried along */
    const char *stage;  /**< may be NULL; the operator and all it depends on, where states of steps
                             are saved */
    dkm_precision precision; /**< of the right-hand sides, to tell those of two states apart */
} dkm_pcg_settings;

typedef struct dkm_pcg_outcome {
    int steps;       /**< products with A to move X, over all restarts */
    double residual; /**< measured at the end */
} dkm_pcg_outcome;

/** Solve A X = Y for symmetric positive definite A, starting from zero.
 *
 *  Collective. Ends when the measured residual meets the tolerance, stops shrinking, would take too
 *  long, or the steps are used up; the caller judges the outcome.
 *
 *  @param[in]  Y  right-hand sides
 *  @param[out] X  initialized with space for as many columns
 */
DKM_NODISCARD dkm_status dkm_pcg(const dkm_multivec *Y, const dkm_pcg_settings *settings, dkm_idx m,
                                 dkm_multivec *X, dkm_pcg_outcome *outcome);

#endif
