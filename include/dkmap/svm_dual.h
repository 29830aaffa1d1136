/** @file svm_dual.h  Support vector machines that share one kernel matrix, solved side by side.
 *
 *  Each column of targets is a problem of its own: find f(x) = <w, phi(x)> + b that makes
 *
 *    hinge     1/2 ||w||^2 + C sum_i max(0, 1 - t_i f(x_i))            targets -1 or 1
 *    squared   1/2 ||w||^2 + C/2 sum_i max(0, 1 - t_i f(x_i))^2        targets -1 or 1
 *    tube      1/2 ||w||^2 + C sum_i max(0, |t_i - f(x_i)| - tube)     any targets
 *
 *  least, with w = sum_i B_i phi(x_i). Problems are dealt to the ranks, and LIBSVM solves them.
 */
#ifndef DKMAP_SVM_DUAL_H
#define DKMAP_SVM_DUAL_H

#include <dkmap/kernel.h>

DKM_API_BEGIN

typedef enum dkm_svm_loss {
    DKM_LOSS_HINGE,
    DKM_LOSS_SQUARED_HINGE,
    DKM_LOSS_EPS_INSENSITIVE
} dkm_svm_loss;

typedef struct dkm_svm_dual_settings {
    dkm_svm_loss loss;
    double C;         /**< > 0 */
    double tube;      /**< >= 0, of the loss tube */
    double tolerance; /**< at which LIBSVM stops, > 0 */
} dkm_svm_dual_settings;

dkm_svm_dual_settings dkm_svm_dual_settings_default(void);

/** Targets and coefficients: this rank's slab of m x cols numbers, row-major. */
typedef struct dkm_svm_dual_problem {
    dkm_grid *grid;
    const dkm_kernel *kernel;
    const dkm_prepared *X;
    dkm_idx nb; /**< block size in which the kernel matrix is computed */
    dkm_idx cols;
    const double *T;
} dkm_svm_dual_problem;

/** Solve for all columns of the targets.
 *
 *  Collective. A rank that solves problems holds the whole kernel matrix, 16 m^2 bytes as LIBSVM
 *  wants it; that is reckoned first, and what cannot be held is refused with the figures.
 *
 *  @param[out] B  coefficients, like the targets; zero but for support vectors
 *  @param[out] b  cols numbers, the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG for settings out of range or a column whose targets are all alike
 *          (hinge, squared); DKM_ERR_SIZE; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_svm_dual_solve(const dkm_svm_dual_problem *problem,
                                            const dkm_svm_dual_settings *settings, double *B,
                                            double *b);

DKM_API_END

#endif
