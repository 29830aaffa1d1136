/** @file holdout.h  Examples held out of a fit, to measure the error on what it has not seen. */
#ifndef DKMAP_CLI_OPTIONS_HOLDOUT_H
#define DKMAP_CLI_OPTIONS_HOLDOUT_H

#include <dkmap/model.h>

#include "cli/core/run.h"

/** Rows of the option table of a command that fits. */
#define ROWS_HOLDOUT                                                                               \
    {.name = "holdout",                                                                            \
     .kind = OPT_REAL,                                                                             \
     .metavar = "F",                                                                               \
     .help = "keep this share of the examples, drawn at random, from the fit, tell the error on "  \
             "them, and calibrate predict --coverage by them"},                                    \
        {.name = "holdout-x",                                                                      \
         .kind = OPT_TEXT,                                                                         \
         .metavar = "FILE",                                                                        \
         .help = "inputs to tell the error on, of the type of --x"},                               \
    {                                                                                              \
        .name = "holdout-y", .kind = OPT_TEXT, .metavar = "FILE",                                  \
        .help = "their outputs, of the type of --y"                                                \
    }

typedef struct holdout {
    dkm_data *X, *Y; /**< NULL where nothing is held out */
} holdout;

/** Check the options. Collective.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD dkm_status holdout_open(run *r, holdout *h);

/** Read the files they name, once those to learn from are read or open. Collective; holdout_free()
 *  frees, also after a failure. */
DKM_NODISCARD dkm_status holdout_read(run *r, holdout *h);

/** Take the share that --holdout asks for off the examples. Collective. */
DKM_NODISCARD dkm_status holdout_split(run *r, holdout *h, dkm_data **X, dkm_data **Y,
                                       dkm_data **weights);

/** Keep their residuals in a model whose method has prediction sets, for predict --coverage; models
 *  of outputs that have none stay as they are. Collective. */
DKM_NODISCARD dkm_status holdout_keep(const holdout *h, dkm_model *model);

/** Tell the mean loss of a model: the squared error of numbers, the share of wrong ones of other
 *  objects. Collective. */
DKM_NODISCARD dkm_status holdout_report(run *r, const holdout *h, dkm_model *model);

void holdout_free(holdout *h);

#endif
