/** @file checkpoint.h  States of a long run in a directory, from which a later run goes on.
 *
 *  While a checkpoint is open, the computations of its context save what they finish and, every few
 *  minutes, how far they are. Each state is a file of its own, complete with a checksum or not
 *  there; the last two of each stage stay. Nothing in them depends on the number of ranks. They
 *  lie in a folder of their own within the directory, and no other file is ever removed.
 *
 *  Saving is held to a twentieth of the time: a state that costs more to write than is lost without
 *  it waits. A disk that is full is reported, and the run goes on.
 */
#ifndef DKMAP_CHECKPOINT_H
#define DKMAP_CHECKPOINT_H

#include <dkmap/context.h>

DKM_API_BEGIN

typedef struct dkm_checkpoint dkm_checkpoint;

typedef struct dkm_checkpoint_settings {
    const char *dir;    /**< made where it is not there; its parent must be */
    int resume;         /**< go on from the states found there, else start over */
    double every;       /**< seconds between states of a stage on its way; 0: at all safe points */
    double max_time;    /**< seconds after `started` by which the run must have stopped; 0: never */
    double started;     /**< as MPI_Wtime() counts */
    int (*asked)(void); /**< whether this rank was asked to stop, by a signal; may be NULL */
    const char *settings; /**< lines of what must be the same in the run that goes on */
    const char *command;  /**< the command line, for people */
} dkm_checkpoint_settings;

/** Every five minutes, no limit of time. */
dkm_checkpoint_settings dkm_checkpoint_settings_default(void);

/** Open a directory of states and put it in the context, where computations find it.
 *
 *  Collective. The settings' texts are copied.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] checkpoint  owned by the caller, to be closed before the context; NULL on failure
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY; DKM_ERR_ARG when the states there are of a run with
 *          other settings */
DKM_NODISCARD dkm_status dkm_checkpoint_open(dkm_ctx *ctx, const dkm_checkpoint_settings *settings,
                                             dkm_checkpoint **checkpoint);

/** Seconds spent saving so far. Local. */
double dkm_checkpoint_seconds(const dkm_checkpoint *checkpoint);

/** Take it out of the context and free it; files stay. Local; takes NULL and nulls. */
void dkm_checkpoint_close(dkm_checkpoint **checkpoint);

DKM_API_END

#endif
