/** @file stream.h  New inputs through a model and out again, in stretches: predict and encode. */
#ifndef DKMAP_CLI_STREAM_H
#define DKMAP_CLI_STREAM_H

#include "run.h"

/** Read --x stretch by stretch, predict with the model that is the first operand, write to -o.
 *
 *  Collective. Memory does not grow with the number of inputs.
 *
 *  @param[in] only     the method the model must be of, or NULL for any
 *  @param[in] prepare  what to do with the model first, or NULL. Collective
 */
DKM_NODISCARD
dkm_status stream_through_model(run *r, const char *only,
                                dkm_status (*prepare)(run *r, dkm_model *model));

/** Choose the pre-image that --preimage, --candidates and --top ask for. Collective. */
DKM_NODISCARD
dkm_status stream_choose_preimage(run *r, dkm_model *model);

#endif
