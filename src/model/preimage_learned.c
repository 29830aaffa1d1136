/* A ridge regression from the coordinates of the training objects back to the objects themselves,
 * with a kernel and a ridge of its own. */
#include <dkmap/krr.h>

#include "core/alloc.h"
#include "model/preimage.h"

static int suits(const dkm_embedding *e)
{
    dkm_type type = dkm_data_type(e->base.X);

    return type == DKM_DENSE || type == DKM_LABELS;
}

/* Coordinates of the training objects, in slabs. */
static dkm_status training_coordinates(const dkm_embedding *e, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_dmat *C = NULL;

    DKM_TRY(dkm_embedding_training(e, &C));
    DKM_TRY(dkm_data_create_dense(e->base.ctx, dkm_data_rows(e->base.X), e->p, Z));
    DKM_TRY(dkm_dmat_to_rows(C, dkm_data_values(*Z)));
out:
    dkm_dmat_destroy(&C);
    return status;
}

static dkm_status prepare(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &pre->e->base;
    dkm_krr_settings how = dkm_krr_settings_default();
    dkm_data *Z = NULL;

    how.ridge.gamma = pre->settings.gamma_z;
    how.layout = (dkm_layout){dkm_grid_rows(base->grid), dkm_grid_cols(base->grid), base->nb};
    DKM_TRY(training_coordinates(pre->e, &Z));
    DKM_TRY(dkm_krr_fit(base->ctx, &Z, base->X, pre->settings.kz, &how, &pre->learned, NULL));
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status solve(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    return dkm_model_predict(pre->learned, Z, Y);
}

static dkm_idx width(const dkm_preimage *pre)
{
    return dkm_data_rows(pre->e->base.X);
}

const dkm_preimage_kind dkm_preimage_learned = {.method = DKM_PREIMAGE_LEARNED,
                                                .suits = suits,
                                                .width = width,
                                                .prepare = prepare,
                                                .solve = solve};
