#include <dkmap/extend.h>
#include <dkmap/store.h>

#include "kernel/loaded.h"

static dkm_status coordinates(void *state, const dkm_data *X, dkm_data **Z)
{
    return dkm_extend_coordinates(state, X, Z);
}

static void destroy(void *state)
{
    dkm_model *model = state;

    dkm_model_destroy(&model);
}

static dkm_status load(dkm_ctx *ctx, const char *path, dkm_loaded *loaded)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {0};
    dkm_model *model = NULL;

    DKM_TRY(dkm_model_load(ctx, path, &layout, &model));
    *loaded = (dkm_loaded){model, coordinates, destroy};
out:
    return status;
}

void dkm_store_serve_kernels(dkm_ctx *ctx)
{
    dkm_kernel_set_loader(ctx, load);
}
