/** @file path.h  Files by name: can they be read, can they be made. */
#ifndef DKMAP_PATH_H
#define DKMAP_PATH_H

#include <dkmap/data.h>

/** Whether @p path ends in @p ending, in lower or upper case. Local. */
int dkm_path_ends(const char *path, const char *ending);

/** Check that @p path is a file with something in it that this rank may read. Local.
 *  @param[out] bytes  its size; may be NULL
 *  @return ok; DKM_ERR_IO naming the path, the reason and a remedy */
DKM_NODISCARD
dkm_local dkm_path_readable(dkm_ctx *ctx, const char *path, dkm_idx *bytes);

#endif
