/** @file rows.h  Body of dkm_rows: some consecutive objects of an array. */
#ifndef DKMAP_DATA_ROWS_H
#define DKMAP_DATA_ROWS_H

#include <dkmap/arrays.h>

#include "data/objects.h"

struct dkm_rows {
    const dkm_objs *objs; /**< `own`, or those of someone else */
    dkm_idx from, count;
    dkm_objs own;
};

/** A view of @p count objects of an array from @p from on. Local. */
static inline dkm_rows dkm_rows_view(const dkm_objs *objs, dkm_idx from, dkm_idx count)
{
    return (dkm_rows){.objs = objs, .from = from, .count = count};
}

#endif
