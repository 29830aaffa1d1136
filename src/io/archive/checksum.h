/** @file checksum.h  A trailer behind the last byte of a file: its length and its checksum.
 *
 *  HDF5 does not mind what follows its own end. A file that was cut short, or of which a bit was
 *  turned over, does not match its trailer.
 */
#ifndef DKMAP_IO_ARCHIVE_CHECKSUM_H
#define DKMAP_IO_ARCHIVE_CHECKSUM_H

#include "io/atomic_file.h"

/** Write the trailer of what all ranks wrote. Collective, before committing. */
DKM_NODISCARD dkm_status dkm_checksum_append(dkm_atomic_file *out);

/** Whether an open file is a plain one that ends in a checksum trailer of its length. Local. */
int dkm_seal_present(int fd);

/** What the trailer of a file says of the bytes before it. Local.
 *  @return 1; 0 where the file is not there, or has no trailer of its length */
int dkm_seal_read(const char *path, int64_t *length, uint64_t *sum);

/** The checksum of a file, sealed or not; every rank reads its part of it. Collective.
 *  @return DKM_OK; DKM_ERR_FORMAT when it cannot be read; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_seal_sum(dkm_ctx *ctx, const char *path, uint64_t *sum);

/** Check a file against its trailer; every rank reads its part of it. Collective.
 *  @return DKM_OK; DKM_ERR_FORMAT with a message saying what is wrong; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_checksum_verify(dkm_ctx *ctx, const char *path);

/** The same for a file that may be without a checksum trailer. Collective.
 *  @param[out] sealed  1 when it has one, which it matches if DKM_OK is returned; 0 when it has
 * none
 *  @return DKM_OK, also without a checksum trailer; else as dkm_checksum_verify() */
DKM_NODISCARD dkm_status dkm_seal_check_any(dkm_ctx *ctx, const char *path, int *sealed);

#endif
