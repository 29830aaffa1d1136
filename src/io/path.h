/** @file path.h  Files by name: can they be read, can they be made. */
#ifndef DKMAP_IO_PATH_H
#define DKMAP_IO_PATH_H

#include <dkmap/data.h>

/** Whether @p path ends in @p ending, in lower or upper case. Local. */
int dkm_path_ends(const char *path, const char *ending);

/** The last name of @p path, within it; empty where that ends in a slash. Local. */
const char *dkm_path_last_name(const char *path);

/** Cut `file.h5:/dataset` in two; any other name is a path. Local.
 *  @param[out] path, dataset  owned by the caller; the dataset is NULL where none is named */
DKM_NODISCARD dkm_local dkm_path_split(dkm_ctx *ctx, const char *where, char **path,
                                       char **dataset);

/** open(), tried again where a signal interrupts it; of a pipe its copy (stream/spool.h). Local.
 *  @return a descriptor, or -1 with errno set */
int dkm_path_open(const char *path, int flags, unsigned mode);

/** pread() until all bytes came, the file ended or reading failed, also where signals interrupt it. Local.
 *  @return how many bytes came, or -1 with errno set */
dkm_idx dkm_path_read_at(int fd, void *to, dkm_idx count, dkm_idx offset);

/** Check that @p path is a file with something in it that this rank may read. Local.
 *  @param[out] bytes  its size; may be NULL
 *  @return ok; DKM_ERR_IO naming the path, the reason and a remedy */
DKM_NODISCARD dkm_local dkm_path_readable(dkm_ctx *ctx, const char *path, dkm_idx *bytes);

/** Check that a file of this name, if there is one, may be replaced: that it is a plain file.
 * Local.
 *  @return ok; DKM_ERR_IO naming the path, the reason and a remedy */
DKM_NODISCARD dkm_local dkm_path_replaceable(dkm_ctx *ctx, const char *path);

#endif
