/** @file kde_tune.h  Tuning of both kernels and the ridge of kernel dependency estimation. */
#ifndef DKMAP_MODELS_KDE_KDE_TUNE_H
#define DKMAP_MODELS_KDE_KDE_TUNE_H

#include <dkmap/kde.h>

#include "models/registry/report_impl.h"
#include "models/registry/settings_impl.h"

/** Follow the gradient of the squared distance, along the components of the outputs, to the image of
 *  an output that was left out, by numbers of @p kx and the ridge; then, where @p ky has numbers
 *  too, that of the loss of decoding (decode_loss.h) by all of them, with half of the looks each.
 *  Both look at the setting tune-rows of the examples, drawn at random.
 *  Collective.
 *  @param[in,out] kde     its ridge becomes the tuned one
 *  @param[in,out] kx, ky  resolved; become the tuned ones
 *  @return DKM_OK; DKM_ERR_ARG; what dkm_kernel_tune() returns */
DKM_NODISCARD dkm_status dkm_kde_tune(const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                                      dkm_kde_settings *kde, dkm_kernel *kx, dkm_kernel *ky,
                                      dkm_report *report);

#endif
