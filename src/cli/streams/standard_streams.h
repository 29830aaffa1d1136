/** @file standard_streams.h  Which arguments are `-`: standard input or output as a file; and which files
 *  are written. */
#ifndef DKMAP_CLI_STREAMS_STANDARD_STREAMS_H
#define DKMAP_CLI_STREAMS_STANDARD_STREAMS_H

#include <dkmap/status.h>

#include "cli/core/args.h"

/** Whether --output is standard output. Local. */
int standard_output_taken(const args *a);

/** Check that each stream is wanted once, and as something that can be a stream. Standard input may be
 *  wanted by several options that take slices of it. Local; the same on all ranks.
 *  @return ok; DKM_ERR_ARG */
DKM_NODISCARD dkm_local standard_streams_check(dkm_ctx *ctx, const args *a);

/** Check that no file that is written is read too, or written by another option. Commands that change a
 *  model may put the new one in its place. Rank 0 looks, others say nothing. Local.
 *  @return ok; DKM_ERR_ARG naming the options */
DKM_NODISCARD dkm_local written_files_check(dkm_ctx *ctx, const args *a);

#endif
