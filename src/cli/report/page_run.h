/** @file page_run.h  One record on a page. */
#ifndef DKMAP_CLI_REPORT_PAGE_RUN_H
#define DKMAP_CLI_REPORT_PAGE_RUN_H

#include <jansson.h>

#include "cli/report/page.h"

/** Settings, results, path, trials, phases and memory of a record. Local, for rank 0.
 *  @return ok; DKM_ERR_MEMORY; DKM_ERR_IO where gnuplot fails */
DKM_NODISCARD dkm_local page_run(page *p, json_t *record, int number);

#endif
