/** @file hook.h  A function that a lower room lends to a higher one through the context.
 *
 *  src/store lends src/kernel what loads a kernel from a file; core knows neither its meaning nor
 *  its type.
 */
#ifndef DKMAP_HOOK_H
#define DKMAP_HOOK_H

#include <dkmap/context.h>

typedef void (*dkm_hook)(void);

/** The function, or NULL when none was lent. Local. */
dkm_hook dkm_ctx_hook(const dkm_ctx *ctx);

/** Lend a function, the same on every rank. Logically collective. */
void dkm_ctx_set_hook(dkm_ctx *ctx, dkm_hook hook);

/** What src/store leaves with the context for its own loader; core knows nothing of its types. */
typedef enum dkm_lent {
    DKM_LENT_LOADING, /**< the file being loaded, innermost first; NULL when there is none */
    DKM_LENT_FOLDER,  /**< the folder in which a model's kernels are; NULL: beside the model */
    DKM_LENT_COUNT
} dkm_lent;

/** What was left, or NULL. Local. */
const void *dkm_ctx_lent(const dkm_ctx *ctx, dkm_lent which);

/** Leave something that outlives its use; the same on every rank. Logically collective. */
void dkm_ctx_lend(dkm_ctx *ctx, dkm_lent which, const void *what);

#endif
