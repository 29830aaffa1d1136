/** @file parallel_products.h  Products of tiles with few right-hand sides on the threads of a rank.
 *
 *  Each element of a result is summed by one thread in the order in which one thread alone would do
 *  it: answers do not depend on the number of threads.
 */
#ifndef DKMAP_LINALG_KERNELS_PARALLEL_PRODUCTS_H
#define DKMAP_LINALG_KERNELS_PARALLEL_PRODUCTS_H

#include "linalg/kernels/gemm_tallskinny.h"
#include "linalg/kernels/symm_tile_f32.h"

/** dkm_ts_gemm_n() and dkm_ts_gemm_t() on up to @p threads threads. Local. */
void dkm_ts_gemm_n_parallel(int threads, const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V,
                            void *W);
void dkm_ts_gemm_t_parallel(int threads, const dkm_ts_tile *tile, dkm_idx nrhs_pad, const void *V,
                            void *W);

/** W_rows += T V_cols where there are V_cols, and W_cols += T'V_rows where there are V_rows, on up
 *  to @p threads threads. Local. */
void dkm_tile_gemm_fused(int threads, const dkm_fused_tile *t);

#endif
