/** @file grid_search.h  Points of a grid of settings: kernels with values of --try, times the lists
 * that options of a method take in commands that search over settings.
 *
 *  Each point is a command line of its own, with one value per option: what reads settings from
 *  options need not know of grids.
 */
#ifndef DKMAP_CLI_OPTIONS_GRID_SEARCH_H
#define DKMAP_CLI_OPTIONS_GRID_SEARCH_H

#include "cli/options/param_grid.h"

enum { GRID_SEARCH_KERNELS = 3, GRID_SEARCH_LABEL = 2 * PARAM_LABEL };

typedef struct grid_search {
    run *r;
    param_grid param_grid;
    const char *const *lists; /**< names of the options that may have several values, ended by NULL;
                                   that of the last changes fastest */
    int64_t kernels, settings;
} grid_search;

/** Read the grid. Logically collective; sweep_close() frees what it holds, also after a failure.
 *  @return DKM_OK; DKM_ERR_ARG as of trials_read(); DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status grid_search_open(grid_search *s, run *r, const char *const *lists);
void grid_search_close(grid_search *s);

/** A point as a run of its own on @p ctx. */
typedef struct grid_search_point {
    run run;
    args args;
    char *kernel[GRID_SEARCH_KERNELS]; /**< what --kx, --ky and --joint come to, or NULL */
} grid_search_point;

/** Make a point. Logically collective on @p ctx; sweep_point_free() frees what it holds, also after
 *  a failure.
 *  @param[in] kx  stands in for --kx; NULL: what the kernel's number says */
DKM_NODISCARD
dkm_status grid_search_at(const grid_search *s, dkm_ctx *ctx, int64_t kernel, int64_t setting,
                          const char *kx, grid_search_point *point);
void grid_search_point_free(grid_search_point *point);

/** A point for a person, as "s=0.1,gamma=1e-3": what does not vary is left out. At most SWEEP_LABEL
 *  bytes. Local. */
void grid_search_label(const grid_search *s, int64_t kernel, int64_t setting, char *label);

#endif
