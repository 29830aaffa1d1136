/** @file trials.h  Settings tried in turn: `--try NAME=V1,V2,...` stands for `$NAME` in options.
 *
 *  Several --try make a grid of all combinations, of which the last name changes fastest. Without
 *  any there is one combination, of nothing.
 */
#ifndef DKMAP_CLI_TRIALS_H
#define DKMAP_CLI_TRIALS_H

#include "run.h"

#define ROW_TRY                                                                                    \
    {                                                                                              \
        .name = "try", .kind = OPT_TEXT, .flags = OPT_REPEATED, .hint = "NAME=V1,V2,...",          \
        .help = "values to try for $NAME in a kernel; more than one --try makes a grid"            \
    }

typedef struct trial_name {
    char *name;
    int count;
    char **values;
} trial_name;

typedef struct trials {
    int names;
    trial_name *name;
    int64_t count; /**< of combinations */
} trials;

enum { TRIAL_LABEL = 200 };

/** Read every --try. Logically collective.
 *
 *  @param[in]  options  names of the options in which `$NAME` may stand, ended by NULL
 *  @param[out] t        trials_free() frees it, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG naming the option: not NAME=V1,V2,..., a name given twice, a name
 *          that no option uses, a `$NAME` that no --try gives; DKM_ERR_MEMORY
 */
DKM_NODISCARD
dkm_status trials_read(run *r, const char *const *options, trials *t);

/** The text of an option in combination @p k. Logically collective.
 *  @param[out] text  new, for free(); NULL on failure and where the option is not given */
DKM_NODISCARD
dkm_status trials_text(run *r, const trials *t, int64_t k, const char *name, char **text);

/** Combination @p k for a person, as "s=0.1,c=2": at most TRIAL_LABEL bytes. Local. */
void trials_label(const trials *t, int64_t k, char *label);

void trials_free(trials *t);

#endif
