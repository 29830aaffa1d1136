/** @file kde_impl.h  What a kde model holds, and how its coefficients are learned. */
#ifndef DKMAP_MODELS_KDE_KDE_IMPL_H
#define DKMAP_MODELS_KDE_KDE_IMPL_H

#include <dkmap/kde.h>

#include "models/common/embedding.h"
#include "preimage/preimage.h"

/** Candidates of prediction sets. */
typedef struct dkm_kde_sets {
    dkm_idx count;
    dkm_dmat *Z;   /**< their coordinates; NULL: no sets are wanted */
    double *norms; /**< squared distances to the mean, of all of them */
} dkm_kde_sets;

typedef struct dkm_kde {
    dkm_fitted_kernel fitted; /**< inputs */
    dkm_embedding out; /**< outputs, those of the inputs first, then extra ones; on the same grid */
    dkm_dmat *B;       /**< m x p: (K + gamma I)^-1 Z, or coefficients of the machines; shrunk */
    double *b;         /**< p intercepts of the machines, or NULL */
    dkm_preimage pre;
    dkm_kde_sets sets;
} dkm_kde;

/** Coordinates k(X, training) B, in slabs. Collective. */
DKM_NODISCARD dkm_status dkm_kde_coordinates(dkm_kde *s, const dkm_data *X, dkm_data **Z);

/** Residuals and prediction sets; see dkmap/conformal.h. Collective. */
DKM_NODISCARD dkm_status dkm_kde_residuals(dkm_kde *s, const dkm_data *X, const dkm_data *Y,
                                           dkm_data **R);
DKM_NODISCARD dkm_status dkm_kde_open_sets(dkm_kde *s, dkm_type *type, dkm_idx *cols);
DKM_NODISCARD dkm_status dkm_kde_prediction_sets(dkm_kde *s, const dkm_data *X,
                                                 const double *radius, dkm_data **S);
void dkm_kde_sets_close(dkm_kde_sets *sets);

/** Coefficients for the coordinates of the outputs that have inputs, with inputs and outputs open
 *  and the outputs decomposed. Collective. */
DKM_NODISCARD dkm_status dkm_kde_regress(dkm_kde *s, const dkm_kde_settings *settings,
                                         const dkm_example_weights *weights, dkm_kde_info *found);

/** Scale coefficients and intercepts of coordinate j by l_j / (l_j + S l), l the mean of the retained
 *  eigenvalues: what is predicted is scaled so. Local. */
void dkm_kde_shrink(dkm_kde *s, double S);

#endif
