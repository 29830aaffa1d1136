/** @file syevd.h  Full symmetric eigendecompositions: distributed, and small ones of one rank. */
#ifndef DKMAP_LINALG_EIGEN_SYEVD_H
#define DKMAP_LINALG_EIGEN_SYEVD_H

#include <dkmap/dmat.h>

/** Who solves: a library, or the reduction and back-transformation of sytrd.h around ScaLAPACK's divide
 *  and conquer. */
typedef enum dkm_eigen_library {
    DKM_EIGEN_SCALAPACK,
    DKM_EIGEN_ELPA,
    DKM_EIGEN_SYTRD,
    DKM_EIGEN_LIBRARIES /**< how many there are */
} dkm_eigen_library;

/** Its name in reports. */
const char *dkm_la_syevd_name(dkm_eigen_library library);

/** Whether the library was built with @p library. Local. */
int dkm_la_syevd_has(dkm_eigen_library library);

/** A = Z diag(values) Z' for a symmetric double matrix.
 *
 *  Collective on the grid of @p A. A matrix too small to give every process a block goes to
 *  ScaLAPACK whatever @p library says, and so does one that ELPA refuses to begin with or gives up
 *  on; a copy of the lower triangle is stored for that where memory holds it.
 *
 *  @param[in,out] A       lower triangle read, square blocks; destroyed
 *  @param[in,out] library  the one wanted; on return the one used
 *  @param[out]    values  n eigenvalues in ascending order, the same on every rank
 *  @param[out]    Z       new matrix of eigenvectors in the layout of A, owned by the caller; NULL
 *                         on failure
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE when the workspace passes 32 bits (the message says
 *          how many ranks would do); DKM_ERR_NUMERIC when the solver gave up
 */
DKM_NODISCARD dkm_status dkm_la_syevd(dkm_dmat *A, dkm_eigen_library *library, double *values,
                                      dkm_dmat **Z);

/** Bytes a rank needs beside A for dkm_la_syevd(). Local. */
double dkm_la_syevd_bytes(const dkm_dmat *A, dkm_eigen_library library);

/** The largest order of dkm_syevd_local(): LAPACK's workspace of 2 n^2 + 6 n + 1 numbers is counted
 *  in 32 bits. */
#define DKM_SMALL_EIGEN_MOST 32766

/** Up to this order all pairs by dsyevd take less time than the leading ones by dsyevr. */
#define DKM_ALL_PAIRS_MOST 512

/** a = z diag(values) z' for a small symmetric matrix, column-major, on this rank alone.
 *
 *  Local. @p a (n x n) is overwritten with the eigenvectors; @p values ascend.
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_SIZE beyond DKM_SMALL_EIGEN_MOST; DKM_ERR_NUMERIC
 */
DKM_NODISCARD dkm_local dkm_syevd_local(dkm_ctx *ctx, dkm_idx n, double *a, double *values);

/** The @p count largest eigenvalues of a small symmetric matrix and their eigenvectors, on this rank
 *  alone: of a very small one by divide and conquer, which finds all of them sooner than dsyevr some.
 *
 *  Local. A workspace of 26 n numbers beside the arguments, or up to
 *  DKM_ALL_PAIRS_MOST of 2 n^2 + 6 n.
 *
 *  @param[in]     uplo    the triangle of @p a that is read
 *  @param[in,out] a       n x n, column-major; destroyed
 *  @param[out]    values  n numbers, of which the first @p count are set, largest first
 *  @param[out]    z       n x count, column-major
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_SIZE; DKM_ERR_NUMERIC
 */
DKM_NODISCARD dkm_local dkm_syev_leading_local(dkm_ctx *ctx, char uplo, dkm_idx n, double *a,
                                               dkm_idx count, double *values, double *z);

#endif
