/** @file checkpointer.h  Where long computations leave their state, and find it again in a later
 * run.
 *
 *  A computation names its stage: a text that distinguishes its state from that of any other stage of the
 *  run, such as "factor m=8000 gamma=0.001 A=...". It names the operator, the right-hand sides and
 *  the data the state depends on, by their fingerprints; nothing is remembered between calls.
 * Before it begins it asks for a state; at its safe points it asks whether one is due and, if so,
 * saves it. States are tables of fields (state_table.h).
 *
 *  src/io stores states in files. Without a checkpointer in the context nothing is due or found,
 *  and asking costs nothing.
 */
#ifndef DKMAP_IO_CHECKPOINT_CHECKPOINTER_H
#define DKMAP_IO_CHECKPOINT_CHECKPOINTER_H

#include "io/archive/archive.h"
#include "io/checkpoint/state_table.h"

#define DKM_STAGE_LENGTH 512

typedef struct dkm_checkpointer dkm_checkpointer;

struct dkm_checkpointer {
    /** Whether a state of @p bytes should be saved now. Collective. */
    int (*due)(dkm_checkpointer *self, double bytes, int finished);
    /** Save a state; a disk that fails is reported and no failure. Collective.
     *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end here */
    dkm_status (*save)(dkm_checkpointer *self, const char *stage, dkm_archive *state);
    /** Find the newest good state. Collective. */
    dkm_status (*find)(dkm_checkpointer *self, const char *stage, dkm_archive *state, int *found);
    /** Take note of data that were read: a state is of use for the same data alone. Collective. */
    dkm_status (*note)(dkm_checkpointer *self, uint64_t data);
};

/** A number for the name of a stage that identifies data, and the kernel or joint kernel @p text that is
 *  evaluated on them, from others; 0 without a checkpointer. Collective where there is one. */
uint64_t dkm_checkpointer_fingerprint(const dkm_data *data, const char *text);

/** Store nothing for a while, such as what is only timed. Logically collective.
 *  @return what dkm_checkpointer_resume() takes */
dkm_checkpointer *dkm_checkpointer_pause(dkm_ctx *ctx);
void dkm_checkpointer_resume(dkm_ctx *ctx, dkm_checkpointer *checkpointer);

/** Whether there is a checkpointer at all. Logically collective. */
int dkm_checkpointer_enabled(const dkm_ctx *ctx);

/** Whether the state of the current stage should be saved now. Collective where there is a
 * checkpointer.
 *  @param[in] bytes     of it, over all ranks
 *  @param[in] finished  the stage is complete: its outcome is worth more than a state on the way */
int dkm_checkpointer_due(dkm_ctx *ctx, double bytes, int finished);

/** Save a state; the checkpointer adds parts of its own to it. Collective.
 *  @return DKM_OK, also when the disk would not take it; DKM_ERR_STOPPED when the run is to end */
DKM_NODISCARD dkm_status dkm_checkpointer_save(dkm_ctx *ctx, const char *stage, dkm_archive *state);

/** Find the state of a stage. Collective.
 *
 *  @param[out] state  fresh; to be cleared by the caller, whatever came out
 *  @param[out] found  whether there is one
 *  @return DKM_OK; DKM_ERR_ARG when a state is of other data or settings; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_checkpointer_load(dkm_ctx *ctx, const char *stage, dkm_archive *state,
                                               int *found);

/** Save the table of a stage, and find it. Collective.
 *  @return DKM_OK; DKM_ERR_STOPPED; DKM_ERR_FORMAT when a field is not as the table says */
DKM_NODISCARD dkm_status dkm_checkpointer_save_table(dkm_ctx *ctx, const char *stage, dkm_idx count,
                                                     const dkm_state_field *fields);
DKM_NODISCARD dkm_status dkm_checkpointer_load_table(dkm_ctx *ctx, const char *stage, dkm_idx count,
                                                     const dkm_state_field *fields, int *found);

/** Take note of data that a command read. Collective where there is a checkpointer. */
DKM_NODISCARD dkm_status dkm_checkpointer_note_data(const dkm_data *data);

/** The same of a file that is not read as data, by its checksum: the same on every rank. */
DKM_NODISCARD dkm_status dkm_keep_note_sum(dkm_ctx *ctx, uint64_t sum);

/** A fingerprint of data that does not depend on the number of ranks. Collective. */
uint64_t dkm_data_fingerprint(const dkm_data *data);

/** A choice that was made by the clock, and must be the same in the run that goes on: find it, or
 *  store it in any case. Collective. */
DKM_NODISCARD dkm_status dkm_checkpointer_load_choice(dkm_ctx *ctx, const char *stage, int *choice,
                                                      int *found);
DKM_NODISCARD dkm_status dkm_checkpointer_save_choice(dkm_ctx *ctx, const char *stage, int choice);

/** A finished stage whose outcome is the lower triangle of a matrix: load it, or save it where that
 *  is due. Collective. */
DKM_NODISCARD dkm_status dkm_checkpointer_load_lower(const char *stage, dkm_dmat *A, int *found);
DKM_NODISCARD dkm_status dkm_checkpointer_save_lower(const char *stage, dkm_dmat *A);

#endif
