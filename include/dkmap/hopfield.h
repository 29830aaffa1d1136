/** @file hopfield.h  A Hopfield net that completes patterns: a baseline for halves of images.
 *
 *  The net is the linear system on the closed hypercube of Li, Michel and Porod (1989). With P the
 *  projection onto the span of the differences between training patterns (x, y) and t any of them,
 *
 *    s <- clip(e^h P s + e^(-tau h) (I - P) s + (1 - e^(-tau h)) (1 + 1/tau) (I - P) t, -1, 1)
 *
 *  with h = 0.15 and tau = 10 drives a state s to an equilibrium. It begins at (x, 0); the training
 *  pattern nearest to where it ends hands over its y.
 */
#ifndef DKMAP_HOPFIELD_H
#define DKMAP_HOPFIELD_H

#include <dkmap/model.h>

DKM_API_BEGIN

typedef struct dkm_hopfield_settings {
    dkm_idx steps;    /**< at most so many, >= 1 */
    double tolerance; /**< stop when no state changes by more */
    dkm_layout layout;
} dkm_hopfield_settings;

typedef struct dkm_hopfield_info {
    dkm_idx m;
    dkm_idx dimensions; /**< of the span of the differences */
} dkm_hopfield_info;

dkm_hopfield_settings dkm_hopfield_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X, Y   dense, as many rows each, numbers from -1 to 1; they stay the caller's
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model  new, owned by the caller; NULL on failure
 *  @param[out] info   may be NULL
 *  @return DKM_OK; DKM_ERR_ARG for other sizes or numbers beyond 1; DKM_ERR_UNSUPPORTED for other
 *          objects; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when all patterns are alike */
DKM_NODISCARD dkm_status dkm_hopfield_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                          const dkm_hopfield_settings *settings, dkm_model **model,
                                          dkm_hopfield_info *info);

DKM_API_END

#endif
