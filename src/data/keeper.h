/** @file keeper.h  Where long computations leave their state, and find it again in a later run.
 *
 *  A computation names its stage: a text that tells its state from that of any other stage of the
 *  run, such as "factor m=8000 gamma=0.001". Before it begins it asks for a state; at its safe
 *  points it asks whether one is due and, if so, saves a bundle of small parts and rows. What the
 *  stage is part of (a fold, a cell of a grid) is said by scopes around it.
 *
 *  src/store keeps states in files. Without a keeper in the context nothing is due or found, and
 *  asking costs nothing.
 */
#ifndef DKMAP_KEEPER_H
#define DKMAP_KEEPER_H

#include "data/bundle.h"

#define DKM_STAGE_LENGTH 512

typedef struct dkm_keeper dkm_keeper;

struct dkm_keeper {
    /** Whether a state of @p bytes should be saved now. Collective. */
    int (*due)(dkm_keeper *self, double bytes, int finished);
    /** Save a state; a disk that fails is reported and no failure. Collective.
     *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end here */
    dkm_status (*save)(dkm_keeper *self, const char *stage, dkm_bundle *state);
    /** Find the newest good state. Collective. */
    dkm_status (*find)(dkm_keeper *self, const char *stage, dkm_bundle *state, int *found);
    /** Take note of data that were read: a state is of use for the same data alone. Collective. */
    dkm_status (*note)(dkm_keeper *self, uint64_t data);
    char scope[DKM_STAGE_LENGTH];
    uint64_t about; /**< the matrix at hand */
};

/** Begin and end a scope: stages are told apart by all scopes they lie in. Logically collective. */
void dkm_keep_enter(dkm_ctx *ctx, const char *format, ...) DKM_PRINTF(2, 3);
void dkm_keep_leave(dkm_ctx *ctx);

/** Say which matrix the stages that follow are about, by all that it depends on: its objects and
 * what was made of them. Collective where there is a keeper. */
void dkm_keep_about(const dkm_data *data, const char *matrix);

/** Let nothing be kept for a while, such as what is only timed. Logically collective.
 *  @return what dkm_keep_again() takes */
dkm_keeper *dkm_keep_pause(dkm_ctx *ctx);
void dkm_keep_again(dkm_ctx *ctx, dkm_keeper *keeper);

/** Whether there is a keeper at all. Logically collective. */
int dkm_keep_wanted(const dkm_ctx *ctx);

/** Whether the state of the stage at hand should be saved now. Collective where there is a keeper.
 *  @param[in] bytes     of it, over all ranks
 *  @param[in] finished  the stage is complete: its outcome is worth more than a state on the way */
int dkm_keep_due(dkm_ctx *ctx, double bytes, int finished);

/** Save a state; the keeper adds parts of its own to it. Collective.
 *  @return DKM_OK, also when the disk would not take it; DKM_ERR_STOPPED when the run is to end */
DKM_NODISCARD
dkm_status dkm_keep_save(dkm_ctx *ctx, const char *stage, dkm_bundle *state);

/** Find the state of a stage. Collective.
 *
 *  @param[out] state  fresh; to be cleared by the caller, whatever came out
 *  @param[out] found  whether there is one
 *  @return DKM_OK; DKM_ERR_ARG when a state is of other data or settings; DKM_ERR_MEMORY
 */
DKM_NODISCARD
dkm_status dkm_keep_find(dkm_ctx *ctx, const char *stage, dkm_bundle *state, int *found);

/** Take note of data that a command read. Collective where there is a keeper. */
DKM_NODISCARD
dkm_status dkm_keep_note(const dkm_data *data);

/** The same of a file that is not read as data, by its checksum: the same on every rank. */
DKM_NODISCARD
dkm_status dkm_keep_note_sum(dkm_ctx *ctx, uint64_t sum);

/** A number that tells data apart, whatever the ranks they are spread over. Collective. */
uint64_t dkm_data_fingerprint(const dkm_data *data);

/** A choice that was made by the clock, and must be the same in the run that goes on: find it, or
 *  keep it in any case. Collective. */
DKM_NODISCARD
dkm_status dkm_keep_find_choice(dkm_ctx *ctx, const char *stage, int *choice, int *found);
DKM_NODISCARD
dkm_status dkm_keep_choice(dkm_ctx *ctx, const char *stage, int choice);

/** A finished stage whose outcome is the lower triangle of a matrix: find it, or keep it where that
 *  is due. Collective. */
DKM_NODISCARD
dkm_status dkm_keep_find_lower(const char *stage, dkm_dmat *A, int *found);
DKM_NODISCARD
dkm_status dkm_keep_lower(const char *stage, const dkm_dmat *A);

#endif
