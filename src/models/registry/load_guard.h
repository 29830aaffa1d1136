/** @file load_guard.h  Which files are being loaded, so that a model can name no file but those
 * beside it.
 */
#ifndef DKMAP_MODELS_REGISTRY_LOAD_GUARD_H
#define DKMAP_MODELS_REGISTRY_LOAD_GUARD_H

#include <sys/types.h>

#include <dkmap/context.h>

/** A model file whose parts are being made into a model. */
typedef struct dkm_loading {
    const char *path;
    int known; /**< whether the two numbers below are */
    dev_t device;
    ino_t inode;
    int depth;
    const struct dkm_loading *outer; /**< the file whose kernel this one is, or NULL */
} dkm_loading;

/** Begin, also after a failure: dkm_loading_end() must follow. Local.
 *  @return ok; DKM_ERR_FORMAT for a file that is being loaded already, or is nested too deep */
DKM_NODISCARD dkm_local dkm_loading_begin(dkm_loading *loading, dkm_ctx *ctx, const char *path);
void dkm_loading_end(const dkm_loading *loading, dkm_ctx *ctx);

/** Where to find a file that a kernel names: as named by the user, or, inside of a model file, in
 *  its own folder under its plain name, or in the folder that the user named. Local.
 *  @param[out] found  new block, owned by the caller
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_IO when a model's kernel is not there */
DKM_NODISCARD dkm_local dkm_loading_find(dkm_ctx *ctx, const char *named, char **found);

#endif
