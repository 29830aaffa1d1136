/** @file narrow.h  Products of a tile with DKM_LANES columns, at the speed of memory.
 *
 *  gemm copies both factors to buffers of its own before it multiplies, which for a few columns
 *  takes longer than to multiply. Here a tile is read once and in place. Tall matrices are kept
 *  transposed, DKM_LANES numbers an object.
 */
#ifndef DKMAP_NARROW_H
#define DKMAP_NARROW_H

#include <dkmap/types.h>

enum { DKM_LANES = 16 };

/** W += T V for an na x nb tile T, column-major: V has nb objects and W na. Local. */
void dkm_narrow_rows(dkm_precision precision, dkm_idx na, dkm_idx nb, const void *T, dkm_idx ld,
                     const void *V, void *W);

/** W += T'V: V has na objects and W nb. Local. */
void dkm_narrow_cols(dkm_precision precision, dkm_idx na, dkm_idx nb, const void *T, dkm_idx ld,
                     const void *V, void *W);

#endif
