/* extend(q.h5): a kernel that was carried from a matrix to all objects with features, <z(x), z(x')>
 * with the coordinates z that its file holds the recipe of. */
#include "core/alloc.h"
#include "kernels/evaluation/kernel_plugin.h"
#include "kernels/evaluation/panel.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/vector/vectors.h"

#define ALL_TYPES (DKM_TYPE_BIT(DKM_TYPE_COUNT) - 1u)

void dkm_kernel_plugin_clear(dkm_kernel_plugin *loaded)
{
    if (loaded->state)
        loaded->destroy(loaded->state);
    loaded->state = NULL;
}

static dkm_local extend_kernel_add_squares(dkm_objs *Z)
{
    dkm_local local = dkm_objs_add_extra(Z, 1);

    for (dkm_idx i = 0; local.code == DKM_OK && i < Z->n; i++)
        for (dkm_idx k = 0; k < Z->d; k++)
            Z->extra[i] += Z->values[i * Z->d + k] * Z->values[i * Z->d + k];
    return local;
}

static dkm_status train(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL;
    dkm_objs rows = {0};

    DKM_TRY(node->loaded.coordinates(node->loaded.state, P->X, &Z));
    rows = Z->mine;
    Z->mine = (dkm_objs){0};
    DKM_AGREE(P->ctx, extend_kernel_add_squares(&rows));
    DKM_TRY(dkm_feature_cache_fill(P, node->slot, &rows));
out:
    dkm_objs_clear(&rows);
    dkm_data_destroy(&Z);
    return status;
}

const dkm_kernel_class dkm_kernel_class_extend = {.name = "extend",
                                                  .types = ALL_TYPES,
                                                  .argument = DKM_ARGUMENT_FILE,
                                                  .train = train,
                                                  .diag = dkm_panel_diag_from_extra,
                                                  .tile = dkm_vectors_dot};
