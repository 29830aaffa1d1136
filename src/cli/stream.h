/** @file stream.h  New inputs through a model and out again, in stretches: predict and encode. */
#ifndef DKMAP_CLI_STREAM_H
#define DKMAP_CLI_STREAM_H

#include "run.h"

/** Read --x stretch by stretch, predict with the model that is the first operand, write to -o.
 *
 *  Collective. Memory does not grow with the number of inputs.
 *
 *  @param[in] only  the method the model must be of, or NULL for any
 */
DKM_NODISCARD
dkm_status stream_through_model(run *r, const char *only);

#endif
