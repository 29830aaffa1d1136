/** @file narrow_mixed.h  Products of a tile in single precision with a few columns in double.
 *
 *  Values are converted where they are used. Tall matrices are kept transposed, 12 or 16 numbers an
 *  object.
 */
#ifndef DKMAP_NARROW_MIXED_H
#define DKMAP_NARROW_MIXED_H

#include <dkmap/types.h>

/** Numbers an object that the products want for p columns, the rest being zeros; 0 where they would
 *  not pay. Local. */
dkm_idx dkm_narrow_mixed_lanes(dkm_idx p);

/** W += T V for an na x nb tile T, column-major: V has nb objects and W na. Local.
 *  @param[in] lanes  what dkm_narrow_mixed_lanes() says */
void dkm_narrow_mixed_rows(dkm_idx lanes, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                           const double *V, double *W);
/** W += T'V: V has na objects and W nb. Local. */
void dkm_narrow_mixed_cols(dkm_idx lanes, dkm_idx na, dkm_idx nb, const float *T, dkm_idx ld,
                           const double *V, double *W);

#endif
