/** @file scan.h  Numbers in a line of text, and how to complain about one. All local. */
#ifndef DKMAP_IO_TEXT_SCAN_H
#define DKMAP_IO_TEXT_SCAN_H

#include "io/text/records.h"

/** Read a finite number that starts at *at and step over it; 0 when there is none. */
int dkm_scan_real(char **at, double *value);

/** Read an integer of digits, with a minus sign where @p sign allows it, and step over it;
 *  0 when there is none or it does not fit. */
int dkm_scan_int(char **at, int sign, dkm_idx *value);

/** Step over blanks and tabs. */
char *dkm_scan_blanks(char *at);
/** Whether a character ends a word: a blank, a tab or the end of the line. */
int dkm_scan_ends(char c);

/** Fail at the line that @p text gave last: `path:line: ...`. Takes at least one argument. */
#define dkm_fail_line(text, format, ...)                                                           \
    dkm_fail((text)->ctx, DKM_ERR_FORMAT, "%s:%lld: " format, (text)->path,                        \
             (long long)(text)->number, __VA_ARGS__)

/** The word at @p at for a message: where it ends, at most 40 bytes on. For "%.*s". */
int dkm_scan_word(const char *at);

#endif
