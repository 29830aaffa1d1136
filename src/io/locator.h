/** @file locator.h  The names users give to what they want read: path, dataset, slice. */
#ifndef DKMAP_IO_LOCATOR_H
#define DKMAP_IO_LOCATOR_H

#include <dkmap/context.h>

/** One part of a slice, `first:last:step` as written; what is left out has its flag zero. */
typedef struct dkm_slice {
    int has_first, has_last, is_single;
    dkm_idx first, last, step;
} dkm_slice;

typedef struct dkm_locator {
    char *name; /**< all of it, as given */
    char *path;
    char *dataset; /**< NULL where none is named */
    dkm_slice rows, cols;
    char *columns; /**< a list of columns, or names, as given; NULL for none, and for one range */
    int cuts_cols; /**< whether the slice says anything of columns */
} dkm_locator;

/** Take a name apart. Local.
 *
 *  @param[in]  literal  whether a file of exactly this name exists: then it has no slice
 *  @param[out] where    fresh; dkm_locator_clear() frees it, also after a failure
 *  @return ok; DKM_ERR_ARG for a slice that cannot be read
 */
DKM_NODISCARD dkm_local dkm_locator_parse(dkm_ctx *ctx, const char *name, int literal,
                                          dkm_locator *where);

/** What a range picks of @p size items. Local. The step is at most @p size, or 1.
 *
 *  @param[in] what  "rows" or "columns", for the message
 *  @return ok; DKM_ERR_ARG naming slice and size when it reaches outside
 */
DKM_NODISCARD dkm_local dkm_locator_resolve(dkm_ctx *ctx, const dkm_locator *where,
                                            const dkm_slice *range, dkm_idx size, const char *what,
                                            dkm_slice *resolved);

void dkm_locator_clear(dkm_locator *where);

#endif
