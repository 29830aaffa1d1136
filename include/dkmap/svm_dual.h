/** @file svm_dual.h  Support vector machines that share one kernel matrix, solved side by side.
 *
 *  Each column of targets is a problem of its own: find f(x) = <w, phi(x)> + b that makes
 *
 *    hinge     1/2 ||w||^2 + C sum_i max(0, 1 - t_i f(x_i))            targets -1 or 1
 *    squared   1/2 ||w||^2 + C/2 sum_i max(0, 1 - t_i f(x_i))^2        targets -1 or 1
 *    tube      1/2 ||w||^2 + C sum_i max(0, |t_i - f(x_i)| - tube)     any targets
 *
 *  least, with w = sum_i B_i phi(x_i); where examples have weights, C is C w_i. Small problems are dealt to the ranks, and LIBSVM solves them;
 *  larger ones are solved by all ranks together, to the same tolerance on the same conditions.
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

typedef enum dkm_svm_solver {
    DKM_SVM_AUTO,         /**< LIBSVM up to 4000 examples, decomposition above */
    DKM_SVM_LIBSVM,       /**< one rank per problem, which holds 16 m^2 bytes */
    DKM_SVM_DECOMPOSITION /**< all ranks, which hold 8 m^2 / P bytes each */
} dkm_svm_solver;

typedef struct dkm_svm_dual_settings {
    dkm_svm_loss loss;
    double C;              /**< > 0 */
    double tube;           /**< >= 0, of the loss tube */
    double tolerance;      /**< > 0: violation of the optimality conditions that may be left */
    dkm_svm_solver solver; /**< DKM_SVM_AUTO by default */
    dkm_idx working_set;   /**< variables of the decomposition's subproblems, 2 or more; 0: 512 */
    dkm_idx max_steps;     /**< pairs of variables that it may move per problem; 0: 1e8, or 1000
                              per variable if that is more */
} dkm_svm_dual_settings;

dkm_svm_dual_settings dkm_svm_dual_settings_default(void);

/** The solver that @p settings choose for m examples. Local. */
dkm_svm_solver dkm_svm_dual_solver(const dkm_svm_dual_settings *settings, dkm_idx m);

/** Targets and coefficients: this rank's slab of m x cols numbers, row-major. */
typedef struct dkm_svm_dual_problem {
    dkm_grid *grid;
    const dkm_kernel *kernel;
    const dkm_prepared *X;
    dkm_idx nb; /**< block size in which the kernel matrix is computed */
    dkm_idx cols;
    const double *T;
    const double
        *weights;    /**< of all m examples, each > 0, the same on every rank; NULL: all are 1.
                                Not for DKM_SVM_LIBSVM */
    dkm_idx *rounds; /**< NULL, or takes how many rounds the decomposition made for all columns
                          together; 0 with LIBSVM */
} dkm_svm_dual_problem;

/** Solve for all columns of the targets.
 *
 *  Collective. What a rank will hold is reckoned first, and what cannot be held is refused with the
 *  figures.
 *
 *  @param[in] problem  borrowed; the same settings on every rank
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] B  coefficients, like the targets; zero but for support vectors
 *  @param[out] b  cols numbers, the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG for settings out of range or a column whose targets are all alike
 *          (hinge, squared); DKM_ERR_SIZE; DKM_ERR_MEMORY; DKM_ERR_NUMERIC where max_steps
 *          were not enough */
DKM_NODISCARD dkm_status dkm_svm_dual_solve(const dkm_svm_dual_problem *problem,
                                            const dkm_svm_dual_settings *settings, double *B,
                                            double *b);

DKM_API_END

#endif
