/** @file band.h  A symmetric matrix turned into one of few diagonals: A = Q B Q' with Q orthogonal.
 *
 *  B has b diagonals below its own, b being the block size of A. Systems with B + shift I cost
 *  little, so that many shifts of one A do.
 */
#ifndef DKMAP_LINALG_EIGEN_BAND_H
#define DKMAP_LINALG_EIGEN_BAND_H

#include <dkmap/dmat.h>

typedef struct dkm_band {
    dkm_ctx *ctx;
    dkm_idx n, b;
    double *B;    /**< (b + 1) x n: element (i, j), i >= j, at B[i - j + j (b + 1)]; on all ranks */
    dkm_idx rows; /**< of Q on this rank: blocks of b rows, dealt out to all ranks in turn */
    double *Q;    /**< rows x n, column-major */
} dkm_band;

/** Bytes a rank needs beside A. Local. */
double dkm_band_bytes(const dkm_dmat *A);
/** Those of them that do not shrink with the ranks. Local. */
double dkm_band_replicated_bytes(const dkm_dmat *A);

/** Reduce a double matrix in square blocks.
 *
 *  Collective on the context of the grid. 8/3 n^3 operations, all but a few in products.
 *
 *  @param[in,out] A     lower triangle read; destroyed
 *  @param[out]    band  dkm_band_close() frees it, also after a failure
 *  @return DKM_OK; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_band_reduce(dkm_dmat *A, dkm_band *band);
void dkm_band_close(dkm_band *band);

/** L L' = B + shift I in the layout of B. Local, the same on every rank.
 *  @return 0, or the order of the first leading minor that is not positive definite */
int dkm_band_pbtrf(const dkm_band *band, double shift, double *L);

/** X <- (L L')^-1 X for @p p columns of n numbers. Local. */
void dkm_band_pbtrs(const dkm_band *band, const double *L, dkm_idx p, double *X);

/** Y = Q'X ('T') or Q X ('N') for @p p columns of n numbers that all ranks have. Collective. */
void dkm_band_apply_q(const dkm_band *band, char op, dkm_idx p, const double *X, double *Y);

/** p_i = element (i, i) of (A + shift I)^-1, n numbers for all ranks: the squares of the rows of
 *  Q L^-T. Collective.
 *  @param[in] work  space for 2 (DKM_BAND_CHUNK + n) b numbers */
#define DKM_BAND_CHUNK 256
void dkm_band_inverse_diagonal(const dkm_band *band, const double *L, double *work, double *p);

#endif
