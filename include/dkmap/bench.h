/** @file bench.h  What measured rates are held against: this machine's own matrix products, and the
 *  eigensolvers of the libraries that dkmap calls. */
#ifndef DKMAP_BENCH_H
#define DKMAP_BENCH_H

#include <dkmap/dmat.h>

DKM_API_BEGIN

/** Rate at which the ranks multiply matrices when each works on its own.
 *
 *  Collective. All ranks multiply two n x n matrices at once, a few times; the best time counts.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] precision  of the elements
 *  @param[in]  n     order of the matrices, > 0
 *  @param[out] rate  floating point operations a second of all ranks together
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_gemm_rate(dkm_ctx *ctx, dkm_precision precision, dkm_idx n,
                                       double *rate);

/** How fast one rank is at what the distributed algorithms are made of. */
typedef struct dkm_rank_rates {
    double gemm_double, gemm_single; /**< flops per second beyond moving the operands */
    double syrk, trsm, potrf;        /**< of blocks of 64 columns, in double */
    double skinny_bytes;             /**< bytes per second of a matrix times eight columns */
    double copy_bytes;               /**< bytes read and written per second by a copy */
} dkm_rank_rates;

/** Measure them, on all ranks at once: the best of several turns of the slowest rank. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_rank_rates_measure(dkm_ctx *ctx, dkm_rank_rates *rates);

/** The Cholesky factorization that dkm_ctx_set_factor() comes to: "own" or "scalapack". Local. */
const char *dkm_factor_name(const dkm_ctx *ctx);

/** Whether dkmap was built with an eigensolver: "scalapack" or "elpa". Local. */
int dkm_eigen_built_in(const char *library);

/** All eigenpairs by one direct call of a library's full solver, timed; the vectors are dropped.
 *
 *  Collective on the grid of @p K.
 *
 *  @param[in,out] K        double, lower triangle read, square blocks; destroyed
 *  @param[in]     library  "scalapack" or "elpa"
 *  @param[out]    values   space for n numbers: the eigenvalues in ascending order
 *  @param[out]    seconds  of the slowest rank
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_SIZE; DKM_ERR_NUMERIC; DKM_ERR_UNSUPPORTED
 *          when dkmap was built without the library
 */
DKM_NODISCARD dkm_status dkm_eigen_direct(dkm_dmat *K, const char *library, double *values,
                                          double *seconds);

DKM_API_END

#endif
