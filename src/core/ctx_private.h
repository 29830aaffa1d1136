/** @file ctx_private.h  What other layers attach to a context: core knows neither the meaning nor
 *  the types of these slots.
 *
 *  src/linalg attaches the BLACS system handle, the checkpoint directory sets the checkpointer, and
 *  the reader of model files lends the kernel layer the function that loads a kernel from a file.
 */
#ifndef DKMAP_CORE_CTX_PRIVATE_H
#define DKMAP_CORE_CTX_PRIVATE_H

#include <dkmap/context.h>

/** The attached handle, or -1 when there is none. Local. */
int dkm_ctx_attached(const dkm_ctx *ctx);

/** Attach @p handle; @p release is called on it when the context is destroyed. Local. */
void dkm_ctx_attach(dkm_ctx *ctx, int handle, void (*release)(int));

/** The checkpointer that was set last; NULL when none. Local. */
void *dkm_ctx_checkpointer(const dkm_ctx *ctx);
/** Set it; it is borrowed. Logically collective. */
void dkm_ctx_set_checkpointer(dkm_ctx *ctx, void *checkpointer);

/** A function of any type: its user casts it back to the type it was set with. */
typedef void (*dkm_callback)(void);

/** The function that was set, or NULL. Local. */
dkm_callback dkm_ctx_callback(const dkm_ctx *ctx);

/** Set a function, the same on every rank. Logically collective. */
void dkm_ctx_set_callback(dkm_ctx *ctx, dkm_callback callback);

/** What the reader of model files leaves with the context for its own loader. */
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
