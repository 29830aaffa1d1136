/** @file cells.h  Tables whose cells may be text, missing or numbers. All local. */
#ifndef DKMAP_IO_TEXT_CELLS_H
#define DKMAP_IO_TEXT_CELLS_H

#include "io/text/fields.h"
#include "io/text/textfile.h"

/** One cell: its text, without blanks and quotes around it. Quotes inside of it are still
 *  doubled. */
typedef struct dkm_cell {
    const char *text;
    dkm_idx length;
} dkm_cell;

/** Take the cell at *at and step to the next one; *at becomes NULL after the last. */
dkm_cell dkm_cell_take(const char **at, dkm_separator separator);

/** Whether a cell is empty or one of ?, NA, N/A, NaN, null, none. */
int dkm_cell_is_missing(dkm_cell cell);

/** Whether a cell is a number, and which. */
int dkm_cell_number(dkm_cell cell, double *value);

/** Copy the text of a cell, doubled quotes made single.
 *  @param[out] out  cell.length bytes at most
 *  @return how many there are */
dkm_idx dkm_cell_copy(dkm_cell cell, char *out);

/** Columns of a line: file column 0 is field `shift` of `fields`; those wanted are [c0, c1). */
typedef struct dkm_cell_range {
    dkm_idx shift, fields, c0, c1;
} dkm_cell_range;

/** Read some columns of the line that @p text gave last, as the columns of @p file are: numbers,
 *  numbers of categories for text, NaN for missing cells where that is allowed, 0 for columns that
 *  are not wanted.
 *  @return ok; DKM_ERR_FORMAT or DKM_ERR_ARG naming file, line and column */
DKM_NODISCARD dkm_local dkm_cells_read(const dkm_text *text, dkm_separator separator,
                                       const dkm_file *file, dkm_cell_range range, double *values);

/** Field @p field of rows first, first + step, ... (count of them) as strings. */
DKM_NODISCARD dkm_local dkm_cells_read_text(dkm_textfile *text, const dkm_file *file,
                                            dkm_separator separator, dkm_idx first, dkm_idx step,
                                            dkm_idx count, dkm_idx field, dkm_objs *objs);

#endif
