/** @file gemm_i16.h  Exact inner products of rows of small integers, such as the bytes of images.
 *
 *  Sums of products of 16-bit integers are exact in 32 bits as long as they stay below 2^31; dgemm
 *  gives the same values to the last bit and takes three to four times as long.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_I16_H
#define DKMAP_LINALG_KERNELS_GEMM_I16_H

#include <dkmap/types.h>

/** Numbers kept a row: @p d, made even. Local. */
static inline dkm_idx dkm_gemm_i16_ld(dkm_idx d)
{
    return d + d % 2;
}

/** Whether this machine has the instructions that make it worth while. Local. */
int dkm_gemm_i16_available(void);

/** Keep @p n rows of @p d numbers as 16-bit ones.
 *
 *  Local.
 *
 *  @param[out] to    dkm_gemm_i16_ld(d) numbers per row
 *  @return the largest size among them; -1 when some are not whole, or too large for 16 bits
 */
double dkm_gemm_i16_pack(dkm_idx n, dkm_idx d, const double *rows, int16_t *to);

/** Rows of some objects as dkm_gemm_i16_pack() left them. */
typedef struct dkm_i16_rows {
    dkm_idx n, width;
    const int16_t *rows;
} dkm_i16_rows;

/** Room that dkm_gemm_i16() takes for rows of this width, in numbers. Local. */
dkm_idx dkm_gemm_i16_workspace(dkm_idx width);

/** C(i, j) = <a_i, b_j>. Local.
 *
 *  @pre width times the largest sizes in A and in B is below 2^31
 *  @param[out] C     column-major, of @p precision
 *  @param      room  dkm_gemm_i16_workspace() numbers
 */
void dkm_gemm_i16(const dkm_i16_rows *A, const dkm_i16_rows *B, dkm_precision precision, void *C,
                  dkm_idx ldc, int16_t *room);

#endif
