/** @file grid_search.h  Points of a grid of settings: kernels with values of --param, times the
 * lists that options of a method take in commands that search over settings.
 *
 *  Each point is a copy of the method's settings with values replaced.
 */
#ifndef DKMAP_CLI_OPTIONS_GRID_SEARCH_H
#define DKMAP_CLI_OPTIONS_GRID_SEARCH_H

#include <dkmap/method.h>

#include "cli/options/param_grid.h"

enum { GRID_SEARCH_ROWS = 16, GRID_SEARCH_LABEL = 2 * PARAM_LABEL };

typedef struct grid_search {
    run *r;
    param_grid param_grid;
    dkm_settings *base;                            /**< what all points have in common */
    const char *expressions[GRID_SEARCH_ROWS + 1]; /**< settings that are kernels, ended by NULL */
    const char *lists[GRID_SEARCH_ROWS + 1]; /**< options that may have several values, ended by
                                                  NULL; that of the last changes fastest */
    int64_t kernels, settings;
} grid_search;

/** Read the grid. Logically collective; grid_search_close() frees what it holds, also after a
 *  failure.
 *  @return DKM_OK; DKM_ERR_ARG as of param_grid_read(); DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status grid_search_open(grid_search *s, run *r);
void grid_search_close(grid_search *s);

/** The settings of a point. Logically collective.
 *  @param[out] settings  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status grid_search_at(const grid_search *s, int64_t kernel, int64_t setting,
                                        dkm_settings **settings);

/** Whether a value of a point is the first or last of three or more numbers. Local.
 *  @param[out] name  the first such option or name, at most GRID_SEARCH_LABEL bytes */
int grid_search_at_end(const grid_search *s, int64_t kernel, int64_t setting, char *name);

/** A point for a person, as "s=0.1,gamma=1e-3": what does not vary is left out. At most
 *  GRID_SEARCH_LABEL bytes. Local. */
void grid_search_label(const grid_search *s, int64_t kernel, int64_t setting, char *label);

#endif
