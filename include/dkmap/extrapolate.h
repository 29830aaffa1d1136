/** @file extrapolate.h  A kernel known on some objects, carried to others by features of theirs.
 *
 *  Given a positive semidefinite matrix K on m objects and n features of each, the rows of F, find
 *  Q >= 0 such that K_Q = F Q F' is as near to K as can be: k_Q(x, x') = f(x)'Q f(x') is then a
 *  kernel on all objects whose features are known.
 *
 *  Under the shear constraint K - K_Q >= 0 the best Q is the same for all Schatten norms
 *  (Vishwanathan, Borgwardt, Guttman and Smola 2006, lemma 1). With V2 a basis of what is
 * orthogonal to the features, Q = F^+ (K - K V2 (V2'K V2)^+ V2'K) F^+'; where K has an inverse that
 * is (F'K^-1 F)^+, so no V2 is needed. Features that are columns of K give the inverse of their
 * block of K: Nystroem's kernel. Without the constraint Q = F^+ K F^+', best in the Frobenius norm
 * alone.
 *
 *  Q is stored as a root, Q = root root': k_Q is the inner product of the coordinates root'f(x).
 */
#ifndef DKMAP_EXTRAPOLATE_H
#define DKMAP_EXTRAPOLATE_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

DKM_API_BEGIN

typedef struct dkm_extrapolate_settings {
    int shear;     /**< K - K_Q must be positive semidefinite */
    double cutoff; /**< singular values of the features below this part of the largest count as
                        zero; 0 takes max(m, n) eps */
} dkm_extrapolate_settings;

typedef struct dkm_extrapolate_info {
    dkm_idx m, n;
    dkm_idx rank;       /**< of the features */
    dkm_idx dimensions; /**< of the coordinates: the rank of Q */
    double cutoff;      /**< taken for the features */
    double condition; /**< of the features that are retained: largest by smallest singular value */
    double smallest;  /**< eigenvalue of K, roughly */
    double largest;   /**< eigenvalue of K, roughly */
    double shift;     /**< added to the diagonal of K because it is singular, else 0 */
    double direction_cutoff; /**< directions of K_Q with less than this are dropped */
    double residual;         /**< ||K - K_Q|| / ||K||, Frobenius */
    double explained;        /**< trace of K_Q by that of K */
} dkm_extrapolate_info;

/** Q as a root of n x t numbers, row-major, and its weight >= 0 in a joint kernel. */
typedef struct dkm_weighted_root {
    dkm_idx t;
    const double *root;
    double weight;
} dkm_weighted_root;

/** Shear, and the cut-off that rounding asks for. */
dkm_extrapolate_settings dkm_extrapolate_settings_default(void);

/** Find Q.
 *
 *  Collective on the grid of @p K. Takes a Cholesky factor of K under the shear constraint and
 *  products K F without it; memory beside K is a few times the features and n x n numbers.
 *
 *  @param[in,out] K     double, square blocks, lower triangle read; on success K - K_Q, both
 *                       triangles
 *  @param[in]     F     dense, one row an object of K
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out]    root  new n x dimensions matrix, row-major, the same on every rank;
 *                       dkm_extrapolate_free() frees it; NULL on failure
 *  @param[out]    info  may be NULL
 *  @return DKM_OK, also when Q is zero (a warning says why); DKM_ERR_ARG for features of another
 *          number of objects, or K that is not positive semidefinite; DKM_ERR_MEMORY;
 *          DKM_ERR_NUMERIC; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_extrapolate(dkm_dmat *K, const dkm_data *F,
                                         const dkm_extrapolate_settings *settings, double **root,
                                         dkm_extrapolate_info *info);

/** The joint root of several, root root' = (sum of w_i Q_i^-1)^-1: the kernel of functions that are
 *  smooth under all of them.
 *
 *  Collective. Without inverses, for singular Q_i too; for two it is Q1 (w1 Q2 + w2 Q1)^+ Q2. One
 *  without weight is left out.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  n      rows of all
 *  @param[in] count  matrices in the list
 *  @param[in]  roots  @p count of them, the same on every rank
 *  @param[out] root   new n x t, row-major, the same on every rank; NULL on failure
 *  @param[out] t      its columns
 *  @return DKM_OK; DKM_ERR_ARG when none has a weight above 0; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_parallel_sum(dkm_ctx *ctx, dkm_idx n, dkm_idx count,
                                          const dkm_weighted_root *roots, double **root,
                                          dkm_idx *t);

/** Free a root. Local; takes NULL and nulls. */
void dkm_extrapolate_free(double **root);

DKM_API_END

#endif
