/* origin: every point of feature space has the zero row as its pre-image. An example of a pre-image
 * method: see CONTRIBUTING.md. */
#include "preimage/preimage.h"

static int origin_suits(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, NULL);
}

static dkm_status origin_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                               const dkm_data *Z, dkm_data **Y)
{
    (void)state;
    (void)X;
    return dkm_data_create_dense(pre->e->fitted.ctx, dkm_data_rows(Z),
                                 dkm_data_cols(pre->e->fitted.X), Y);
}

const dkm_preimage_kind dkm_preimage_origin = {
    .method = DKM_PREIMAGE_ORIGIN, .suits = origin_suits, .solve = origin_solve};
