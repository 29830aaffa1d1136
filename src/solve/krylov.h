/** @file krylov.h  Leading eigenpairs of a symmetric operator by a block Krylov method. */
#ifndef DKMAP_KRYLOV_H
#define DKMAP_KRYLOV_H

#include "solve/slab.h"

/** Y = A Q for a block of vectors; Q and Y have the same columns. Collective. */
typedef dkm_status (*dkm_operator)(void *user, const dkm_slab *Q, dkm_slab *Y);

typedef struct dkm_krylov_settings {
    dkm_idx m, components;
    double tolerance; /**< on ||A v - lambda v|| / lambda_1 */
    int max_rounds;
} dkm_krylov_settings;

typedef struct dkm_krylov_outcome {
    int converged;
    int rounds;
    dkm_idx products, found; /**< columns multiplied; pairs handed over */
    double residual;         /**< the largest among them, relative */
} dkm_krylov_outcome;

/** Columns of the block for so many components: at least as many, so that an eigenvalue of that
 *  multiplicity is found whole. Local. */
dkm_idx dkm_krylov_block(dkm_idx components);
/** Columns the basis may grow to. Local. */
dkm_idx dkm_krylov_basis(dkm_idx components);

/** Find the leading pairs.
 *
 *  Collective. Starts from @p start when it holds columns, filled up with random ones.
 *
 *  @param[out] values   room for @p components numbers, largest first
 *  @param[out] vectors  initialised with room for as many columns
 *  @return DKM_OK, also when not converged (see @p outcome); DKM_ERR_MEMORY; what the operator
 *          returns
 */
DKM_NODISCARD
dkm_status dkm_krylov(dkm_ctx *ctx, const dkm_krylov_settings *settings, dkm_operator apply,
                      void *user, const dkm_slab *start, double *values, dkm_slab *vectors,
                      dkm_krylov_outcome *outcome);

#endif
