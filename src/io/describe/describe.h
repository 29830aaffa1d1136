/** @file describe.h  What describes each kind of file, internal to io/describe. */
#ifndef DKMAP_IO_DESCRIBE_DESCRIBE_H
#define DKMAP_IO_DESCRIBE_DESCRIBE_H

#include <dkmap/context.h>

typedef struct dkm_describe_writer {
    dkm_ctx *ctx;
    void (*line)(void *user, const char *text);
    void *user;
} dkm_describe_writer;

/** Tell one line; nothing on ranks other than 0. Local. */
void dkm_describe_line(const dkm_describe_writer *writer, const char *format, ...) DKM_PRINTF(2, 3);

/** Describe an HDF5 file: a model of ours, or the datasets of another. Local. */
DKM_NODISCARD dkm_local dkm_describe_hdf5(const dkm_describe_writer *writer, const char *path,
                                          int sealed);

/** Whether the first line of a file is one of our run records. Local. */
DKM_NODISCARD dkm_local dkm_is_record(dkm_ctx *ctx, const char *path, int *ours);
/** Describe a file of run records. Local. */
DKM_NODISCARD dkm_local dkm_describe_records(const dkm_describe_writer *writer, const char *path);

/** Describe a file of objects. Collective. */
DKM_NODISCARD dkm_status dkm_describe_data(const dkm_describe_writer *writer, const char *where,
                                           const char *type);

#endif
