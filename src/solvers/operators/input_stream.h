/** @file input_stream.h  Training inputs that a solver can read repeatedly: held in memory, or read
 *  again from their file.
 *
 *  In both cases a rank sees the objects of its own slab, in chunks.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_INPUT_STREAM_H
#define DKMAP_SOLVERS_OPERATORS_INPUT_STREAM_H

#include <dkmap/landmarks.h>

typedef struct dkm_input_stream {
    dkm_ctx *ctx;
    const dkm_data *X;  /**< borrowed; NULL: read from the source */
    dkm_source *source; /**< borrowed; may be NULL where X is not */
    dkm_idx m;
    dkm_idx each;                 /**< objects of a rank at a time */
    const dkm_prepared *training; /**< what the objects are compared with */
    dkm_data *chunk;
    dkm_prepared *prepared; /**< the chunk at hand; all of X where that is in memory */
} dkm_input_stream;

/** Objects at hand, or of a file. Local; dkm_input_stream_close() frees. */
dkm_input_stream dkm_input_stream_open(const dkm_data *X, dkm_source *source, dkm_ctx *ctx);

/** Say what the objects will be compared with, which must outlive the stream. Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for objects that are rows of a matrix of their own */
DKM_NODISCARD dkm_status dkm_input_stream_bind(dkm_input_stream *feed,
                                               const dkm_prepared *training);

/** The objects of this rank from its @p first on, feed->each at the most. Collective.
 *  @param[out] X  stays the stream's, until the next call */
DKM_NODISCARD dkm_status dkm_input_stream_read_chunk(dkm_input_stream *feed, dkm_idx first,
                                                     const dkm_prepared **X);

/** Objects [0, m) by their indices, spread in slabs. Collective. */
DKM_NODISCARD dkm_status dkm_input_stream_select(const dkm_input_stream *feed, dkm_idx count,
                                                 const dkm_idx *indices, dkm_data **selected);

/** Choose landmarks among the objects. Collective.
 *
 *  Choices that look at the objects do so on a pool: all of them where they are at most 10 times
 *  the landmarks, else so many drawn uniformly.
 *
 *  @param[in,out] count   as of dkm_landmarks_choose()
 *  @param[out]    indices  space for @p count numbers
 */
DKM_NODISCARD dkm_status dkm_input_stream_landmarks(const dkm_input_stream *feed,
                                                    const dkm_kernel *kernel,
                                                    dkm_landmark_method choice, double gamma,
                                                    dkm_idx *count, dkm_idx *indices);

void dkm_input_stream_close(dkm_input_stream *feed);

#endif
