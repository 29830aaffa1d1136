/** @file feed.h  Training inputs that pass by as often as a solver wants: kept in memory, or read
 *  anew from their file.
 *
 *  Whichever it is, a rank sees the objects of its own slab of all m, in stretches.
 */
#ifndef DKMAP_FEED_H
#define DKMAP_FEED_H

#include <dkmap/landmarks.h>

typedef struct dkm_feed {
    dkm_ctx *ctx;
    const dkm_data *X;  /**< borrowed; NULL: read from the source */
    dkm_source *source; /**< borrowed; may be NULL where X is not */
    dkm_idx m;
    dkm_idx each;                 /**< objects of a rank at a time */
    const dkm_prepared *training; /**< what the objects are compared with */
    dkm_data *stretch;
    dkm_prepared *prepared; /**< the stretch at hand; all of X where that is kept */
} dkm_feed;

/** Objects at hand, or of a file. Local; dkm_feed_close() frees. */
dkm_feed dkm_feed_of(const dkm_data *X, dkm_source *source, dkm_ctx *ctx);

/** Say what the objects will be compared with, which must outlive the feed. Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for objects that are rows of a matrix of their own */
DKM_NODISCARD
dkm_status dkm_feed_aim(dkm_feed *feed, const dkm_prepared *training);

/** The objects of this rank from its @p first on, feed->each at the most. Collective.
 *  @param[out] X  stays the feed's, until the next call */
DKM_NODISCARD
dkm_status dkm_feed_at(dkm_feed *feed, dkm_idx first, const dkm_prepared **X);

/** Objects [0, m) by their places, spread in slabs. Collective. */
DKM_NODISCARD
dkm_status dkm_feed_select(const dkm_feed *feed, dkm_idx count, const dkm_idx *places,
                           dkm_data **selected);

/** Choose landmarks among the objects. Collective.
 *
 *  Choices that look at the objects do so on a pool: all of them where they are at most 10 times
 *  the landmarks, else so many drawn uniformly.
 *
 *  @param[in,out] count   as of dkm_landmarks_choose()
 *  @param[out]    places  room for @p count numbers
 */
DKM_NODISCARD
dkm_status dkm_feed_landmarks(const dkm_feed *feed, const dkm_kernel *kernel,
                              dkm_landmark_choice choice, double gamma, dkm_idx *count,
                              dkm_idx *places);

void dkm_feed_close(dkm_feed *feed);

#endif
