/** @file bundle_header.h  The attributes at the root of a bundle file. */
#ifndef DKMAP_BUNDLE_HEADER_H
#define DKMAP_BUNDLE_HEADER_H

#include "store/bundle_file.h"
#include "store/h5file.h"

/** Whether an open HDF5 file says that it is a bundle. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_is_ours(const dkm_h5 *h5, int *ours);

/** Read the header of an open file. Local.
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_FORMAT for a file that is not ours or of a newer format */
DKM_NODISCARD
dkm_local dkm_bundle_header_read(const dkm_h5 *h5, dkm_bundle_header *header);

#endif
