/** @file memory_file.h  A file in memory for a library to lay out, and copied to its place when it
 * is done.
 *
 *  HDF5 cannot cope with a disk that fills while it closes a file: it crashes when the program
 *  ends. So it never writes to a disk here. What it leaves unwritten (space for datasets) takes no
 *  memory and is not copied.
 */
#ifndef DKMAP_IO_MEMORY_FILE_H
#define DKMAP_IO_MEMORY_FILE_H

#include "io/atomic_file.h"

typedef struct dkm_memory_file {
    dkm_ctx *ctx;
    int fd, is_open;
    char path[256];
} dkm_memory_file;

/** Make an empty file. Local; dkm_memory_file_close() frees it, also after a failure.
 *  @param[in] out    where it will go
 *  @param[in] bytes  that it will have at least; more than the system allows is refused
 *  @return ok; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_memory_file_open(dkm_memory_file *mem, const dkm_atomic_file *out,
                                             double bytes);

/** Copy all that was written, and make @p out as long. Local. */
DKM_NODISCARD dkm_local dkm_memory_file_copy(dkm_memory_file *mem, dkm_atomic_file *out);

void dkm_memory_file_close(dkm_memory_file *mem);

#endif
