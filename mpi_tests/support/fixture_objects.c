#include "support/fixture_objects.h"

#include <dkmap/grid.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "support/check.h"

#define TEXT_MOST 20000

static dkm_idx slab(dkm_ctx *ctx, dkm_idx m, dkm_idx *first)
{
    *first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    return dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

static dkm_data *wrap(dkm_ctx *ctx, dkm_idx m, dkm_local made, dkm_objs *objs)
{
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, made));
    CHECK_OK(ctx, dkm_data_wrap(ctx, m, objs, &data));
    return data;
}

dkm_data *objects_values(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, object_value value)
{
    dkm_objs objs = {0};
    dkm_idx first, n = slab(ctx, m, &first);
    dkm_local made = dkm_objs_init(&objs, ctx, type, n, d, 0);

    for (dkm_idx i = 0; made.code == DKM_OK && i < n; i++)
        for (dkm_idx k = 0; k < d; k++)
            objs.values[i * d + k] = value(first + i, k);
    return wrap(ctx, m, made, &objs);
}

dkm_data *objects_lists(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, object_value value)
{
    dkm_objs objs = {0};
    dkm_idx first, n = slab(ctx, m, &first), used = 0;
    dkm_local made = dkm_objs_init(&objs, ctx, type, n, d, n * d);

    for (dkm_idx i = 0; made.code == DKM_OK && i < n; i++) {
        for (dkm_idx k = 0; k < d; k++) {
            double x = value(first + i, k);
            if (x == 0)
                continue;
            objs.col[used] = k;
            if (objs.val)
                objs.val[used] = x;
            used++;
        }
        objs.start[i + 1] = used;
    }
    return wrap(ctx, m, made, &objs);
}

dkm_data *objects_texts(dkm_ctx *ctx, dkm_type type, dkm_idx m, object_text text)
{
    dkm_objs objs = {0};
    dkm_idx first, n = slab(ctx, m, &first);
    dkm_local made = dkm_objs_init(&objs, ctx, type, n, 0, n * TEXT_MOST);

    for (dkm_idx i = 0; made.code == DKM_OK && i < n; i++)
        objs.start[i + 1] = objs.start[i] + text(first + i, objs.bytes + objs.start[i], TEXT_MOST);
    return wrap(ctx, m, made, &objs);
}

void objects_gather(const dkm_data *X, double *all)
{
    dkm_idx d = dkm_data_cols(X), count = dkm_data_rows(X) * d;

    memset(all, 0, (size_t)count * sizeof *all);
    memcpy(all + dkm_data_local_first(X) * d, dkm_data_values_const(X),
           (size_t)(dkm_data_local_rows(X) * d) * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(X)));
}
