/** @file fixture_reading.h  A file read through its dkm_format: opened by all ranks, read in slabs.
 */
#ifndef DKMAP_FIXTURE_READING_H
#define DKMAP_FIXTURE_READING_H

#include "io/formats/format.h"

/** A file being read, or why it was not. */
typedef struct reading {
    const dkm_format *format;
    dkm_file file;
    dkm_objs objs;
    dkm_idx first; /**< row of objs */
    dkm_status status;
} reading;

/** Rows first, first + step, ... of the file, cut into slabs. Collective. */
dkm_status reading_rows(reading *r, dkm_idx first, dkm_idx step, dkm_idx count);

dkm_status reading_begin(reading *r, dkm_ctx *ctx, const dkm_format *format, const char *path,
                         dkm_role role, dkm_type type);

void reading_end(reading *r);

/** Write a file of @p text, and read it. */
reading reading_of(dkm_ctx *ctx, const dkm_format *format, const char *text, dkm_role role,
                   dkm_type type);

reading reading_inputs(dkm_ctx *ctx, const dkm_format *format, const char *text);

/** A file that must be refused with a message holding @p words. */
void reading_refused(dkm_ctx *ctx, const dkm_format *format, const char *text, const char *words);

/** Whether this rank's objects are the strings @p wanted has at their places. */
int reading_strings(const reading *r, dkm_idx m, const char *const *wanted);

/** The entry (row, col) of this rank's lists; @p missing where there is none. Rows of other ranks
 * are as wanted. */
double reading_entry(const reading *r, dkm_idx row, dkm_idx col, double missing, double elsewhere);

/** Whether the lists of all ranks are the dense m x d matrix @p wanted. */
int reading_lists(const reading *r, dkm_idx m, dkm_idx d, const double *wanted);

int reading_values(const reading *r, dkm_idx m, dkm_idx d, const double *wanted);

#endif
