/** @file spool.h  Standard input and pipes as files that every rank can read at any place.
 *
 *  A pipe can be read once, from its beginning, by one process. Rank 0 reads it in pieces of a MiB
 *  and broadcasts them; one rank of each node writes them to a temporary file without a name, which
 *  all ranks of the node have open. Readers of formats then find a plain file there.
 *
 *  Held per rank: a piece. Words sent: every rank receives the pieces. Disk: one copy per node in
 *  TMPDIR, or /tmp, which goes with the processes.
 */
#ifndef DKMAP_IO_STREAM_SPOOL_H
#define DKMAP_IO_STREAM_SPOOL_H

#include <dkmap/context.h>

/** Whether a name is `-`, standard input or output, maybe with an ending or a slice behind it: `-.npy`,
 *  `-[0:10]`. A file of such a name is `./-`. Local. */
int dkm_path_is_standard(const char *path);

/** Copy @p path to a file of each node where it is `-` or a pipe, and was not copied before.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_FORMAT where nothing came; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_spool(dkm_ctx *ctx, const char *path);

/** The name to open in place of @p path: that of the copy, or @p path itself. Local. */
const char *dkm_spool_path(const char *path);

/** What a copy without an ending seems to hold, by its first bytes: an ending such as ".csv".
 *  Local. */
const char *dkm_spool_ending(const char *path);

/** A new file without a name in TMPDIR, or /tmp. Local.
 *  @param[out] name  its name, not removed yet; NULL: it is removed at once
 *  @return a descriptor, or -1 with errno set */
int dkm_nameless_file(char *name, size_t size);

/** write() until all is written. Local.
 *  @return 1, or 0 with errno set */
int dkm_write_all(int fd, const char *bytes, dkm_idx count);

#endif
