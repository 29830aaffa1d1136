/** @file block_lanczos_impl.h  A run of the block Krylov method, and its state between two runs. */
#ifndef DKMAP_SOLVERS_KRYLOV_BLOCK_LANCZOS_IMPL_H
#define DKMAP_SOLVERS_KRYLOV_BLOCK_LANCZOS_IMPL_H

#include "solvers/krylov/block_lanczos.h"

typedef struct dkm_block_lanczos_run {
    dkm_ctx *ctx;
    const dkm_block_lanczos_settings *settings;
    const dkm_linop *A;
    dkm_idx block, capacity;
    dkm_idx widest;          /**< columns a block may have: more than others where it is a start */
    int started;             /**< from vectors of an earlier call */
    dkm_multivec V, W, Q, Y; /**< basis, its products, new block, its product */
    int projected;           /**< Q is orthogonal to V already, up to rounding */
    dkm_dmat *T;             /**< V'W of order capacity, lower triangle */
    double *diagonal;        /**< of T */
    double *S;               /**< Ritz vectors that are used */
    double *theta;           /**< twice capacity */
    double *G, *work;        /**< capacity x widest each */
    dkm_idx random_columns;  /**< drawn so far */
    dkm_idx look, looked;    /**< products after which to test for convergence, and at the last */
} dkm_block_lanczos_run;

/** Leave the state of a run with the checkpointer, where that is due. Collective, between two
 * rounds.
 *  @return DKM_OK; DKM_ERR_STOPPED; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_block_lanczos_save(dkm_block_lanczos_run *run,
                                                dkm_block_lanczos_outcome *outcome);

/** Take up the state that another run left, if any. Collective. */
DKM_NODISCARD dkm_status dkm_block_lanczos_restore(dkm_block_lanczos_run *run,
                                                   dkm_block_lanczos_outcome *outcome);

#endif
