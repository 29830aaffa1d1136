/** @file ctx_private.h  What other layers attach to a context: core knows neither the meaning nor
 *  the types of these slots.
 *
 *  src/linalg attaches the BLACS system handle, the checkpoint directory sets the checkpointer, and
 *  src/kernels sets the kernels that the program registered.
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

/** The kernels that the program registered; NULL when none. Local. */
void *dkm_ctx_kernels(const dkm_ctx *ctx);
/** Set them; @p release is called on them when the context is destroyed, unless it is NULL.
 *  Logically collective. */
void dkm_ctx_set_kernels(dkm_ctx *ctx, void *kernels, void (*release)(void *));

/** Whether the BLAS library of this rank is to use one thread, and setting it (linalg/backend/blas.h).
 *  Local. */
int dkm_ctx_blas_serial(const dkm_ctx *ctx);
void dkm_ctx_set_blas_serial(dkm_ctx *ctx, int serial);

/** Most ranks that any node has: by it, memory of a fixed size is divided among the ranks of a
 * node. Collective. */
int dkm_ctx_node_ranks(const dkm_ctx *ctx);

/** What the reader of model files leaves with the context for its own loader. */
typedef enum dkm_lent {
    DKM_LENT_LOADING, /**< the file being loaded, innermost first; NULL when there is none */
    DKM_LENT_FOLDER,  /**< the folder in which a model's kernels are; NULL: beside the model */
    DKM_LENT_TABLE,   /**< the table that inputs go through; NULL when there is none */
    DKM_LENT_LABEL_COLUMNS, /**< how many of the last columns of ARFF files are labels; or NULL */
    DKM_LENT_COUNT
} dkm_lent;

/** What was left, or NULL. Local. */
const void *dkm_ctx_lent(const dkm_ctx *ctx, dkm_lent which);

/** Leave something that outlives its use; the same on every rank. Logically collective. */
void dkm_ctx_lend(dkm_ctx *ctx, dkm_lent which, const void *what);

#endif
