/** @file source_impl.h  Body of a source, for src/io only. */
#ifndef DKMAP_IO_SOURCE_IMPL_H
#define DKMAP_IO_SOURCE_IMPL_H

#include "io/formats/format.h"
#include "io/locator.h"
#include "io/readers.h"

struct dkm_table;

struct dkm_source {
    dkm_ctx *ctx;
    dkm_locator where;
    const dkm_format *format;
    dkm_file file;
    dkm_readers readers;
    char *name_text;      /**< names of columns on ranks that do not read, each ended by a zero */
    dkm_slice rows, cols; /**< cols: from the first to the last column that is picked */
    dkm_idx picks, *pick; /**< of values: columns of the file, in the order wanted; NULL
                           where columns are not described one by one */
    int reorders;         /**< whether they are other than all of cols, in order */
    char *skip;           /**< columns of the file that are not picked */
    dkm_categories **categories;   /**< of columns of the file, borrowed from a table; or NULL */
    const struct dkm_table *table; /**< that rows go through, borrowed; or NULL */
    dkm_idx m, d;
    int shares; /**< owners beside the first */
};

/** One more owner: every one calls dkm_source_close(). Local. */
dkm_source *dkm_source_share(dkm_source *source);

/** List the columns that are read, where that was not done yet. Local. */
DKM_NODISCARD dkm_local dkm_source_list_columns(dkm_source *source);

/** This rank's slab of a text column as strings, missing ones left out. Collective; a failure is this
 *  rank's own. */
DKM_NODISCARD dkm_local dkm_source_read_column(dkm_source *source, dkm_idx column, dkm_objs *objs);

#endif
