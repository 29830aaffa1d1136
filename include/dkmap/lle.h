/** @file lle.h  Locally linear embedding: few coordinates that keep how each point is made of its
 *  neighbors.
 *
 *  Row i of W holds the weights, 1 in sum, that make point i of its k nearest others best; the
 *  embedding are the bottom eigenvectors of N = (I - W)'(I - W), the constant one left out, which
 *  lead those of the kernel H (L I - N) H, L the largest eigenvalue of N and H = I - 1 1'/m
 *  (Roweis and Saul 2000; Ham, Lee, Mika and Schoelkopf 2004). A new point with weights a of its
 * own nearest is placed by that kernel, carried to it with the weights as features: at a'W^+ V.
 */
#ifndef DKMAP_LLE_H
#define DKMAP_LLE_H

#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_lle_settings {
    dkm_idx neighbors;
    dkm_idx components;
    double ridge; /**< on the weights, a part of the trace of a point's local matrix: 1e-3 */
    int gram;     /**< make the kernel matrix too */
    dkm_layout layout;
} dkm_lle_settings;

typedef struct dkm_lle_info {
    dkm_idx m, components;
    int P, Q;
    dkm_idx block;
    double shift;      /**< added to N where it is singular: neighbors that fall into pieces */
    int rounds;        /**< of the eigensolver */
    double residual;   /**< of its pairs, relative */
    double smallest;   /**< eigenvalue of N that is retained */
    double largest;    /**< eigenvalue of N that is retained */
    int steps;         /**< of conjugate gradients for W^+ V */
    double unresolved; /**< ||W U - V|| / ||V|| after them */
    dkm_data *gram; /**< the kernel matrix where it is wanted, the caller's to destroy; else NULL */
    double
        error; /**< ||Y - W Y||^2 of the embedding Y: the eigenvalues that are retained, in sum */
} dkm_lle_info;

dkm_lle_settings dkm_lle_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X      dense rows
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model  new, owned by the caller; NULL on failure. Predicting with it places points
 *  @param[out] Y      may be NULL; else new: the embedding of the points, m x components
 *  @param[out] info   may be NULL where no kernel matrix is wanted
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_lle_fit(dkm_ctx *ctx, const dkm_data *X,
                                     const dkm_lle_settings *settings, dkm_model **model,
                                     dkm_data **Y, dkm_lle_info *info);

DKM_API_END

#endif
