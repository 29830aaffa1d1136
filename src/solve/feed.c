#include "solve/feed.h"

#include "core/alloc.h"

#define STRETCH_BYTES 67108864.0 /* of dense rows that are read at a time, a rank */
#define STRETCH_LEAST 1024
#define STRETCH_MOST  1048576
#define POOL          10 /* objects looked at for each landmark */

static dkm_idx longest(const dkm_feed *f)
{
    return dkm_slab_count(f->m, 0, dkm_ctx_size(f->ctx));
}

static dkm_idx stretch_of(const dkm_source *source)
{
    dkm_idx d = dkm_source_cols(source);
    double rows = STRETCH_BYTES / 8.0 / (double)(d > 0 ? d : 64);

    return rows < STRETCH_LEAST  ? STRETCH_LEAST
           : rows > STRETCH_MOST ? STRETCH_MOST
                                 : (dkm_idx)rows;
}

dkm_feed dkm_feed_of(const dkm_data *X, dkm_source *source, dkm_ctx *ctx)
{
    dkm_feed f = {.ctx = ctx, .X = X, .source = source};

    f.m = X ? dkm_data_rows(X) : dkm_source_rows(source);
    f.each = X ? longest(&f) : stretch_of(source);
    f.each = f.each > 0 ? f.each : 1;
    return f;
}

static dkm_local check_type(const dkm_feed *f)
{
    dkm_type type = f->X ? dkm_data_type(f->X) : dkm_source_type(f->source);

    if (type != DKM_GRAM && type != DKM_DISTANCE && type != DKM_GRAPH)
        return DKM_LOCAL_OK;
    return dkm_fail(f->ctx, DKM_ERR_UNSUPPORTED,
                    "landmarks stand for objects, and a %s is a matrix that is there already: "
                    "use another solver",
                    dkm_type_name(type));
}

dkm_status dkm_feed_aim(dkm_feed *f, const dkm_prepared *training)
{
    dkm_status status = DKM_OK;

    dkm_feed_close(f);
    f->training = training;
    DKM_AGREE(f->ctx, check_type(f));
    if (f->X)
        DKM_TRY(dkm_kernel_prepare_new(training, f->X, &f->prepared));
out:
    return status;
}

dkm_status dkm_feed_at(dkm_feed *f, dkm_idx first, const dkm_prepared **X)
{
    dkm_status status = DKM_OK;

    if (!f->X) {
        dkm_feed_close(f);
        dkm_phase_begin(f->ctx, "read");
        status = dkm_source_read_share(f->source, first, f->each, &f->stretch);
        dkm_phase_end(f->ctx);
        DKM_TRY(status);
        DKM_TRY(dkm_kernel_prepare_new(f->training, f->stretch, &f->prepared));
    }
    *X = f->prepared;
out:
    return status;
}

dkm_status dkm_feed_select(const dkm_feed *f, dkm_idx count, const dkm_idx *places,
                           dkm_data **selected)
{
    return f->X ? dkm_data_select(f->X, count, places, selected)
                : dkm_source_select(f->source, count, places, selected);
}

static dkm_status choose_from_pool(const dkm_feed *f, const dkm_kernel *kernel,
                                   dkm_landmark_choice choice, double gamma, dkm_idx *count,
                                   dkm_idx *places)
{
    dkm_status status = DKM_OK;
    dkm_idx size = POOL * *count < f->m ? POOL * *count : f->m, *pool = NULL;
    dkm_grid *grid = NULL;
    dkm_data *X = NULL;
    dkm_prepared *prepared = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, size, &pool));
    DKM_TRY(dkm_grid_create(f->ctx, 0, 0, &grid));
    DKM_TRY(dkm_landmarks_uniform(f->ctx, f->m, size, pool));
    DKM_TRY(dkm_feed_select(f, size, pool, &X));
    DKM_TRY(dkm_kernel_prepare(kernel, X, &prepared));
    DKM_TRY(dkm_landmarks_choose(grid, prepared, choice, gamma, count, places));
    for (dkm_idx k = 0; k < *count; k++)
        places[k] = pool[places[k]];
out:
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    dkm_grid_destroy(&grid);
    DKM_FREE(pool);
    return status;
}

dkm_status dkm_feed_landmarks(const dkm_feed *f, const dkm_kernel *kernel,
                              dkm_landmark_choice choice, double gamma, dkm_idx *count,
                              dkm_idx *places)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(f->ctx, check_type(f));
    if (choice == DKM_LANDMARKS_UNIFORM || *count >= f->m)
        DKM_TRY(dkm_landmarks_uniform(f->ctx, f->m, *count, places));
    else
        DKM_TRY(choose_from_pool(f, kernel, choice, gamma, count, places));
out:
    return status;
}

void dkm_feed_close(dkm_feed *f)
{
    dkm_prepared_destroy(&f->prepared);
    dkm_data_destroy(&f->stretch);
}
