/** @file textfile.h  What formats with records of lines share: an index of the records, and a place
 *  in the file that is stored between reads, so that a gzipped file is unpacked once
 *  however many batches it is read in.
 */
#ifndef DKMAP_IO_TEXT_TEXTFILE_H
#define DKMAP_IO_TEXT_TEXTFILE_H

#include "io/formats/format.h"
#include "io/text/records.h"

typedef struct dkm_textfile {
    dkm_records records;
    dkm_text text;
    int is_open;
    dkm_idx next; /**< record that the text comes to next; -1 when not known */
} dkm_textfile;

/** Index the records of a file. Collective; dkm_textfile_clear() frees what @p t holds, also after
 *  a failure. */
DKM_NODISCARD dkm_status dkm_textfile_index(dkm_textfile *t, const dkm_file *file,
                                            dkm_records_kind kind);

/** Let dkm_text_next(&t->text) give the first line of record @p k. Local. The caller reads the
 *  record to its end, or calls dkm_textfile_lose(). */
DKM_NODISCARD dkm_local dkm_textfile_seek(dkm_textfile *t, const dkm_file *file, dkm_idx k);

/** Forget the place. Local. */
void dkm_textfile_lose(dkm_textfile *t);

void dkm_textfile_clear(dkm_textfile *t);

/** open() and close() of a format whose state is a dkm_textfile alone; m is set and d = 0. */
DKM_NODISCARD dkm_status dkm_textfile_open(dkm_file *file, dkm_records_kind kind);
void dkm_textfile_close(dkm_file *file);

#endif
