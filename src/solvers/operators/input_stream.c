#include "solvers/operators/input_stream.h"

#include "core/alloc.h"

#define CHUNK_BYTES       67108864.0 /* of dense rows that are read at a time, a rank */
#define CHUNK_MIN_ROWS    1024
#define CHUNK_MAX_ROWS    1048576
#define POOL_PER_LANDMARK 10 /* objects looked at for each landmark */

static dkm_idx stream_max_slab(const dkm_input_stream *f)
{
    return dkm_slab_count(f->m, 0, dkm_ctx_size(f->ctx));
}

static dkm_idx stream_chunk_rows(const dkm_source *source)
{
    dkm_idx d = dkm_source_cols(source);
    double rows = CHUNK_BYTES / 8.0 / (double)(d > 0 ? d : 64);

    return rows < CHUNK_MIN_ROWS   ? CHUNK_MIN_ROWS
           : rows > CHUNK_MAX_ROWS ? CHUNK_MAX_ROWS
                                   : (dkm_idx)rows;
}

dkm_input_stream dkm_input_stream_open(const dkm_data *X, dkm_source *source, dkm_ctx *ctx)
{
    dkm_input_stream f = {.ctx = ctx, .X = X, .source = source};

    f.m = X ? dkm_data_rows(X) : dkm_source_rows(source);
    f.each = X ? stream_max_slab(&f) : stream_chunk_rows(source);
    f.each = f.each > 0 ? f.each : 1;
    return f;
}

static dkm_local stream_check_type(const dkm_input_stream *f)
{
    dkm_type type = f->X ? dkm_data_type(f->X) : dkm_source_type(f->source);

    if (type != DKM_GRAM && type != DKM_DISTANCE && type != DKM_GRAPH)
        return DKM_LOCAL_OK;
    return dkm_fail(f->ctx, DKM_ERR_UNSUPPORTED,
                    "landmarks stand for objects, and a %s is a matrix that is there already: "
                    "use another solver",
                    dkm_type_name(type));
}

dkm_status dkm_input_stream_bind(dkm_input_stream *f, const dkm_prepared *training)
{
    dkm_status status = DKM_OK;

    dkm_input_stream_close(f);
    f->training = training;
    DKM_AGREE(f->ctx, stream_check_type(f));
    if (f->X)
        DKM_TRY(dkm_kernel_prepare_new(training, f->X, &f->prepared));
out:
    return status;
}

dkm_status dkm_input_stream_read_chunk(dkm_input_stream *f, dkm_idx first, const dkm_prepared **X)
{
    dkm_status status = DKM_OK;

    if (!f->X) {
        dkm_input_stream_close(f);
        dkm_phase_begin(f->ctx, "read");
        status = dkm_source_read_share(f->source, first, f->each, &f->chunk);
        dkm_phase_end(f->ctx);
        DKM_TRY(status);
        DKM_TRY(dkm_kernel_prepare_new(f->training, f->chunk, &f->prepared));
    }
    *X = f->prepared;
out:
    return status;
}

dkm_status dkm_input_stream_select(const dkm_input_stream *f, dkm_idx count, const dkm_idx *indices,
                                   dkm_data **selected)
{
    return f->X ? dkm_data_select(f->X, count, indices, selected)
                : dkm_source_select(f->source, count, indices, selected);
}

static dkm_status stream_landmarks_from_pool(const dkm_input_stream *f, const dkm_kernel *kernel,
                                             dkm_landmark_method choice, double gamma,
                                             dkm_idx *count, dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    dkm_idx size = POOL_PER_LANDMARK * *count < f->m ? POOL_PER_LANDMARK * *count : f->m,
            *pool = NULL;
    dkm_grid *grid = NULL;
    dkm_data *X = NULL;
    dkm_prepared *prepared = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, size, &pool));
    DKM_TRY(dkm_grid_create(f->ctx, 0, 0, &grid));
    DKM_TRY(dkm_landmarks_uniform(f->ctx, f->m, size, pool));
    DKM_TRY(dkm_input_stream_select(f, size, pool, &X));
    DKM_TRY(dkm_kernel_prepare(kernel, X, &prepared));
    DKM_TRY(dkm_landmarks_choose(grid, prepared, choice, gamma, count, indices));
    for (dkm_idx k = 0; k < *count; k++)
        indices[k] = pool[indices[k]];
out:
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    dkm_grid_destroy(&grid);
    DKM_FREE(pool);
    return status;
}

dkm_status dkm_input_stream_landmarks(const dkm_input_stream *f, const dkm_kernel *kernel,
                                      dkm_landmark_method choice, double gamma, dkm_idx *count,
                                      dkm_idx *indices)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(f->ctx, stream_check_type(f));
    if (choice == DKM_LANDMARKS_UNIFORM || *count >= f->m)
        DKM_TRY(dkm_landmarks_uniform(f->ctx, f->m, *count, indices));
    else
        DKM_TRY(stream_landmarks_from_pool(f, kernel, choice, gamma, count, indices));
out:
    return status;
}

void dkm_input_stream_close(dkm_input_stream *f)
{
    dkm_prepared_destroy(&f->prepared);
    dkm_data_destroy(&f->chunk);
}
