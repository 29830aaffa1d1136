/** @file fixture_table.h  A table of numbers known by a formula, and reading files against it. */
#ifndef DKMAP_FIXTURE_TABLE_H
#define DKMAP_FIXTURE_TABLE_H

#include <dkmap/data.h>

/** Entry (i, j) of the table: whole, from 0 to 99, so that every number type can hold it. */
double table_value(dkm_idx i, dkm_idx j);

/** Which part of the table a read should give. */
typedef struct table_part {
    dkm_idx first, step, rows, col, cols;
} table_part;

/** Whether this rank's slab of @p data is its share of a part of the table. Local. */
int table_holds(const dkm_data *data, table_part part);

/** Read a file whole, and in stretches, and check both against a part of the table. Collective.
 *  @param[in] type   wanted, or NULL
 *  @param[in] found  the type that must come out */
void table_check(dkm_ctx *ctx, const char *where, const char *type, dkm_type found,
                 table_part part);

/** Check that reading fails with a status and a message that holds both words. Collective. */
void table_refused(dkm_ctx *ctx, const char *where, const char *type, dkm_status status,
                   const char *word, const char *other);

#endif
