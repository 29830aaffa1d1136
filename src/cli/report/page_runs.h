/** @file page_runs.h  Records of runs, as --record appends them, on a page. */
#ifndef DKMAP_CLI_REPORT_PAGE_RUNS_H
#define DKMAP_CLI_REPORT_PAGE_RUNS_H

#include "cli/report/page.h"

/** A table of the latest RUNS_LISTED runs of a file, and of the latest RUNS_SHOWN all there is:
 *  settings, results, paths, trials, seconds by phase, memory. Local, for rank 0.
 *  @return ok; DKM_ERR_IO; DKM_ERR_FORMAT for a file without records; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local page_runs(page *p, const char *path);

enum { RUNS_LISTED = 200, RUNS_SHOWN = 12 };

#endif
