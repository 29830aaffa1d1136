/** @file args.h  One command line, read against the tables of its command. */
#ifndef DKMAP_CLI_CORE_ARGS_H
#define DKMAP_CLI_CORE_ARGS_H

#include "cli/config/config.h"
#include "cli/core/value.h"

/** How help is printed. */
typedef enum help_form {
    HELP_TEXT,
    HELP_MAN,
    HELP_MARKDOWN,
    HELP_COMPLETION,
    HELP_NAMES
} help_form;

typedef struct args {
    const command *command; /**< NULL when none was named */
    subcommand chosen;      /**< what `command` points to: args must not be moved */
    int count;              /**< of values, those that are presets at the end */
    int given;              /**< how many of them were on the command line */
    value *values;
    help_form help_form;
    int operand_count;
    const char **positionals;
    config config;       /**< what --config FILE says; values point into it */
    char *line;          /**< the command line as it could be typed again */
    char *texts;         /**< what values and positional arguments point into */
    int ranges;          /**< FIRST:LAST:COUNT in lists of values */
    char **range_texts;  /**< of each the values that it stands for */
    char complaint[512]; /**< one line: what is wrong with the command line */
} args;

typedef enum args_outcome {
    ARGS_RUN,
    ARGS_HELP, /**< on `command`, or on dkmap when that is NULL */
    ARGS_VERSION,
    ARGS_NOTHING, /**< no arguments at all */
    ARGS_WRONG,   /**< see `complaint` */
    ARGS_FAILED   /**< the same: not wrong, but the file of --config cannot be read */
} args_outcome;

/** How the file of --config is read: its text, the same on every rank. */
typedef struct config_loader {
    /** @param[in]  a      the command line so far
     *  @param[out] text   from malloc, owned by the caller; NULL on failure
     *  @param[out] error  one line, of CONFIG_ERROR bytes
     *  @return 1, or 0 with an error */
    int (*load)(void *user, const args *a, const char *path, char **text, size_t *bytes,
                char *error);
    void *user;
} config_loader;

/** Read a command line. Needs no MPI but where @p loader does. args_free() frees what it holds,
 *  whatever came out.
 *  @param[in] loader  NULL: no file is read */
args_outcome args_read(args *a, int argc, char **argv, const config_loader *loader);
void args_free(args *a);

/** The k-th value of the option @p name; NULL past the last. An option that is not given has its
 *  default as its only value, if it has one. */
const value *args_value(const args *a, const char *name, int k);
/** How many values that option has. */
int args_count(const args *a, const char *name);

/** The value of an option that is given once or has a default; for text, NULL when neither. */
const char *args_text(const args *a, const char *name);
double args_real(const args *a, const char *name);
int64_t args_int(const args *a, const char *name);
int args_flag(const args *a, const char *name);

/** Whether an option is on the command line. */
int args_given(const args *a, const char *name);

/** Whether communication is counted: by --count-comm or by a command that always does. */
int args_counts_comm(const args *a);

/** Whether an option has another value than it has when it is not given. */
int args_changed(const args *a, const char *name);

/** Whether the command has an option @p name at all. */
int args_accepts(const args *a, const char *name);

#endif
