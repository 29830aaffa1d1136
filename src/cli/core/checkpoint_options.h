/** @file checkpoint_options.h  The options about checkpoints, for every command that computes. */
#ifndef DKMAP_CLI_CORE_CHECKPOINT_OPTIONS_H
#define DKMAP_CLI_CORE_CHECKPOINT_OPTIONS_H

#include "cli/core/run.h"

/** Open the directory of --checkpoint, if it is given, and watch for signals. Collective.
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status checkpoint_begin(run *r);

#endif
