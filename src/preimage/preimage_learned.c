/* Learned pre-images (Bakir, Weston and Schoelkopf 2004, NIPS 16:449-456): a kernel ridge
 * regression from the coordinates of the training objects back to the objects themselves, with a
 * kernel and a ridge of its own. Cost: that of models/krr. */
#include <dkmap/krr.h>

#include "core/alloc.h"
#include "preimage/preimage.h"

typedef struct learned_state {
    dkm_model *model; /* from coordinates to objects */
} learned_state;

static void preimage_learned_clear(void *state)
{
    learned_state *s = state;

    dkm_model_destroy(&s->model);
}

static int preimage_learned_accepts(const dkm_embedding *e)
{
    dkm_type type = dkm_data_type(e->fitted.X);

    return type == DKM_DENSE || type == DKM_LABELS;
}

/* Coordinates of the training objects, in slabs. */
static dkm_status training_coordinates(const dkm_embedding *e, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_dmat *C = NULL;

    DKM_TRY(dkm_embedding_training(e, &C));
    DKM_TRY(dkm_data_create_dense(e->fitted.ctx, dkm_data_rows(e->fitted.X), e->p, Z));
    DKM_TRY(dkm_dmat_to_rows(C, dkm_data_values(*Z)));
out:
    dkm_dmat_destroy(&C);
    return status;
}

static dkm_status preimage_learned_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    learned_state *s = state;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    dkm_krr_settings how = dkm_krr_settings_default();
    dkm_data *Z = NULL;

    how.ridge.gamma = pre->settings.gamma_z;
    how.layout = (dkm_layout){dkm_grid_rows(fitted->grid), dkm_grid_cols(fitted->grid), fitted->nb};
    DKM_TRY(training_coordinates(pre->e, &Z));
    DKM_TRY(dkm_krr_fit(fitted->ctx, Z, fitted->X, pre->settings.kz, &how, &s->model, NULL));
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status preimage_learned_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                         const dkm_data *Z, dkm_data **Y)
{
    const learned_state *s = state;

    (void)pre;
    (void)X;
    return dkm_model_predict(s->model, Z, Y);
}

static dkm_idx preimage_learned_width(const dkm_preimage *pre)
{
    return dkm_data_rows(pre->e->fitted.X);
}

const dkm_preimage_kind dkm_preimage_learned = {.method = DKM_PREIMAGE_LEARNED,
                                                .takes = DKM_PREIMAGE_NEEDS_KERNEL,
                                                .state_size = sizeof(learned_state),
                                                .suits = preimage_learned_accepts,
                                                .width = preimage_learned_width,
                                                .prepare = preimage_learned_prepare,
                                                .solve = preimage_learned_solve,
                                                .clear = preimage_learned_clear};
