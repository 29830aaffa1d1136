/** @file gemm_tallskinny_f32_f64.h  Products of a tile in single precision with a few columns in
 * double.
 *
 *  Values are converted where they are used. Tall matrices are kept transposed, 12 or 16 numbers
 * per object.
 */
#ifndef DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_F32_F64_H
#define DKMAP_LINALG_KERNELS_GEMM_TALLSKINNY_F32_F64_H

#include <dkmap/types.h>

/** Numbers an object that the products want for p columns, the rest being zeros; 0 where they would
 *  not pay. Local. */
dkm_idx dkm_ts_mixed_nrhs_pad(dkm_idx p);

/** W += T V for an na x nb tile T, column-major: V has nb objects and W na. Local.
 *  @param[in] nrhs_pad  what dkm_ts_mixed_nrhs_pad() says */
void dkm_ts_mixed_gemm_n(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                         const double *V, double *W);
/** W += T'V: V has na objects and W nb. Local. */
void dkm_ts_mixed_gemm_t(dkm_idx nrhs_pad, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                         const double *V, double *W);

#endif
