/** @file param_grid.h  Settings tried in turn: `--try NAME=V1,V2,...` stands for `$NAME` in
 * options.
 *
 *  Several --try make a grid of all combinations, of which the last name changes fastest. Without
 *  any there is one combination, of nothing.
 */
#ifndef DKMAP_CLI_PARAM_SEARCH_PARAM_GRID_H
#define DKMAP_CLI_PARAM_SEARCH_PARAM_GRID_H

#include "cli/core/run.h"
#include "cli/param_search/search_axis.h"

#define ROW_TRY                                                                                    \
    {                                                                                              \
        .name = "try", .kind = OPT_TEXT, .flags = OPT_REPEATED, .metavar = "NAME=V1,V2,...",       \
        .aliases = "param|",                                                                       \
        .help = "values to try for $NAME in a kernel; more than one --try makes a grid; a value "  \
                "FIRST:LAST:COUNT is a logarithmic range"                                          \
    }

typedef struct param_values {
    char *name; /**< what values that are listed point into, too */
    search_axis axis;
    int ranges;
    char **range_texts; /**< of each range the values that it stands for */
} param_values;

typedef struct param_grid {
    int names;
    param_values *name;
    int64_t count;      /**< of combinations */
    const char **value; /**< of each combination and name, in that order */
} param_grid;

enum { PARAM_LABEL = 200 };

/** Read every --try. Logically collective.
 *
 *  @param[in]  options  names of the options in which `$NAME` may stand, ended by NULL
 *  @param[out] t        param_grid_free() frees it, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG naming the option: not NAME=V1,V2,..., a name given twice, a name
 *          that no option uses, a `$NAME` that no --try gives; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status param_grid_read(run *r, const char *const *options, param_grid *t);

/** The text of an option in combination @p k. Logically collective.
 *  @param[out] text  new, for free(); NULL on failure and where the option is not given */
DKM_NODISCARD dkm_status param_grid_text(run *r, const param_grid *t, int64_t k, const char *name,
                                         char **text);

/** Combination @p k for a person, as "s=0.1,c=2": at most PARAM_LABEL bytes. Local. */
void param_grid_label(const param_grid *t, int64_t k, char *label);

/** The names whose value in combination @p k is the first or last of three or more. Local.
 *  @param[in,out] names  takes them as $NAME, at most @p size bytes in all */
void param_grid_at_end(const param_grid *t, int64_t k, char *names, size_t size);

void param_grid_free(param_grid *t);

#endif
