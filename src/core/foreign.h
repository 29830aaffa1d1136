/** @file foreign.h  Slots where other rooms keep what belongs to a context.
 *
 *  src/scalapack puts the BLACS system handle here, src/store the keeper of checkpoints; core knows
 *  neither their meaning nor their types.
 */
#ifndef DKMAP_FOREIGN_H
#define DKMAP_FOREIGN_H

#include <dkmap/context.h>

/** The handle, or -1 when none was set. Local. */
int dkm_ctx_foreign(const dkm_ctx *ctx);

/** Keep @p handle; @p release is called on it when the context is destroyed. Local. */
void dkm_ctx_set_foreign(dkm_ctx *ctx, int handle, void (*release)(int));

/** The keeper of checkpoints that was set last; NULL when none. Local. */
void *dkm_ctx_keeper(const dkm_ctx *ctx);
/** Set it; it is borrowed. Logically collective. */
void dkm_ctx_set_keeper(dkm_ctx *ctx, void *keeper);

#endif
