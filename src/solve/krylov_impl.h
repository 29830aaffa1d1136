/** @file krylov_impl.h  A run of the block Krylov method, and its state between two runs. */
#ifndef DKMAP_KRYLOV_IMPL_H
#define DKMAP_KRYLOV_IMPL_H

#include "solve/krylov.h"

typedef struct dkm_krylov_run {
    dkm_ctx *ctx;
    const dkm_krylov_settings *settings;
    dkm_operator apply;
    void *user;
    dkm_idx block, capacity;
    dkm_idx widest;      /**< columns a block may have: more than others where it is a start */
    int started;         /**< from vectors of an earlier call */
    dkm_slab V, W, Q, Y; /**< basis, its products, new block, its product */
    double *T, *S, *theta, *G; /**< capacity^2 each, theta twice capacity */
    dkm_idx random_columns;    /**< drawn so far */
    dkm_idx look, looked;      /**< products after which to test for convergence, and at the last */
} dkm_krylov_run;

/** Leave the state of a run with the keeper, where that is due. Collective, between two rounds.
 *  @return DKM_OK; DKM_ERR_STOPPED; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_krylov_leave(dkm_krylov_run *run, const dkm_krylov_outcome *outcome);

/** Take up the state that another run left, if any. Collective. */
DKM_NODISCARD
dkm_status dkm_krylov_take_up(dkm_krylov_run *run, dkm_krylov_outcome *outcome);

#endif
