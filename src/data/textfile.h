/** @file textfile.h  What formats of one string a record share: an index of them as state. */
#ifndef DKMAP_TEXTFILE_H
#define DKMAP_TEXTFILE_H

#include "data/format.h"
#include "data/records.h"

/** Index the records of a file; sets state, m and d = 0. Collective; dkm_textfile_close() frees the
 *  state, also after a failure. */
DKM_NODISCARD
dkm_status dkm_textfile_open(dkm_file *file, dkm_records_kind kind);

void dkm_textfile_close(dkm_file *file);

#endif
