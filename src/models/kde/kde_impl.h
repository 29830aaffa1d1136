/** @file kde_impl.h  What a kde model holds, and how its coefficients are learned. */
#ifndef DKMAP_MODELS_KDE_KDE_IMPL_H
#define DKMAP_MODELS_KDE_KDE_IMPL_H

#include <dkmap/kde.h>

#include "models/common/embedding.h"
#include "preimage/preimage.h"

typedef struct dkm_kde {
    dkm_fitted_kernel fitted; /**< inputs */
    dkm_embedding out; /**< outputs, those of the inputs first, then extra ones; on the same grid */
    dkm_dmat *B;       /**< m x p: (K + gamma I)^-1 Z, or coefficients of the machines; shrunk */
    double *b;         /**< p intercepts of the machines, or NULL */
    dkm_preimage pre;
} dkm_kde;

/** Coefficients for the coordinates of the outputs that have inputs, with inputs and outputs open
 *  and the outputs decomposed. Collective. */
DKM_NODISCARD dkm_status dkm_kde_regress(dkm_kde *s, const dkm_kde_settings *settings,
                                         dkm_kde_info *found);

/** Scale coefficients and intercepts of coordinate j by l_j / (l_j + S l), l the mean of the retained
 *  eigenvalues: what is predicted is scaled so. Local. */
void dkm_kde_shrink(dkm_kde *s, double S);

#endif
