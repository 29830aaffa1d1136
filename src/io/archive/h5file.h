/** @file h5file.h  HDF5 files as src/io uses them: one process, no library chatter, one line per
 *  error.
 *
 *  Every function is local. HDF5's own error printing is off from opening to closing and then as it
 *  was before. Files are not locked: one rank alone writes, under a name nobody else knows.
 */
#ifndef DKMAP_IO_ARCHIVE_H5FILE_H
#define DKMAP_IO_ARCHIVE_H5FILE_H

#include <hdf5.h>

#include <dkmap/context.h>

typedef struct dkm_h5 {
    dkm_ctx *ctx;
    const char *called; /**< the name messages use; borrowed */
    hid_t file;
    int64_t length;  /**< bytes of a file that is read */
    int64_t claimed; /**< of them, by the datasets checked so far */
    H5E_auto2_t printer;
    void *printer_data;
} dkm_h5;

/** Create @p path, or open it for reading. dkm_h5_close() must follow, also after a failure.
 *  @param[in] called  what the user calls a file that still has a temporary name
 *  @return ok; DKM_ERR_IO; DKM_ERR_FORMAT for a file that is not HDF5 or is cut short */
DKM_NODISCARD dkm_local dkm_h5_create(dkm_h5 *h5, dkm_ctx *ctx, const char *path,
                                      const char *called);
DKM_NODISCARD dkm_local dkm_h5_open(dkm_h5 *h5, dkm_ctx *ctx, const char *path);

/** Close. After a creation, a result other than 0 means that the file is incomplete. */
int dkm_h5_close(dkm_h5 *h5);

/** A failure to write: the disk is full or the path went away. */
DKM_NODISCARD dkm_local dkm_h5_unwritten(const dkm_h5 *h5, const char *what);
/** A failure to read what should be there. */
DKM_NODISCARD dkm_local dkm_h5_damaged(const dkm_h5 *h5, const char *what);

/** Attributes of the object @p at. */
DKM_NODISCARD dkm_local dkm_h5_put_text(const dkm_h5 *h5, hid_t at, const char *name,
                                        const char *text);
DKM_NODISCARD dkm_local dkm_h5_put_int(const dkm_h5 *h5, hid_t at, const char *name, int64_t value);
/** @param[out] text  new block, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_local dkm_h5_get_text(const dkm_h5 *h5, hid_t at, const char *name, char **text);
DKM_NODISCARD dkm_local dkm_h5_get_int(const dkm_h5 *h5, hid_t at, const char *name,
                                       int64_t *value);

/** A type for strings of @p length bytes; negative on failure. */
hid_t dkm_h5_string_type(size_t length);

/** Dimensions of a dataset that has at most two; -1 when it has more. */
int dkm_h5_dims(hid_t set, hsize_t dims[2]);

/** Refuse a dataset whose values are not plainly in the file: in other files, in chunks, or more of
 *  them than the file has bytes, all datasets checked so far taken together. */
DKM_NODISCARD dkm_local dkm_h5_check_set(dkm_h5 *h5, hid_t set, const char *what);

#endif
