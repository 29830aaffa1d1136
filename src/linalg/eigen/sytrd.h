/** @file sytrd.h  A symmetric matrix turned into a tridiagonal one, A = Q T Q', and Q applied. */
#ifndef DKMAP_LINALG_EIGEN_SYTRD_H
#define DKMAP_LINALG_EIGEN_SYTRD_H

#include <dkmap/dmat.h>

/** T and the factors of the reflectors I - tau v v' whose product is Q, n numbers each, the same on
 *  every rank. */
typedef struct dkm_tridiagonal {
    dkm_idx n;
    double *d;   /**< diagonal */
    double *e;   /**< below it, the first n - 1 */
    double *tau; /**< the first n - 1 */
} dkm_tridiagonal;

/** Bytes a rank needs beside A for the reduction or for dkm_la_ormtr(), whichever is more; and those of
 *  them that do not shrink with the ranks. Local. */
double dkm_la_sytrd_bytes(const dkm_dmat *A);
double dkm_la_sytrd_replicated_bytes(const dkm_dmat *A);

/** Reduce a double matrix in square blocks.
 *
 *  Collective on the context of the grid. 4/3 n^3 operations, half of them in products of the trailing
 *  matrix with a vector. Elements may be between 1e-140 and 1e140 in size.
 *
 *  @param[in,out] A  lower triangle read; on return vector k is in column k from row k + 1 on
 *  @param[out]    t  dkm_tridiagonal_free() frees it, also after a failure
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_la_sytrd(dkm_dmat *A, dkm_tridiagonal *t);
void dkm_tridiagonal_free(dkm_tridiagonal *t);

/** Z <- Q Z. Collective on the context of the grid. 2 n^3 operations, all but a few in products.
 *
 *  @param[in]     A, t  of dkm_la_sytrd()
 *  @param[in,out] Z     n x n, laid out like A
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_la_ormtr(const dkm_dmat *A, const dkm_tridiagonal *t, dkm_dmat *Z);

#endif
