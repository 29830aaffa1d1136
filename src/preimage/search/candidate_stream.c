/* Every rank reads its own share of the file, so many rows at a time that their kernel values fit a
 * batch (dkm_fitted_kernel_batch_rows). Cost: that of dkm_embedding_encode() for every candidate. */
#include "preimage/search/candidate_stream.h"

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "search/topk.h"

/* Rows of every rank's share of the file from its own @p first on. */
static dkm_status visit_block(dkm_embedding *e, dkm_source *stream, dkm_idx first, dkm_idx each,
                              const dkm_candidate_visitor *v)
{
    dkm_ctx *ctx = e->fitted.ctx;
    dkm_status status = DKM_OK;
    dkm_candidates block = {0};
    dkm_data *objects = NULL;

    DKM_TRY(dkm_source_read_share(stream, first, each, &objects));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(objects), &block.norms));
    DKM_TRY(dkm_embedding_encode(e, objects, &block.Z, block.norms));
    v->visit(v->user, first, dkm_data_local_rows(objects), dkm_data_values_const(block.Z),
             block.norms);
out:
    dkm_candidates_clear(&block);
    dkm_data_destroy(&objects);
    return status;
}

dkm_status dkm_candidate_stream_visit(dkm_embedding *e, dkm_source *stream,
                                      const dkm_candidate_visitor *v)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(e->fitted.ctx);
    dkm_idx longest = dkm_slab_count(dkm_source_rows(stream), 0, size);
    dkm_idx width = dkm_source_cols(stream) + e->p;
    dkm_idx each = dkm_fitted_kernel_batch_rows(&e->fitted, width) / size + 1;

    for (dkm_idx first = 0; first < longest; first += each) {
        DKM_TRY(visit_block(e, stream, first, each, v));
        dkm_progress(e->fitted.ctx, (double)first, (double)longest);
    }
out:
    return status;
}
