/** @file grid_search.h  Points of a search over settings: kernels with values of --try, times the
 *  lists that options of a method take in commands that search over settings.
 *
 *  Each point is a copy of the method's settings with values replaced. A grid has every point; a
 *  random search draws some (Bergstra and Bengio 2012).
 */
#ifndef DKMAP_CLI_PARAM_SEARCH_GRID_SEARCH_H
#define DKMAP_CLI_PARAM_SEARCH_GRID_SEARCH_H

#include <dkmap/method.h>

#include "cli/param_search/param_grid.h"

enum { GRID_SEARCH_ROWS = 16, GRID_SEARCH_LABEL = 2 * PARAM_LABEL };

typedef struct grid_search {
    run *r;
    param_grid param_grid;
    dkm_settings *base;                            /**< what all points have in common */
    const char *expressions[GRID_SEARCH_ROWS + 1]; /**< settings that are kernels, ended by NULL */
    const char *lists[GRID_SEARCH_ROWS + 1]; /**< options that may have several values, ended by
                                                  NULL; that of the last changes fastest */
    search_axis axis[GRID_SEARCH_ROWS];      /**< the values of each list */
    int64_t kernels, settings;
    const char **value; /**< of each setting and list, in that order; NULL: as in `base` */
    int64_t trials;     /**< points that are tried */
    int64_t *point;     /**< of each trial, kernel * settings + setting */
    char *wanted;       /**< of each point whether it is tried; NULL: all are */
    char *drawn;        /**< texts of values that no list has, or NULL */
} grid_search;

/** Read the lists, and list the points. Logically collective; grid_search_close() frees what it
 *  holds, also after a failure.
 *  @param[in] trials  points to draw at random; 0: the grid. The same where all lists together have
 *                     no more points than that, and no range
 *  @return DKM_OK; DKM_ERR_ARG as of param_grid_read(); DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status grid_search_open(grid_search *s, run *r, int64_t trials);
void grid_search_close(grid_search *s);

/** How many lists there are. Local. */
int grid_search_lists(const grid_search *s);

/** Whether lists without ranges have no more points than @p trials. Local. */
int grid_search_is_covered(const grid_search *s, int64_t trials);

/** Draw points: of each list and each --try a value, see search_axis_draw(). No point is drawn
 *  twice. Logically collective; the draws are those of the seed.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status grid_search_draw(grid_search *s, int64_t trials);

/** The settings of a point. Logically collective.
 *  @param[out] settings  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status grid_search_at(const grid_search *s, int64_t kernel, int64_t setting,
                                        dkm_settings **settings);

/** Whether a value of a point is the first or last of three or more. Local.
 *  @param[out] names  the options and names whose values are, at most GRID_SEARCH_LABEL bytes */
int grid_search_at_end(const grid_search *s, int64_t kernel, int64_t setting, char *names);

/** A point for a person, as "s=0.1,gamma=1e-3": what does not vary is left out. At most
 *  GRID_SEARCH_LABEL bytes. Local. */
void grid_search_label(const grid_search *s, int64_t kernel, int64_t setting, char *label);

/** The k-th value that varies of a point, and whose it is; 0 past the last. Local. */
int grid_search_value(const grid_search *s, int64_t point, int k, const char **name,
                      const char **text);

#endif
