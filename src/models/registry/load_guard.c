#include "models/registry/load_guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "io/path.h"

#define MOST_DEPTH 8 /* kernels in files of kernels in files ... */

dkm_local dkm_loading_begin(dkm_loading *loading, dkm_ctx *ctx, const char *path)
{
    const dkm_loading *outer = dkm_ctx_lent(ctx, DKM_LENT_LOADING);
    struct stat about;

    *loading = (dkm_loading){.path = path, .outer = outer, .depth = outer ? outer->depth + 1 : 0};
    dkm_ctx_lend(ctx, DKM_LENT_LOADING, loading);
    if (stat(path, &about) == 0) {
        loading->known = 1;
        loading->device = about.st_dev;
        loading->inode = about.st_ino;
    }
    for (; outer; outer = outer->outer)
        if (loading->known && outer->known && outer->device == loading->device &&
            outer->inode == loading->inode)
            return dkm_fail(ctx, DKM_ERR_FORMAT,
                            "%s: damaged model file: its kernel is in the file itself", path);
    if (loading->depth > MOST_DEPTH)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "%s: kernels in files are nested deeper than %d", path,
                        MOST_DEPTH);
    return DKM_LOCAL_OK;
}

void dkm_loading_end(const dkm_loading *loading, dkm_ctx *ctx)
{
    dkm_ctx_lend(ctx, DKM_LENT_LOADING, loading->outer);
}

dkm_local dkm_loading_find(dkm_ctx *ctx, const char *named, char **found)
{
    const dkm_loading *model = dkm_ctx_lent(ctx, DKM_LENT_LOADING);
    const char *folder = dkm_ctx_lent(ctx, DKM_LENT_FOLDER), *name = dkm_path_last_name(named);
    dkm_local local = DKM_LOCAL_OK;
    int length, size;

    *found = NULL;
    if (!model)
        return dkm_strdup(ctx, named, found);
    length = folder ? (int)strlen(folder) : (int)(dkm_path_last_name(model->path) - model->path);
    size = length + (int)strlen(name) + 2;
    DKM_STEP(dkm_calloc(ctx, size, found));
    snprintf(*found, (size_t)size, "%.*s%s%s", length, folder ? folder : model->path,
             folder ? "/" : "", name);
    if (!*name || access(*found, R_OK) != 0)
        local = dkm_fail(ctx, DKM_ERR_IO,
                         "%s: its kernel is in the file %s, and there is none in %s: put it beside "
                         "the model, or name its folder with --kernel-dir",
                         model->path, *name ? name : named, folder ? folder : "the model's folder");
out:
    return local;
}
