/** @file foreign.h  A slot where another room keeps a handle that must live as long as the context.
 *
 *  src/scalapack puts the BLACS system handle here; core knows neither its meaning nor its type.
 */
#ifndef DKMAP_FOREIGN_H
#define DKMAP_FOREIGN_H

#include <dkmap/context.h>

/** The handle, or -1 when none was set. Local. */
int dkm_ctx_foreign(const dkm_ctx *ctx);

/** Keep @p handle; @p release is called on it when the context is destroyed. Local. */
void dkm_ctx_set_foreign(dkm_ctx *ctx, int handle, void (*release)(int));

#endif
