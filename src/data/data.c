#include <dkmap/data.h>

#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "data/objects.h"

static dkm_local make_data(dkm_ctx *ctx, dkm_idx m, dkm_idx n, dkm_data **data)
{
    dkm_idx share = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    if (n != share)
        return dkm_fail(ctx, DKM_ERR_INTERNAL, "%lld objects where a slab of %lld has %lld",
                        (long long)n, (long long)m, (long long)share);
    return dkm_calloc(ctx, 1, data);
}

dkm_status dkm_data_wrap(dkm_ctx *ctx, dkm_idx m, dkm_objs *objs, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_data *made = NULL;

    *data = NULL;
    DKM_AGREE(ctx, make_data(ctx, m, objs->n, &made));
    made->ctx = ctx;
    made->m = m;
    made->first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    made->mine = *objs;
    made->self = made;
    *objs = (dkm_objs){0};
    *data = made;
    made = NULL;
out:
    DKM_FREE(made);
    dkm_objs_clear(objs);
    return status;
}

static dkm_local make_zeros(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;

    if (m < 0 || d < 0) {
        local = dkm_fail(ctx, DKM_ERR_ARG, "data of %lld x %lld: sizes may not be negative",
                         (long long)m, (long long)d);
        goto out;
    }
    DKM_STEP(dkm_objs_init(objs, ctx, type, dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)),
                           d, 0));
    memset(objs->values, 0, (size_t)(objs->n * d) * sizeof *objs->values);
out:
    return local;
}

static dkm_status create_zeros(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, make_zeros(ctx, type, m, d, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

dkm_status dkm_data_create_dense(dkm_ctx *ctx, dkm_idx m, dkm_idx d, dkm_data **data)
{
    return create_zeros(ctx, DKM_DENSE, m, d, data);
}

dkm_status dkm_data_create_labels(dkm_ctx *ctx, dkm_idx m, dkm_data **data)
{
    return create_zeros(ctx, DKM_LABELS, m, 1, data);
}

static dkm_local data_make_strings(dkm_ctx *ctx, dkm_idx m, const dkm_idx *lengths, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)), letters = 0;

    for (dkm_idx i = 0; i < n; i++) {
        if (lengths[i] < 0 || lengths[i] > INT64_MAX - letters)
            return dkm_fail(ctx, DKM_ERR_ARG, "a string of %lld letters", (long long)lengths[i]);
        letters += lengths[i];
    }
    DKM_STEP(dkm_objs_init(objs, ctx, DKM_STRINGS, n, 0, letters));
    memset(objs->bytes, ' ', (size_t)letters);
    for (dkm_idx i = 0; i < n; i++)
        objs->start[i + 1] = objs->start[i] + lengths[i];
out:
    return local;
}

dkm_status dkm_data_create_strings(dkm_ctx *ctx, dkm_idx m, const dkm_idx *lengths, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, data_make_strings(ctx, m, lengths, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

dkm_ctx *dkm_data_ctx(const dkm_data *data)
{
    return data->ctx;
}

dkm_type dkm_data_type(const dkm_data *data)
{
    return data->mine.type;
}

dkm_idx dkm_data_rows(const dkm_data *data)
{
    return data->m;
}

dkm_idx dkm_data_cols(const dkm_data *data)
{
    return data->mine.d;
}

dkm_idx dkm_data_local_first(const dkm_data *data)
{
    return data->first;
}

dkm_idx dkm_data_local_rows(const dkm_data *data)
{
    return data->mine.n;
}

double *dkm_data_values(dkm_data *data)
{
    return data->mine.values;
}

const double *dkm_data_values_const(const dkm_data *data)
{
    return data->mine.values;
}

char *dkm_data_string(dkm_data *data, dkm_idx il, dkm_idx *length)
{
    const dkm_idx *start = data->mine.start + il;

    *length = start[1] - start[0];
    return data->mine.bytes + start[0];
}

const char *dkm_data_string_const(const dkm_data *data, dkm_idx il, dkm_idx *length)
{
    const dkm_idx *start = data->mine.start + il;

    *length = start[1] - start[0];
    return data->mine.bytes + start[0];
}

dkm_status dkm_data_select(const dkm_data *data, dkm_idx count, const dkm_idx *rows,
                           dkm_data **selected)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = data->ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_objs objs = {0};

    *selected = NULL;
    DKM_TRY(dkm_data_fetch(data, dkm_slab_count(count, rank, size),
                           rows + dkm_slab_first(count, rank, size), &objs));
    DKM_TRY(dkm_data_wrap(ctx, count, &objs, selected));
out:
    dkm_objs_clear(&objs);
    return status;
}

dkm_data *dkm_data_share(const dkm_data *data)
{
    data->self->shares++;
    return data->self;
}

void dkm_data_destroy(dkm_data **data)
{
    if (!*data)
        return;
    if ((*data)->shares > 0) {
        (*data)->shares--;
        *data = NULL;
        return;
    }
    if ((*data)->borrowed)
        (*data)->mine.values = NULL;
    dkm_objs_clear(&(*data)->mine);
    DKM_FREE(*data);
}
