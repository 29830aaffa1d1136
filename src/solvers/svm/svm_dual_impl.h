/** @file svm_dual_impl.h  The two solvers of the dual of support vector machines.
 *
 *  With beta = y a, both find
 *
 *      min 1/2 a'Q a + p'a   subject to   0 <= a <= C,  y'a = 0,   Q_kl = y_k y_l K_kl.
 *
 *  Classes (hinge): y = t and p = -1. Regression (tube): two variables per example with y = 1, -1 and
 *  p = tube - t, tube + t. The squared hinge loss is a hard margin, C = infinity (DKM_C_HARD_MARGIN), on
 *  the matrix K + I / C (Cortes and Vapnik 1995, Machine Learning 20:273-297,
 *  doi:10.1007/BF00994018).
 */
#ifndef DKMAP_SOLVERS_SVM_SVM_DUAL_IMPL_H
#define DKMAP_SOLVERS_SVM_SVM_DUAL_IMPL_H

#include <dkmap/svm_dual.h>

#define DKM_C_HARD_MARGIN 1e12 /* C of a hinge that cannot be bent */

/** What is added to the diagonal of K, and the bound C of a. Local. */
double dkm_svm_shift(const dkm_svm_dual_settings *settings);
double dkm_svm_bound(const dkm_svm_dual_settings *settings);

/** dkm_svm_dual_solve() by LIBSVM, a problem at a time per rank, of settings that were checked. */
DKM_NODISCARD dkm_status dkm_svm_libsvm_solve(const dkm_svm_dual_problem *problem,
                                              const dkm_svm_dual_settings *settings, double *B,
                                              double *b);

/** The same by decomposition, all ranks on each problem. */
DKM_NODISCARD dkm_status dkm_svm_decomposition_solve(const dkm_svm_dual_problem *problem,
                                                     const dkm_svm_dual_settings *settings,
                                                     double *B, double *b);

/** A variable that may gain: how much, and which it is. */
typedef struct dkm_svm_violator {
    double key; /**< -f where a may grow along y, f where it may shrink; -INFINITY for none */
    double id;  /**< as double, so that both travel as one type: exact up to 2^53 */
} dkm_svm_violator;

/** A list of the @p n largest violators, largest key first and the lower id among equals. */
typedef struct dkm_svm_violators {
    dkm_idx n, filled;
    dkm_svm_violator *list;
} dkm_svm_violators;

/** Empty it, put a variable in where it is among the largest, put in order. Local. */
void dkm_svm_violators_clear(dkm_svm_violators *v);
void dkm_svm_violators_put(dkm_svm_violators *v, double key, dkm_idx id);
void dkm_svm_violators_sort(dkm_svm_violators *v);

/** How such lists of @p n are merged by MPI_Reduce(): free both with MPI's functions. Local. */
void dkm_svm_violators_op(dkm_idx n, MPI_Datatype *type, MPI_Op *op);

/** A few variables, all others held: what one rank solves. */
typedef struct dkm_svm_subproblem {
    dkm_idx n;
    double *K;     /**< n x n, with the shift on its diagonal */
    double *y, *a; /**< 1 or -1; 0 to C */
    double *f;     /**< y_k (Q a + p)_k, updated in every iteration */
    double *C;     /**< of each variable */
} dkm_svm_subproblem;

/** Sequential minimal optimization until the violation is at most @p tolerance, or @p steps pairs
 *  were moved. Local.
 *  @return how many were moved */
dkm_idx dkm_svm_subproblem_solve(dkm_svm_subproblem *sub, double tolerance, dkm_idx steps);

#endif
