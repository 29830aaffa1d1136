/** @file target_report.h  What the outputs of a fit were taken for, and whether that is doubtful. */
#ifndef DKMAP_CLI_OPTIONS_TARGET_REPORT_H
#define DKMAP_CLI_OPTIONS_TARGET_REPORT_H

#include <dkmap/method.h>

#include "cli/core/run.h"

/** A line for a person, as "classes, 3: setosa, versicolor, virginica"; at most TARGET_TEXT bytes.
 *  Warns of classes that may be numbers, and of numbers that may be classes. Collective.
 *  @param[out] text  for report_text() */
enum { TARGET_TEXT = 300 };
DKM_NODISCARD dkm_status target_describe(run *r, const dkm_data *Y, const dkm_settings *settings,
                                         char text[TARGET_TEXT]);

#endif
