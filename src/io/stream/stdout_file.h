/** @file stdout_file.h  A file that goes to standard output once it is complete.
 *
 *  Ranks write at offsets, as to any file, each to a temporary file of its own; at the end rank 0
 *  prints the parts in order of their offsets and receives those of others in pieces of a MiB. So
 *  nothing is printed by a run that fails. Disk: what a rank wrote, in TMPDIR or /tmp. Words sent:
 *  what other ranks wrote, to rank 0. Held per rank: a piece, and a place per part.
 */
#ifndef DKMAP_IO_STREAM_STDOUT_FILE_H
#define DKMAP_IO_STREAM_STDOUT_FILE_H

#include "io/atomic_file.h"

/** Open the temporary file of each rank. Collective. */
DKM_NODISCARD dkm_status dkm_stdout_open(dkm_atomic_file *out);

/** Note that this rank wrote @p count bytes at @p offset. Local. */
DKM_NODISCARD dkm_local dkm_stdout_note(dkm_atomic_file *out, dkm_idx offset, dkm_idx count);

/** Print all. Collective. */
DKM_NODISCARD dkm_status dkm_stdout_print(dkm_atomic_file *out);

#endif
