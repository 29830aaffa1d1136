/** @file spectrum.h  A system decomposed once for all gammas: A = V diag(l) V'. */
#ifndef DKMAP_SPECTRUM_H
#define DKMAP_SPECTRUM_H

#include "solve/path_impl.h"

typedef struct dkm_spectrum {
    dkm_path_run *run;
    double *l;       /**< ascending */
    int *rungs;      /**< of the ladder of jitter, one a gamma */
    double scale;    /**< that jitter is reckoned from */
    dkm_dmat *V;     /**< k x k */
    dkm_dmat *kept;  /**< a copy of A, where there is room */
    dkm_slab Z, one; /**< V'R and V' of the right side of ones */
    int parts;       /**< functions w of l a gamma: 2 where coefficients are penalised */
    dkm_idx group;   /**< gammas at a time */
    dkm_idx cols;    /**< columns at a time */
    double *w;       /**< k x group parts */
} dkm_spectrum;

/** Rows that pass by at a time, on the rank with most. Local; the same on every rank. */
dkm_idx dkm_spectrum_rows(const dkm_path_run *run);

/** What is added to gamma @p g, and the functions of l for it: 1 / (l + gamma), NaN where that is
 *  not positive; or sqrt(gamma) / (l^2 + gamma) and l / (l^2 + gamma). Local. */
double dkm_spectrum_jitter(const dkm_spectrum *s, dkm_idx g);
void dkm_spectrum_weights(const dkm_spectrum *s, dkm_idx g, double *w);

/** Z = V'R. Collective. */
DKM_NODISCARD
dkm_status dkm_spectrum_project(const dkm_spectrum *s, const dkm_slab *R, dkm_slab *Z);

/** Errors of all gammas into the points of the run. Collective. */
DKM_NODISCARD
dkm_status dkm_spectrum_errors(dkm_spectrum *s);

#endif
