/** @file kernel_plugin.h  Kernels that come from files: inner products of coordinates.
 *
 *  This layer cannot read such files: models/extend defines the function that does.
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

/** Load the kernel in the file @p path. Collective; defined in models/extend, the one call of the
 *  library that goes to a later layer. */
DKM_NODISCARD dkm_status dkm_kernel_load(dkm_ctx *ctx, const char *path, dkm_kernel_plugin *loaded);

/** Free what was loaded. Collective. */
void dkm_kernel_plugin_clear(dkm_kernel_plugin *loaded);

#endif
