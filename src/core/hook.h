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

#endif
