/** @file preimage_options.h  How coordinates become objects: the options of predict and decode. */
#ifndef DKMAP_CLI_OPTIONS_PREIMAGE_OPTIONS_H
#define DKMAP_CLI_OPTIONS_PREIMAGE_OPTIONS_H

#include "cli/core/run.h"

extern const option preimage_options[];

/** The methods, for the help of commands with these options. */
#define PREIMAGE_ABOUT                                                                             \
    "The ways from coordinates to objects (--preimage):\n"                                         \
    "candidates: the nearest of the training objects, or of --candidates; for objects of every "   \
    "type. --top N lists the best N instead.\n"                                                    \
    "linear, exact: closed forms, for linear kernels and for those with an inverse, such as poly " \
    "of odd degree, on dense rows.\n"                                                              \
    "fixed-point: for rbf on dense rows. gradient: for any smooth kernel on dense rows. mds: by "  \
    "the distances to --neighbors training objects, for rbf and kernels with an inverse.\n"        \
    "learned: a ridge regression with the kernel --kz, for dense rows and classes.\n"              \
    "strings: from strings to strings, letter by letter: by the vote of --neighbors letters, or "  \
    "by a classifier with the kernel --kz; as long as the input, and what near outputs have "      \
    "more.\n"                                                                                      \
    "coordinates: as they are, to be decoded later.\n"                                             \
    "auto: linear where that suits; else candidates for kde, and for kpca (decode) "               \
    "fixed-point, gradient or candidates, whichever suits first."

/** Whether any of them is given. Local. */
int preimage_asked(const run *r);

/** Configure the model as the options say; a model without pre-images is left alone where none of
 *  them is given. Collective.
 *  @return DKM_OK; what reading candidates or dkm_model_configure() return */
DKM_NODISCARD dkm_status preimage_choose(run *r, dkm_model *model);

/** Report what searches among candidates took, where bounds or an index took part. Local; rank 0 prints. */
void preimage_report(run *r);

#endif
