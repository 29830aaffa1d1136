/** @file symm_multivec_f32.h  A sweep that multiplies tiles of single precision in single
 * precision.
 *
 *  Sums of a tile are those of symm_tile_f32.h, all others are double.
 */
#ifndef DKMAP_LINALG_SYMM_SYMM_MULTIVEC_F32_H
#define DKMAP_LINALG_SYMM_SYMM_MULTIVEC_F32_H

#include "linalg/kernels/gemm_tallskinny.h"
#include "linalg/symm/symm_multivec.h"

typedef struct dkm_symm_f32 {
    dkm_symm *sweep;        /**< borrowed, of a shape in double precision */
    float *V_rows, *V_cols; /**< its numbers, column by column */
    double *W_rows, *W_cols;
} dkm_symm_f32;

/** Begin where a product begins. Local; dkm_symm_f32_free() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_symm_f32_begin(dkm_symm_f32 *low, dkm_symm *sweep);

/** As dkm_symm_accumulate_tile(), for a tile that does not touch the diagonal and is left as it is.
 * Local. */
void dkm_symm_f32_accumulate_tile(dkm_symm_f32 *low, dkm_idx il, dkm_idx jl,
                                  const dkm_ts_tile *tile);

/** Give the product what was added up. Local. */
void dkm_symm_f32_finish(const dkm_symm_f32 *low);

void dkm_symm_f32_free(dkm_symm_f32 *low);

#endif
