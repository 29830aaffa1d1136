/** @file block_lanczos.h  Leading eigenpairs of a symmetric operator by thick-restarted block
 *  Lanczos. */
#ifndef DKMAP_SOLVERS_KRYLOV_BLOCK_LANCZOS_H
#define DKMAP_SOLVERS_KRYLOV_BLOCK_LANCZOS_H

#include "solvers/operators/linop.h"

typedef struct dkm_block_lanczos_settings {
    dkm_idx m, components;
    dkm_idx block;    /**< columns multiplied at a time, at least 1 */
    double tolerance; /**< on ||A v - lambda v|| / lambda_1 */
    int max_rounds;
    dkm_grid *grid;         /**< of the projected matrix; borrowed */
    dkm_idx ritz_local_max; /**< order up to which rank 0 solves the projected problem alone; 0:
                                 DKM_RITZ_LOCAL_MAX */
    const char *name; /**< of the operator and all it depends on: the states of two operators are
                           distinguished by it; NULL: none are saved */
} dkm_block_lanczos_settings;

typedef struct dkm_block_lanczos_outcome {
    int converged;
    int clustered; /**< pairs converged, and among them a multiple eigenvalue of as many copies as
                        the block has columns: there may be more of it */
    int rounds;
    dkm_idx products, found; /**< columns multiplied; pairs handed over */
    double residual;         /**< the largest among them, relative */
} dkm_block_lanczos_outcome;

/** Columns of a block that make the most of each product: few, as then a basis of the same size
 *  reaches higher powers of A, and enough for gemm. Local. */
dkm_idx dkm_block_lanczos_small_block(dkm_idx components);
/** Columns of a block that finds all copies of an eigenvalue of any multiplicity: more than components.
 *  Local. */
dkm_idx dkm_block_lanczos_large_block(dkm_idx components);
/** Columns the basis may grow to before it is cut back to the leading pairs. Local. */
dkm_idx dkm_block_lanczos_max_basis(dkm_idx components, dkm_idx block);

/** Bytes a rank of @p size needs for dkm_block_lanczos(), on rank 0, which holds most: its rows of
 *  the basis and of the products, the projected problem and the vectors of a product K V. Local. */
double dkm_krylov_bytes(dkm_idx m, int size, dkm_idx components, dkm_idx block);

/** Find the leading pairs.
 *
 *  Collective. Starts from @p start when it holds columns, else from random ones. A block of b
 *  columns finds b copies of a multiple eigenvalue; the outcome says when there may be more.
 *  Between two rounds the basis, its products and the next block are the state: a safe
 *  point to stop and go on from.
 *
 *  @param[out] values   space for @p components numbers, largest first
 *  @param[out] vectors  initialized with space for as many columns
 *  @return DKM_OK, also when not converged (see @p outcome); DKM_ERR_MEMORY, also when a node
 *          cannot hold dkm_krylov_bytes(); what the operator returns
 */
DKM_NODISCARD dkm_status dkm_block_lanczos(dkm_ctx *ctx, const dkm_block_lanczos_settings *settings,
                                           const dkm_linop *A, const dkm_multivec *start,
                                           double *values, dkm_multivec *vectors,
                                           dkm_block_lanczos_outcome *outcome);

#endif
