/** @file column_list.h  Columns of a table by name and number: `a,b`, `0:3,5`, `-1`, `!a,!7`. */
#ifndef DKMAP_IO_COLUMN_LIST_H
#define DKMAP_IO_COLUMN_LIST_H

#include "io/formats/format.h"

/** The columns of a list, in its order; where all of its items begin with !, all others. Local; the
 *  same on every rank.
 *
 *  @param[in]  where  for messages
 *  @param[in]  list   items separated by commas: a name, a number, or first:last
 *  @param[out] pick   new, DKM_FREE() frees it
 *  @return ok; DKM_ERR_ARG naming a column that is not there; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_column_list(const dkm_file *file, const char *where, const char *list,
                                        dkm_idx *count, dkm_idx **pick);

/** The number of a named column; -1 if there is none. Local. */
dkm_idx dkm_column_find(const dkm_file *file, const char *name, size_t length);

#endif
