/** @file kernel_default.h  A kernel for inputs when none is named, and whether a kernel suits them. */
#ifndef DKMAP_MODELS_COMMON_KERNEL_DEFAULT_H
#define DKMAP_MODELS_COMMON_KERNEL_DEFAULT_H

#include <dkmap/kernel.h>

#include "models/registry/report_impl.h"
#include "models/registry/settings_impl.h"

/** The kernel for objects of a type when none is named: rbf(sigma=median) for rows of numbers,
 *  normalize(spectrum(p=3)) for strings, and so on. Local. */
const char *dkm_kernel_default_text(dkm_type type);

/** Whether an expression names a kernel of labels, so that strings it is given are names of classes.
 *  Local; takes NULL. */
int dkm_kernel_text_is_of_labels(const char *text);

/** Warn where the kernel matrix of training inputs is nearly the identity, so that nothing is
 *  learned, or nearly constant, so that inputs cannot be distinguished. Collective.
 *
 *  Looks at 3 n pairs of n = min(m, 256) inputs, evenly spaced: 95 % of |k(x, x')| /
 *  sqrt(k(x, x) k(x', x')) are below 1e-6, or above 1 - 1e-6. Kernels that need all training
 *  set are passed over. */
DKM_NODISCARD dkm_status dkm_kernel_check_spread(const dkm_kernel *kernel, const dkm_data *X,
                                                 dkm_report *report);

/** The kernel of the inputs that is set, its words resolved, with a warning where it does not suit
 *  them. Collective.
 *  @param[in]  report  NULL: nothing is looked at
 *  @param[out] kx      new, owned by the caller; NULL when none is set, and on failure */
DKM_NODISCARD dkm_status dkm_input_kernel(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                                          dkm_report *report, dkm_kernel **kx);

#endif
