/** @file table.h  The inside of a table of inputs; see dkmap/table.h. */
#ifndef DKMAP_IO_TABLE_TABLE_H
#define DKMAP_IO_TABLE_TABLE_H

#include <dkmap/table.h>

#include "io/formats/format.h"

typedef struct dkm_table_column {
    char *name;                 /**< NULL where the columns have no names */
    dkm_categories *categories; /**< of text; else NULL */
    double fill;                /**< for missing numbers */
    double shift, scale;        /**< x becomes (x - shift) / scale */
} dkm_table_column;

struct dkm_table {
    dkm_ctx *ctx;
    dkm_table_settings settings;
    dkm_idx count; /**< columns of files */
    dkm_table_column *column;
    char about[128];
};

/** Columns of rows that went through the table. Local. */
dkm_idx dkm_table_cols(const dkm_table *table);

/** Rows as they are in files, numbers of categories in place of text, through the table. Local.
 *  @param[in,out] objs  dense; its values are replaced */
DKM_NODISCARD dkm_local dkm_table_apply(const dkm_table *table, dkm_objs *objs);

/** Which columns of a file are those of the table: by name, where both have names and the user
 *  chose none. Local.
 *  @param[in,out] count, pick  what the user chose, or all
 *  @param[in]     chosen       whether the user did
 *  @return ok; DKM_ERR_ARG naming the column that is missing, or how many there should be */
DKM_NODISCARD dkm_local dkm_table_match(const dkm_table *table, const dkm_file *file,
                                        const char *where, int chosen, dkm_idx *count,
                                        dkm_idx **pick);

/** A table as text for model files, and back. Local.
 *  @param[out] text  new, DKM_FREE() frees it */
DKM_NODISCARD dkm_local dkm_table_print(const dkm_table *table, char **text);
DKM_NODISCARD dkm_local dkm_table_parse(dkm_ctx *ctx, const char *text, dkm_table **table);

#endif
