/** @file fixture_checkpoint.h  Checkpoint directories for tests, and runs that are stopped at a given
 *  safe point. */
#ifndef DKMAP_FIXTURE_CHECKPOINT_H
#define DKMAP_FIXTURE_CHECKPOINT_H

#include <dkmap/checkpoint.h>

#include "support/fixture_files.h"

/** What a run of checkpoint_open_at() was started with. */
#define CHECKPOINT_SETTINGS "--alpha 1\n--beta 2\n"

/** Where the states of a directory are. Local. */
void checkpoint_folder(const char *dir, char folder[FILES_PATH]);

/** Files beside the marker. Collective. */
int checkpoint_states(dkm_ctx *ctx, const char *dir);

/** Remove a directory with its states. Collective. */
void checkpoint_clear(dkm_ctx *ctx, const char *dir);

/** Open a directory. The last rank alone hears a signal at its safe point of number @p stop_after,
 *  counted from 0; -1: never. Collective. */
dkm_status checkpoint_open_at(dkm_ctx *ctx, const char *dir, int resume, int stop_after,
                              dkm_checkpoint **c);

#endif
