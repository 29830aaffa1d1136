/** @file narrow.h  Products of a tile with a few columns, at the speed of memory or of the
 * registers.
 *
 *  gemm copies both factors to buffers of its own before it multiplies, which for a few columns
 *  takes as long as to multiply. Here a tile is read in place. Tall matrices are kept transposed,
 * some lanes an object: 8, 16 or 24 numbers.
 */
#ifndef DKMAP_NARROW_H
#define DKMAP_NARROW_H

#include <dkmap/types.h>

enum { DKM_LANES = 16, DKM_LANES_MOST = 24 };

/** An na x nb tile, column-major. */
typedef struct dkm_narrow {
    dkm_precision precision;
    dkm_idx na, nb, ld;
    const void *T;
} dkm_narrow;

/** Lanes that hold @p p columns, 1 to DKM_LANES_MOST of them. Local. */
static inline dkm_idx dkm_narrow_lanes(dkm_idx p)
{
    return (p + 7) / 8 * 8;
}

/** W += T V: V has nb objects and W na. Local. */
void dkm_narrow_rows(const dkm_narrow *tile, dkm_idx lanes, const void *V, void *W);

/** W += T'V: V has na objects and W nb. Local. */
void dkm_narrow_cols(const dkm_narrow *tile, dkm_idx lanes, const void *V, void *W);

#endif
