/** @file ridge_options.h  Options of commands that solve a ridge system, and what is reported. */
#ifndef DKMAP_CLI_OPTIONS_RIDGE_OPTIONS_H
#define DKMAP_CLI_OPTIONS_RIDGE_OPTIONS_H

#include <dkmap/ridge.h>

#include "cli/core/run.h"

#define ROW_GAMMA                                                                                  \
    {                                                                                              \
        .name = "gamma", .kind = OPT_REAL, .flags = OPT_REQUIRED | OPT_SEARCH, .metavar = "G",     \
        .help = "ridge > 0 that is added to the diagonal of the kernel matrix"                     \
    }
#define ROW_PENALTY(text)                                                                          \
    {                                                                                              \
        .name = "penalty", .kind = OPT_WORD, .metavar = "WORD",                                    \
        .choices = "weights|coefficients|", .default_text = "weights", .help = text                \
    }
#define ROW_PRECISION                                                                              \
    {                                                                                              \
        .name = "precision", .kind = OPT_WORD, .metavar = "WORD",                                  \
        .choices = "auto|double|mixed|single|", .default_text = "auto",                            \
        .help = "of the factor: mixed refines a single one to double accuracy, which is faster"    \
    }

/** --precision. Local. */
dkm_ridge_precision ridge_precision(const run *r);

/** Tell how the system was solved. Local; rank 0 prints. */
void ridge_tell(run *r, const dkm_ridge_info *ridge);

#endif
