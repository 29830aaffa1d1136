/** @file jkm_impl.h  A joint kernel map after training: what fit, predict and model files share. */
#ifndef DKMAP_JKM_IMPL_H
#define DKMAP_JKM_IMPL_H

#include "model/form.h"
#include "model/model_impl.h"
#include "model/space.h"

typedef struct dkm_jkm {
    dkm_ctx *ctx;
    dkm_form form;
    dkm_space space;
    dkm_data *U; /* the machine: one row for each of the form's inputs */
    char *joint, *kx, *ky;
    double epsilon, C, threshold;
    dkm_idx top;
} dkm_jkm;

/** Remember the expressions of kernels. Local. */
DKM_NODISCARD
dkm_local dkm_jkm_keep_texts(dkm_jkm *s, const char *joint, const char *kx, const char *ky);

/** What the outputs of a model are. Local. */
void dkm_jkm_describe(const dkm_jkm *s, dkm_type *type, dkm_idx *cols);

/** Free the map and all it has. Local.
 *  @param[in] state  a dkm_jkm */
void dkm_jkm_destroy(void *state);

#endif
