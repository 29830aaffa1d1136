/** @file pcg_impl.h  A run of conjugate gradients, between its steps. */
#ifndef DKMAP_SOLVERS_KRYLOV_PCG_IMPL_H
#define DKMAP_SOLVERS_KRYLOV_PCG_IMPL_H

#include "solvers/krylov/pcg.h"

typedef struct dkm_pcg_run {
    const dkm_pcg_settings *settings;
    dkm_ctx *ctx;
    dkm_idx m, p;
    const dkm_multivec *Y;
    dkm_multivec *X, R, Z, D, Q; /**< residual, preconditioned, direction, its product */
    double *rz, *dq, *zq;        /**< p numbers each */
    double norm;                 /**< of Y */
    double start, best;          /**< residuals: measured before this run, smallest since */
    int waited, restarts;        /**< steps since the residual shrank; runs before this one */
} dkm_pcg_run;

/** Leave the state after a step, where the steps have a name and that is due. Collective.
 *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end here; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_pcg_save(dkm_pcg_run *c, int steps);

/** Go on after the last step that a run before left, if there is one. Collective. */
DKM_NODISCARD dkm_status dkm_pcg_restore(dkm_pcg_run *c, int *steps, int *found);

#endif
