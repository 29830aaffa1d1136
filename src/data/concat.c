#include <dkmap/data.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "data/pack.h"

static dkm_local check_join(const dkm_data *A, const dkm_data *B)
{
    dkm_type type = dkm_data_type(A), other = dkm_data_type(B);

    if (other != type)
        return dkm_fail(A->ctx, DKM_ERR_ARG, "these are %s, to be joined to %s",
                        dkm_type_name(other), dkm_type_name(type));
    if (type == DKM_GRAM || type == DKM_DISTANCE || type == DKM_GRAPH)
        return dkm_fail(A->ctx, DKM_ERR_UNSUPPORTED,
                        "a %s speaks of its own objects alone: no others can be joined to them",
                        dkm_type_name(type));
    if (dkm_type_storage_form(type) == DKM_STORED_VALUES && dkm_data_cols(A) != dkm_data_cols(B))
        return dkm_fail(A->ctx, DKM_ERR_ARG, "these have %lld columns, to be joined to %lld",
                        (long long)dkm_data_cols(B), (long long)dkm_data_cols(A));
    return DKM_LOCAL_OK;
}

/* The objects of [first, first + count) that @p data has, when its own begin at @p shift. */
static dkm_status fetch_part(const dkm_data *data, dkm_idx shift, dkm_idx first, dkm_idx count,
                             dkm_objs *got)
{
    dkm_status status = DKM_OK;
    dkm_idx from = first > shift ? first - shift : 0, end = first + count - shift;
    dkm_idx *indices = NULL, n;

    end = end > data->m ? data->m : end;
    n = end > from ? end - from : 0;
    DKM_AGREE(data->ctx, dkm_alloc(data->ctx, n, &indices));
    for (dkm_idx k = 0; k < n; k++)
        indices[k] = from + k;
    DKM_TRY(dkm_data_fetch(data, n, indices, got));
out:
    DKM_FREE(indices);
    return status;
}

static dkm_idx concat_items_of(const dkm_objs *objs)
{
    return objs->start ? objs->start[objs->n] : 0;
}

/* Objects of @p from, in order, to those of @p to from @p at on; lengths come first. */
static void put_objects(const dkm_objs *from, dkm_objs *to, dkm_idx at)
{
    for (dkm_idx i = 0; i < from->n; i++) {
        if (to->start)
            to->start[at + i + 1] = to->start[at + i] + from->start[i + 1] - from->start[i];
        dkm_pack_copy_object(from, i, to, at + i);
    }
}

static dkm_local put_together(const dkm_objs *a, const dkm_objs *b, dkm_objs *both)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_init(both, a->ctx, a->type, a->n + b->n, a->d > b->d ? a->d : b->d,
                           concat_items_of(a) + concat_items_of(b)));
    put_objects(a, both, 0);
    put_objects(b, both, a->n);
out:
    return local;
}

dkm_status dkm_data_join(const dkm_data *A, const dkm_data *B, dkm_data **joined)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = A->ctx;
    dkm_idx m = A->m + B->m;
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx count = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_objs a = {0}, b = {0}, both = {0};

    *joined = NULL;
    DKM_AGREE(ctx, check_join(A, B));
    DKM_TRY(fetch_part(A, 0, first, count, &a));
    DKM_TRY(fetch_part(B, A->m, first, count, &b));
    DKM_AGREE(ctx, put_together(&a, &b, &both));
    DKM_TRY(dkm_data_wrap(ctx, m, &both, joined));
out:
    dkm_objs_clear(&both);
    dkm_objs_clear(&b);
    dkm_objs_clear(&a);
    return status;
}
