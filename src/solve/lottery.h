/** @file lottery.h  Drawing some of m without replacement, each by its weight.
 *
 *  Every object waits for an exponential time whose rate is its weight, and the first to come are
 *  drawn. Times are hashes of the seed and the place, so that the draw does not depend on the
 *  number of ranks; the last time to be early enough is found by halving an interval.
 */
#ifndef DKMAP_LOTTERY_H
#define DKMAP_LOTTERY_H

#include <dkmap/grid.h>

typedef struct dkm_lottery {
    dkm_ctx *ctx;
    dkm_idx m;
    uint64_t stream, turn; /**< another turn is another draw */
    const double *weights; /**< of this rank's slab, >= 0; NULL: all are 1 */
} dkm_lottery;

/** Draw @p count of those with a weight above 0, or all of them when there are fewer.
 *
 *  Collective.
 *
 *  @param[in,out] count   at most m; how many were drawn
 *  @param[out]    places  ascending, the same on every rank
 */
DKM_NODISCARD
dkm_status dkm_lottery_draw(const dkm_lottery *lottery, dkm_idx *count, dkm_idx *places);

#endif
