/** @file atomic_file.h  The one way to write a file: by all ranks, under another name until it is
 * complete.
 *
 *  Rank 0 makes a temporary file beside the target and every rank opens it; each writes its parts
 *  at their offsets; committing flushes them, agrees that all went well and renames the file. A
 *  library that lays out the file first (HDF5) does so on rank 0, in a dkm_memory_file.
 */
#ifndef DKMAP_IO_ATOMIC_FILE_H
#define DKMAP_IO_ATOMIC_FILE_H

#include <dkmap/context.h>

/** Between the name of a file and the process that writes it, in the name of a temporary file. */
#define DKM_TEMPORARY ".tmp."

typedef struct dkm_atomic_file {
    dkm_ctx *ctx;
    char *path, *temp; /**< the name to be, and the name until then */
    char *inside;      /**< the name to be, which dirname() may cut to that of its directory */
    int fd, is_open;
    int is_made;   /**< the temporary file is there, to be removed or renamed */
    int mode;      /**< of the file that will be replaced; -1 where there is none */
    uint64_t sum;  /**< of what this rank wrote, see dkm_filesum() */
    int is_stdout; /**< goes to standard output in the end, see stream/stdout_file.h */
    dkm_idx *parts, part_count, capacity;
} dkm_atomic_file;

/** Whether the process that writes a temporary file is gone. It has the file locked, on whatever
 *  machine it runs. Local.
 *  @param[in] folder   its directory, open
 *  @param[in] process  what follows DKM_TEMPORARY in its name */
int dkm_temporary_is_abandoned(int folder, const char *name, const char *process);

/** Make the temporary file, empty. Those that killed runs left of the same file are removed. The name
 *  `-` is standard output. Collective.
 *
 *  @param[out] out  fresh; dkm_atomic_file_close() frees it, also after a failure
 *  @return DKM_OK; DKM_ERR_IO naming the path and the reason; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_atomic_file_open(dkm_atomic_file *out, dkm_ctx *ctx, const char *path);

/** Write bytes at an offset. Local.
 *  @return ok; DKM_ERR_IO naming the path and the reason, such as a full disk */
DKM_NODISCARD dkm_local dkm_atomic_file_write(dkm_atomic_file *out, dkm_idx offset,
                                              const void *bytes, dkm_idx count);

/** Flush what all ranks wrote and give the file its name, replacing what had it: the permissions of
 *  that stay. Collective. */
DKM_NODISCARD dkm_status dkm_atomic_file_commit(dkm_atomic_file *out);

/** Free; a file that was not committed is removed. Local. */
void dkm_atomic_file_close(dkm_atomic_file *out);

#endif
