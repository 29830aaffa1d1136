/** @file sweep_rough.h  A sweep that multiplies tiles of single precision in single precision.
 *
 *  Sums of a tile are those of twofold.h, all others are double.
 */
#ifndef DKMAP_SWEEP_ROUGH_H
#define DKMAP_SWEEP_ROUGH_H

#include "scalapack/narrow.h"
#include "scalapack/sweep.h"

typedef struct dkm_sweep_rough {
    dkm_sweep *sweep;       /**< borrowed, of a shape in double precision */
    float *V_rows, *V_cols; /**< its numbers, column by column */
    double *W_rows, *W_cols;
} dkm_sweep_rough;

/** Begin where a sweep begins. Local; dkm_sweep_rough_close() frees, also after a failure. */
DKM_NODISCARD
dkm_local dkm_sweep_rough_open(dkm_sweep_rough *rough, dkm_sweep *sweep);

/** As dkm_sweep_tile(), for a tile that does not touch the diagonal and is left as it is. Local. */
void dkm_sweep_rough_tile(dkm_sweep_rough *rough, dkm_idx il, dkm_idx jl, const dkm_narrow *tile);

/** Give the sweep what was added up. Local. */
void dkm_sweep_rough_end(const dkm_sweep_rough *rough);

void dkm_sweep_rough_close(dkm_sweep_rough *rough);

#endif
