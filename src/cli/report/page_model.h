/** @file page_model.h  A model on a page. */
#ifndef DKMAP_CLI_REPORT_PAGE_MODEL_H
#define DKMAP_CLI_REPORT_PAGE_MODEL_H

#include "cli/report/page.h"

/** What a model file holds, and its spectrum where it has one. Collective. */
DKM_NODISCARD dkm_status page_model(page *p, const char *path);

#endif
