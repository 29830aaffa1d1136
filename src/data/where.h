/** @file where.h  The names users give to what they want read: path, dataset, slice. */
#ifndef DKMAP_WHERE_H
#define DKMAP_WHERE_H

#include <dkmap/context.h>

/** One part of a slice, `first:last:step` as written; what is left out has its flag zero. */
typedef struct dkm_range {
    int has_first, has_last, is_single;
    dkm_idx first, last, step;
} dkm_range;

typedef struct dkm_where {
    char *name; /**< all of it, as given */
    char *path;
    char *dataset; /**< NULL where none is named */
    dkm_range rows, cols;
    int cuts_cols; /**< whether the slice says anything of columns */
} dkm_where;

/** Take a name apart. Local.
 *
 *  @param[in]  literal  whether a file of exactly this name exists: then it has no slice
 *  @param[out] where    fresh; dkm_where_clear() frees it, also after a failure
 *  @return ok; DKM_ERR_ARG for a slice that cannot be read
 */
DKM_NODISCARD
dkm_local dkm_where_parse(dkm_ctx *ctx, const char *name, int literal, dkm_where *where);

/** What a range picks of @p size items. Local. The step is at most @p size, or 1.
 *
 *  @param[in] what  "rows" or "columns", for the message
 *  @return ok; DKM_ERR_ARG naming slice and size when it reaches outside
 */
DKM_NODISCARD
dkm_local dkm_where_settle(dkm_ctx *ctx, const dkm_where *where, const dkm_range *range,
                           dkm_idx size, const char *what, dkm_range *settled);

void dkm_where_clear(dkm_where *where);

#endif
