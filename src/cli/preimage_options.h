/** @file preimage_options.h  How coordinates become objects: the options of predict and decode. */
#ifndef DKMAP_CLI_PREIMAGE_OPTIONS_H
#define DKMAP_CLI_PREIMAGE_OPTIONS_H

#include "run.h"

extern const option preimage_options[];

/** Whether any of them is given. Local. */
int preimage_asked(const run *r);

/** Configure the model as the options say; a model without pre-images is left alone where none of
 *  them is given. Collective.
 *  @return DKM_OK; what reading candidates or dkm_model_configure() return */
DKM_NODISCARD
dkm_status preimage_choose(run *r, dkm_model *model);

#endif
