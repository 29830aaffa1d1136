/** @file candidate_stream.h  Coordinates of candidates that stay in their file, block by block. */
#ifndef DKMAP_PREIMAGE_CANDIDATE_STREAM_H
#define DKMAP_PREIMAGE_CANDIDATE_STREAM_H

#include "models/common/embedding.h"

/** What becomes of the coordinates and norms of a block; @p first counts from the first of this
 *  rank's candidates, of which a block may hold none. Local. */
typedef struct dkm_candidate_visitor {
    void (*visit)(void *user, dkm_idx first, dkm_idx n, const double *Z, const double *norms);
    void *user;
} dkm_candidate_visitor;

/** One pass over the file. Collective. */
DKM_NODISCARD dkm_status dkm_candidate_stream_visit(dkm_embedding *e, dkm_source *stream,
                                                    const dkm_candidate_visitor *visitor);

#endif
