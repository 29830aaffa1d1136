/** @file alloc.h  The one door to the heap: overflow-checked, 64-byte aligned, counted.
 *
 *  Every block remembers the context it was taken from, so freeing needs no context. The live count
 *  of a context at its end is the leak gate; dkm_ctx_fail_after() makes allocations fail on
 * purpose.
 */
#ifndef DKMAP_CORE_ALLOC_H
#define DKMAP_CORE_ALLOC_H

#include <dkmap/context.h>

/** Memory for @p count items of @p size bytes, not initialized. Local.
 *
 *  @param[out] block  address of the pointer to set; NULL on failure. A count of 0 gives a block of
 *                     its own, never NULL
 *  @return ok, or DKM_ERR_MEMORY with a message saying how much was wanted
 */
DKM_NODISCARD dkm_local dkm_alloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count,
                                     size_t size, void *block);

/** The same, filled with zero bytes. Local. */
DKM_NODISCARD dkm_local dkm_calloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count,
                                      size_t size, void *block);

/** The same where no more than @p touched bytes will ever be touched: the rest takes addresses and no
 *  memory, and is not counted. Local. */
DKM_NODISCARD dkm_local dkm_calloc_sparse_at(dkm_ctx *ctx, const char *file, int line,
                                             dkm_idx count, size_t size, int64_t touched,
                                             void *block);

/** `dkm_alloc(ctx, n, &p)` takes n items of what p points to. */
#define dkm_alloc(ctx, count, pp)                                                                  \
    dkm_alloc_at((ctx), __FILE__, __LINE__, (count), sizeof **(pp), (void *)(pp))
#define dkm_calloc(ctx, count, pp)                                                                 \
    dkm_calloc_at((ctx), __FILE__, __LINE__, (count), sizeof **(pp), (void *)(pp))

/** Make a block hold @p count items, keeping what it held. `*pp` may be NULL. Local. */
DKM_NODISCARD dkm_local dkm_realloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count,
                                       size_t size, void *block);
#define dkm_realloc(ctx, count, pp)                                                                \
    dkm_realloc_at((ctx), __FILE__, __LINE__, (count), sizeof **(pp), (void *)(pp))

/** A copy of @p text. Local. */
DKM_NODISCARD dkm_local dkm_strdup(dkm_ctx *ctx, const char *text, char **copy);

/** Ask the system for large pages for @p bytes from @p at on, which lie in a block of zeros and are
 *  about to be filled. Such a page is resident as a whole from its first byte on: not for parts
 *  most of which may stay zeros. A wish; small parts stay as they are. Local. */
void dkm_want_large_pages(void *at, size_t bytes);

/** Bytes of a rank's matrix above which its triangle is not worth the memory that large pages waste. */
#define DKM_LARGE_LOWER_MOST ((int64_t)2 << 30)

/** Whether that wish is granted on this machine, as far as the system tells. Local. */
int dkm_has_large_pages(void);

/** Keep @p more bytes than by default of the larger blocks that are freed, for blocks of about the same
 *  size that are wanted later, zeros included: for many small problems of one size in turn. What is
 *  kept is not counted as live. 0 returns to the default. Local. */
void dkm_ctx_reuse_memory(dkm_ctx *ctx, int64_t more);

/** Give a block back. Takes NULL. Local. */
void dkm_free_block(void *block);

#define DKM_FREE(p) (dkm_free_block(p), (p) = NULL)

#endif
