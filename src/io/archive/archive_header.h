/** @file archive_header.h  The attributes at the root of an archive file. */
#ifndef DKMAP_IO_ARCHIVE_ARCHIVE_HEADER_H
#define DKMAP_IO_ARCHIVE_ARCHIVE_HEADER_H

#include "io/archive/archive_file.h"
#include "io/archive/h5file.h"

/** Whether an open HDF5 file says that it is an archive. Local. */
DKM_NODISCARD dkm_local dkm_archive_is_dkmap_file(const dkm_h5 *h5, int *ours);

/** Read the header of an open file. Local.
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT for a file that is not ours or of a newer format */
DKM_NODISCARD dkm_local dkm_archive_header_read(const dkm_h5 *h5, dkm_archive_header *header);

#endif
