/** @file registered.h  Kernels that a program registered with the context. */
#ifndef DKMAP_KERNELS_EXPRESSION_REGISTERED_H
#define DKMAP_KERNELS_EXPRESSION_REGISTERED_H

#include "kernels/evaluation/kernel_impl.h"

/** The class registered under a name of @p length bytes, or NULL. Local. */
const dkm_kernel_class *dkm_kernel_registered_find(const dkm_ctx *ctx, const char *name,
                                                   dkm_idx length);

/** Append the registered names that an expression uses to @p names, each with a blank after it.
 *  Local.
 *  @param[in,out] names  block owned by the caller, or NULL for an empty list */
DKM_NODISCARD dkm_local dkm_kernel_registered_names(dkm_ctx *ctx, const char *text, char **names);

/** Check that all names of such a list are registered. Local.
 *  @return ok; DKM_ERR_UNSUPPORTED naming the first that is not, and @p file, which needs it */
DKM_NODISCARD dkm_local dkm_kernel_registered_check(dkm_ctx *ctx, const char *names,
                                                    const char *file);

#endif
