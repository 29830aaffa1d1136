/** @file memfile.h  A file in memory for a library to lay out, and copied to its place when it is
 *  done.
 *
 *  HDF5 cannot cope with a disk that fills while it closes a file: it crashes when the program
 *  ends. So it never writes to a disk here. What it leaves unwritten (room for datasets) takes no
 *  memory and is not copied.
 */
#ifndef DKMAP_MEMFILE_H
#define DKMAP_MEMFILE_H

#include "data/outfile.h"

typedef struct dkm_memfile {
    dkm_ctx *ctx;
    int fd, is_open;
    char path[256];
} dkm_memfile;

/** Make an empty file. Local; dkm_memfile_close() frees it, also after a failure.
 *  @param[in] out    where it will go
 *  @param[in] bytes  that it will have at least; more than the system allows is refused
 *  @return ok; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_local dkm_memfile_open(dkm_memfile *mem, const dkm_outfile *out, double bytes);

/** Copy all that was written, and make @p out as long. Local. */
DKM_NODISCARD
dkm_local dkm_memfile_copy(dkm_memfile *mem, dkm_outfile *out);

void dkm_memfile_close(dkm_memfile *mem);

#endif
