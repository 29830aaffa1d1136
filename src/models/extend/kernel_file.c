#include <dkmap/extend.h>
#include <dkmap/store.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "io/archive/checksum.h"
#include "io/checkpoint/checkpointer.h"
#include "kernels/evaluation/kernel_plugin.h"
#include "models/registry/load_guard.h"

static dkm_status kernel_file_coordinates(void *state, const dkm_data *X, dkm_data **Z)
{
    return dkm_extend_coordinates(state, X, Z);
}

static void kernel_file_destroy(void *state)
{
    dkm_model *model = state;

    dkm_model_destroy(&model);
}

/* States of a run are of use for the same kernel file alone. */
static dkm_status note_file(dkm_ctx *ctx, const char *path)
{
    dkm_status status = DKM_OK;
    uint64_t sum = 0;

    if (!dkm_checkpointer_enabled(ctx))
        return DKM_OK;
    DKM_TRY(dkm_seal_sum(ctx, path, &sum));
    DKM_TRY(dkm_keep_note_sum(ctx, sum));
out:
    return status;
}

dkm_status dkm_kernel_load(dkm_ctx *ctx, const char *path, dkm_kernel_plugin *loaded)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {0};
    dkm_model *model = NULL;
    char *found = NULL;

    DKM_AGREE(ctx, dkm_loading_find(ctx, path, &found));
    DKM_TRY(dkm_model_load(ctx, found, &layout, &model));
    DKM_TRY(note_file(ctx, found));
    *loaded = (dkm_kernel_plugin){model, kernel_file_coordinates, kernel_file_destroy};
    model = NULL;
out:
    dkm_model_destroy(&model);
    DKM_FREE(found);
    return status;
}

void dkm_store_kernel_folder(dkm_ctx *ctx, const char *folder)
{
    dkm_ctx_lend(ctx, DKM_LENT_FOLDER, folder);
}
