/** @file categories.h  What io and models need of categories beside dkmap/categories.h. */
#ifndef DKMAP_DATA_CATEGORIES_H
#define DKMAP_DATA_CATEGORIES_H

#include <dkmap/categories.h>

#include "data/objects.h"

struct dkm_categories {
    dkm_ctx *ctx;
    dkm_idx count;
    dkm_idx *start; /**< count + 1 offsets into bytes */
    char *bytes;
};

/** The distinct strings among this rank's own, over all ranks. Collective.
 *  @param[in] own, more  strings of this rank; @p more may be NULL */
DKM_NODISCARD dkm_status dkm_categories_learn_objs(dkm_ctx *ctx, const dkm_objs *own,
                                                   const dkm_objs *more,
                                                   dkm_categories **categories);

/** From names that are sorted, one per line. Local; the same @p text on every rank.
 *  @return ok; DKM_ERR_FORMAT for names that are not ascending; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_categories_parse(dkm_ctx *ctx, const char *text,
                                             dkm_categories **categories);

/** All names, one per line. Local.
 *  @param[out] text  new, DKM_FREE() frees it */
DKM_NODISCARD dkm_local dkm_categories_print(const dkm_categories *categories, char **text);

/** The number of a name; -1 for one that is not there. Local. */
dkm_idx dkm_categories_find(const dkm_categories *categories, const char *name, dkm_idx length);

#endif
