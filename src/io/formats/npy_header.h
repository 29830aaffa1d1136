/** @file npy_header.h  What stands at the front of an npy file. */
#ifndef DKMAP_IO_FORMATS_NPY_HEADER_H
#define DKMAP_IO_FORMATS_NPY_HEADER_H

#include <dkmap/context.h>

#include "io/formats/numbers.h"

#define DKM_NPY_DIMS 16

typedef struct dkm_npy_header {
    dkm_number number;
    int swapped; /**< bytes stand the other way round than on this machine */
    int fortran;
    int dims;
    dkm_idx shape[DKM_NPY_DIMS];
    dkm_idx offset; /**< of the numbers in the file */
} dkm_npy_header;

/** Bytes of a file that surely hold its header. */
#define DKM_NPY_HEADER_ROOM 4096

/** Read a header from the first bytes of a file. Local.
 *  @param[in] path  for messages
 *  @return ok; DKM_ERR_FORMAT naming the path and what is wrong */
DKM_NODISCARD dkm_local dkm_npy_header_parse(dkm_ctx *ctx, const char *path, const char *bytes,
                                             dkm_idx count, dkm_npy_header *header);

/** Write a header for m x d little-endian numbers in C order (d < 0: 1-D). Local.
 *  @return its length, at most DKM_NPY_HEADER_ROOM; padded so that the numbers are aligned */
dkm_idx dkm_npy_header_write(dkm_number number, dkm_idx m, dkm_idx d,
                             char bytes[DKM_NPY_HEADER_ROOM]);

#endif
