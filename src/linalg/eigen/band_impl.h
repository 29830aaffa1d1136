/** @file band_impl.h  A reduction to band form while it lasts. */
#ifndef DKMAP_LINALG_EIGEN_BAND_IMPL_H
#define DKMAP_LINALG_EIGEN_BAND_IMPL_H

#include "linalg/eigen/band.h"
#include "matrix/dmat_impl.h"

/** Blocks of columns whose reflectors are applied together while Q is formed. */
enum { DKM_BAND_GROUP = 4 };

typedef struct dkm_band_reduction {
    dkm_dmat *A;
    dkm_band *band;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx n, b;
    dkm_idx at, rows, r;      /**< where trailing rows begin, how many, reflectors */
    dkm_idx row0, col0;       /**< local rows and columns before them */
    dkm_idx *row_of, *col_of; /**< global row and column of a local one */
    double *panels; /**< n x DKM_BAND_GROUP b: the next four one after the other, or V of a
                                   group of blocks while Q is formed */
    double *panel, *V, *X, *AV; /**< n x b each, on all ranks */
    double *T;                  /**< b x b for each block of columns */
    double *tau, *work;         /**< of LAPACK: b and 64 b numbers */
    double *in_rows, *in_cols;  /**< [V X] in local rows, [X V] in local columns */
    double *by_rows, *by_cols;  /**< A V in local rows and columns */
    double *small;              /**< 2 b x n */
    double *own_V,
        *group_T;   /**< of a group: V and V T in the rows that this rank has of Q, and T */
    double *square; /**< b x b */
} dkm_band_reduction;

/** Rows before @p n that this rank has of Q, and the global row of a local one. Local. */
dkm_idx dkm_band_local_rows(const dkm_ctx *ctx, dkm_idx n, dkm_idx b);
dkm_idx dkm_band_global_row(const dkm_band *band, dkm_idx il);

/** The sum over all ranks. Collective. */
void dkm_band_reduction_allreduce(const dkm_band_reduction *d, dkm_idx count, double *a);

/** Turn to the rows below block of columns @p k. Local. */
void dkm_band_reduction_set_panel(dkm_band_reduction *d, dkm_idx k);

/** Rows from @p first on of block of columns @p k, on every rank: (n - first) x w. Collective. */
void dkm_band_reduction_allgather_panel(dkm_band_reduction *d, dkm_idx k, dkm_idx w, dkm_idx first,
                                        double *to);

/** Make Q of all V and T. Collective. */
void dkm_band_reduction_form_q(dkm_band_reduction *d);

#endif
