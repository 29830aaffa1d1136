/** @file components.h  The option --components, and the report of an eigendecomposition. */
#ifndef DKMAP_CLI_OPTIONS_COMPONENTS_H
#define DKMAP_CLI_OPTIONS_COMPONENTS_H

#include <dkmap/eigen.h>

#include "cli/core/run.h"

#define ROW_COMPONENTS                                                                             \
    {                                                                                              \
        .name = "components", .kind = OPT_TEXT, .flags = OPT_REQUIRED | OPT_SEARCH,                \
        .metavar = "P|F%|all",                                                                     \
        .help = "how many components, the share of variance they must explain (95%), or all"       \
    }
#define ROW_EIGENSOLVER                                                                            \
    {                                                                                              \
        .name = "eigensolver", .kind = OPT_CHOICE, .metavar = "HOW",                               \
        .choices = "auto|block|full|", .default_text = "auto",                                     \
        .help = "block finds leading components by matrix products, full decomposes all"           \
    }

/** --components and --eigensolver as settings. Logically collective.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD dkm_status components_settings(run *r, dkm_eigen_settings *settings);

/** Report what was found, and warn where that is fewer than were asked for. Local; rank 0 prints. */
void components_report(run *r, const dkm_eigen_info *info);

#endif
