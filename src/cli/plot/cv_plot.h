/** @file cv_plot.h  The picture of a cross-validation. */
#ifndef DKMAP_CLI_PLOT_CV_PLOT_H
#define DKMAP_CLI_PLOT_CV_PLOT_H

#include "cli/commands/validation.h"

/** Draw the losses of all settings, where --plot asks for it. Collective. */
DKM_NODISCARD dkm_status cv_plot(const validation *v);

#endif
