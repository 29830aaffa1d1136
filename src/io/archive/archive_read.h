/** @file archive_read.h  What a rank reads of one part of an archive file. */
#ifndef DKMAP_IO_ARCHIVE_ARCHIVE_READ_H
#define DKMAP_IO_ARCHIVE_ARCHIVE_READ_H

#include "io/archive/archive.h"
#include "io/archive/h5file.h"

typedef struct dkm_reading {
    const char *name; /**< of the part; borrowed */
    dkm_archive_entry_kind kind;
    char *text;
    dkm_idx count;
    double *reals;
    dkm_type type;       /**< of data */
    dkm_idx m, d, items; /**< objects, columns, and entries of all lists or bytes of all objects */
    dkm_matrix_entry rows; /**< where they lie; the path is borrowed */
} dkm_reading;

/** Make an empty reading of every part the file says it has. Local.
 *  @param[out] names     block that holds the names; owned by the caller, also after a failure
 *  @param[out] readings  array of @p count; owned by the caller, also after a failure */
DKM_NODISCARD dkm_local dkm_readings_list(dkm_h5 *h5, char **names, dkm_idx *count,
                                          dkm_reading **readings);

/** Read the part r->name: all of text and numbers, of data what they are. Local.
 *
 *  dkm_reading_clear() frees what @p r holds, also after a failure.
 *
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT for a part that is missing or does not hold together
 */
DKM_NODISCARD dkm_local dkm_reading_read(dkm_h5 *h5, dkm_reading *r);

/** Objects [first, first + count) of a part that was read. Local.
 *  @param[out] objs  zeroed or fresh; to be cleared by the caller, also after a failure
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT */
DKM_NODISCARD dkm_local dkm_reading_objects(dkm_h5 *h5, const dkm_reading *r, dkm_idx first,
                                            dkm_idx count, dkm_objs *objs);

void dkm_reading_clear(dkm_reading *r);

#endif
