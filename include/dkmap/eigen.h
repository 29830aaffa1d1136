/** @file eigen.h  Leading eigenpairs of a symmetric positive semidefinite matrix, centered or not.
 *
 *  A few components come from a block Krylov method that needs nothing but products K V with blocks
 *  of vectors; many, or all, from a full decomposition. Either way every pair is reported with its
 *  residual or comes from a backward stable solver.
 */
#ifndef DKMAP_EIGEN_H
#define DKMAP_EIGEN_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

DKM_API_BEGIN

typedef enum dkm_eigen_solver { DKM_EIGEN_AUTO, DKM_EIGEN_BLOCK, DKM_EIGEN_FULL } dkm_eigen_solver;

typedef struct dkm_eigen_settings {
    dkm_idx components; /**< how many; 0 takes as many as @p share asks for */
    double share;       /**< of the trace, in (0, 1] */
    int center;         /**< decompose H K H, H = I - 11'/m */
    double tolerance;   /**< on a pair's residual, relative to the largest eigenvalue */
    double cutoff;      /**< eigenvalues below this part of the largest are dropped, and what
                             rounding leaves where it is centered; negative: none are */
    dkm_eigen_solver solver;
} dkm_eigen_settings;

typedef struct dkm_eigen_info {
    dkm_idx components; /**< retained */
    dkm_idx wanted;     /**< asked for; more than retained when the rank is lower */
    const char *solver; /**< "block", "scalapack" or "elpa" */
    int rounds;         /**< of the block method */
    dkm_idx products;   /**< columns multiplied by K */
    double residual;    /**< largest ||K v - lambda v|| / lambda_1; NaN after a full solve */
    double trace;       /**< of the (centered) matrix */
    double explained;   /**< share of the trace in the retained pairs */
    double negative;    /**< most negative eigenvalue seen by a full solve, else 0 */
} dkm_eigen_info;

dkm_eigen_settings dkm_eigen_settings_default(void);

/** Leading eigenpairs of K (or H K H), largest first.
 *
 *  Collective on the grid of @p K. Vectors have unit length; their sign is fixed, so that it does
 *  not depend on the number of ranks.
 *
 *  @param[in,out] K        double, lower triangle read, square blocks; destroyed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out]    values   new array, the same on every rank; dkm_eigen_values_free() frees it
 *  @param[out]    vectors  m x components, new, owned by the caller; NULL on failure
 *  @param[out]    means    may be NULL; space for m numbers: the means of the rows of K, where it is
 *                          centered
 *  @param[out]    info     may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_SIZE; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_eigen_leading(dkm_dmat *K, const dkm_eigen_settings *settings,
                                           double **values, dkm_data **vectors, double *means,
                                           dkm_eigen_info *info);

/** Free the values of dkm_eigen_leading(). Local; takes NULL and nulls. */
void dkm_eigen_values_free(double **values);

DKM_API_END

#endif
