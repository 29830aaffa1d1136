/** @file fields.h  The fields of one line of a table of numbers. All local. */
#ifndef DKMAP_IO_TEXT_FIELDS_H
#define DKMAP_IO_TEXT_FIELDS_H

#include "io/text/records.h"

/** What stands between fields: a comma, a semicolon or a tab; a blank means any run of blanks and
 *  tabs. */
typedef char dkm_separator;

/** How many fields a line has; quotes may hide separators. */
dkm_idx dkm_fields_count(const char *line, dkm_separator separator);

/** How many of the fields of a line are numbers, and how many are neither that nor empty. */
void dkm_fields_inspect(const char *line, dkm_separator separator, dkm_idx *numbers,
                        dkm_idx *words);

/** Read columns [c0, c1) of the line that @p text gave last, which must have @p d fields, all
 * finite numbers (of labels, integers).
 *  @return ok; DKM_ERR_FORMAT naming file, line and column */
DKM_NODISCARD dkm_local dkm_fields_read(const dkm_text *text, dkm_separator separator, dkm_idx d,
                                        dkm_idx c0, dkm_idx c1, int labels, double *values);

#endif
