/** @file distributed.h  A quadratic program whose Gram matrix is distributed over the ranks by
 *  rows.
 *
 *  Each constraint has a rank that owns it and holds its row of G. The program itself is solved on
 *  rank 0, which requests rows and products from the other ranks; they wait for its requests. Rows
 *  and products are those of qp.h to the last bit, for any number of ranks.
 */
#ifndef DKMAP_SOLVERS_QP_DISTRIBUTED_H
#define DKMAP_SOLVERS_QP_DISTRIBUTED_H

#include "solvers/qp/qp.h"

typedef struct dkm_qp_distributed {
    dkm_ctx *ctx;
    dkm_idx n, own;                 /**< constraints, and those of this rank */
    dkm_idx capacity, own_capacity; /**< columns and rows that memory is reserved for */
    int *owner;                     /**< n */
    double *G;                      /**< own rows in the order of all, n columns, ld = capacity */
    dkm_qp_row_provider provider;   /**< rank 0 */
    int *counts, *starts;           /**< of every rank: its constraints */
    double *mine, *all;             /**< products: of own rows, and on rank 0 of all by rank */
    double *a;                      /**< n: what is multiplied with */
} dkm_qp_distributed;

/** An empty one. Local; dkm_qp_distributed_clear() frees. */
dkm_qp_distributed dkm_qp_distributed_empty(dkm_ctx *ctx);
void dkm_qp_distributed_clear(dkm_qp_distributed *spread);

/** Reserve space for constraints, the owner of each given; their rows and columns are still to be set.
 *  Local, alike on every rank.
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_distributed_grow(dkm_qp_distributed *spread, dkm_idx count,
                                                const int *owner);

/** Hand the rows of the program on rank 0 to their owners, and drop its G. Collective. @p spread
 *  has grown by its constraints, and no others. */
void dkm_qp_distributed_take(dkm_qp_distributed *spread, dkm_qp *qp);

/** Set the rows and columns of the constraints added last. Collective.
 *
 *  @param[in] fresh  how many they are; those of one rank lie together, in the order of the ranks
 *  @param[in] block  fresh x own: their products with own constraints, the new ones included
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_qp_distributed_add(dkm_qp_distributed *spread, dkm_idx fresh,
                                                const double *block);

/** Keep the constraints with keep[c] != 0. Local, alike on every rank. */
void dkm_qp_distributed_keep(dkm_qp_distributed *spread, const char *keep);

/** Solve the program of rank 0 with a budget C, or without one where C is 0. Collective.
 *  @param[out] info  on rank 0
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_qp_distributed_solve(dkm_qp_distributed *spread, dkm_qp *qp, double C,
                                                  dkm_qp_target target, dkm_qp_info *info);

#endif
