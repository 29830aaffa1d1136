/** @file readers.h  Which ranks read a file, and for whom.
 *
 *  A file is opened by few ranks: one per node, some per node where parsing takes time, or one of
 *  all where a file can only be read from its beginning; DKM_READERS of all ranks at most. Each reads
 *  for a group of ranks, itself among them, and sends them their objects.
 *
 *  Messages: three small ones per rank and range, and one per array of the objects. Words sent: what
 *  is read for others. Held beside a rank's own objects: on a reader those of one other rank, where a file can only be
 *  read from its beginning; else a reader takes its own last.
 */
#ifndef DKMAP_IO_READERS_H
#define DKMAP_IO_READERS_H

#include "data/objects.h"

/** Ranks of all nodes that open a file, at most: more do not read faster from a file system that serves
 *  them all, and are a burden to it when they open. */
enum { DKM_READERS = 64 };

typedef struct dkm_readers {
    dkm_ctx *ctx; /**< borrowed */
    dkm_ctx
        *readers; /**< of the ranks that read: @p ctx where all do; NULL on a rank that does not */
    MPI_Comm group; /**< a reader, which is its rank 0, and those it reads for; MPI_COMM_NULL where
                           all ranks read */
    int forward;    /**< the file can only be read from its beginning: ranges in their order */
} dkm_readers;

/** Choose the readers.
 *
 *  Collective; dkm_readers_close() frees, also after a failure.
 *
 *  @param[in] per_node  ranks of a node that read, at most; 0: rank 0 reads for all
 *  @param[in] most      ranks of all nodes that read, at most; DKM_READERS but for tests
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_MPI
 */
DKM_NODISCARD dkm_status dkm_readers_open(dkm_readers *readers, dkm_ctx *ctx, int per_node,
                                          int most);
void dkm_readers_close(dkm_readers *readers);

/** Make a failure of the readers one of all ranks. Collective.
 *  @param[in] status  the readers' own; ignored elsewhere */
DKM_NODISCARD dkm_status dkm_readers_agree(const dkm_readers *readers, dkm_status status);

/** Reads objects [first, first + count) of a file on a reader. Local. */
typedef dkm_local (*dkm_read_range)(void *user, dkm_idx first, dkm_idx count, dkm_objs *objs);

/** Objects [first, first + count), each rank its own range.
 *
 *  Collective on the group. A failure of the reader is returned there alone: the caller agrees.
 *
 *  @param[in]  read  called on readers
 *  @param[in]  type  of the objects
 *  @param[out] objs  zeroed or fresh; empty after a failure of the reader
 */
DKM_NODISCARD dkm_local dkm_readers_read(const dkm_readers *readers, dkm_read_range read,
                                         void *user, dkm_type type, dkm_idx first, dkm_idx count,
                                         dkm_objs *objs);

#endif
