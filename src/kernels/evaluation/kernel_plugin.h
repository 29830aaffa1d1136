/** @file kernel_plugin.h  Kernels that come from files: inner products of coordinates.
 *
 *  This layer cannot read such files; models/extend registers a loader through the context.
 */
#ifndef DKMAP_KERNELS_EVALUATION_KERNEL_PLUGIN_H
#define DKMAP_KERNELS_EVALUATION_KERNEL_PLUGIN_H

#include <dkmap/data.h>

/** A kernel k(x, x') = <z(x), z(x')> that was loaded. */
typedef struct dkm_kernel_plugin {
    void *state; /**< NULL until it is there */
    /** Coordinates z of some objects: as many dense rows. Collective. */
    dkm_status (*coordinates)(void *state, const dkm_data *X, dkm_data **Z);
    void (*destroy)(void *state);
} dkm_kernel_plugin;

/** Load the kernel in the file @p path. Collective. */
typedef dkm_status (*dkm_kernel_loader)(dkm_ctx *ctx, const char *path, dkm_kernel_plugin *loaded);

/** Lend the loader. Logically collective. */
void dkm_kernel_set_loader(dkm_ctx *ctx, dkm_kernel_loader loader);

/** Load a kernel by the loader that was lent. Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when there is none; what the loader returns */
DKM_NODISCARD
dkm_status dkm_kernel_load(dkm_ctx *ctx, const char *path, dkm_kernel_plugin *loaded);

/** Free what was loaded. Collective. */
void dkm_kernel_plugin_clear(dkm_kernel_plugin *loaded);

#endif
