/** @file option.h  What a command accepts, written as tables.
 *
 *  A table of options is a table of settings (dkmap/settings.h); it ends with an empty row and may
 * be shared by many commands. A command is one struct. Commands that take a method have the options
 *  of its settings, and one command below them for each method that they serve. Parsing, help and
 *  the record of a run are all made from these: a new option is one row, a new command one struct
 *  and one line in a list.
 */
#ifndef DKMAP_CLI_CORE_OPTION_H
#define DKMAP_CLI_CORE_OPTION_H

#include <dkmap/method.h>
#include <dkmap/status.h>

typedef dkm_setting option;

#define OPT_TEXT     DKM_SETTING_TEXT
#define OPT_REAL     DKM_SETTING_REAL
#define OPT_INT      DKM_SETTING_INT
#define OPT_CHOICE   DKM_SETTING_CHOICE
#define OPT_GRID     DKM_SETTING_GRID
#define OPT_BYTES    DKM_SETTING_BYTES
#define OPT_TIME     DKM_SETTING_TIME
#define OPT_FLAG     DKM_SETTING_FLAG
#define OPT_REQUIRED DKM_SETTING_REQUIRED
#define OPT_REPEATED DKM_SETTING_REPEATED
#define OPT_LIST     DKM_SETTING_LIST
#define OPT_SEARCH   DKM_SETTING_SEARCH
#define OPT_HIDDEN   DKM_SETTING_HIDDEN
#define OPT_OF_ARFF  256 /* counts the label columns of ARFF files */

struct run;

enum { COMMAND_TABLES = 5, COMMAND_NAME = 48 };

typedef struct command {
    const char *name;         /**< in full: "predict", "fit krr" */
    const dkm_method *method; /**< whose options come before those of the tables, and whose summary
                                 and paragraph stand in for the command's; or NULL */
    const char *summary;      /**< one line */
    const char *about;        /**< a paragraph for `help COMMAND`, or NULL */
    const char *example;      /**< of a command with a method: what follows the method's example */
    const char
        *positionals; /**< names of the arguments without dashes, separated by blanks, or NULL;
                      "..." at the end lets more follow */
    int counts_comm;  /**< counts communication whether --count-comm is given or not */
    int sweeps;       /**< tries several settings: OPT_SEARCH options take lists */
    const option *tables[COMMAND_TABLES]; /**< the last one is NULL */
    dkm_status (*run)(struct run *run);
    const struct command *const *methods; /**< of a command of commands, ended by NULL */
    const struct command *each;           /**< of a command of methods: what it is with a method */
    int (*serves)(const dkm_method *method); /**< of a command of methods: whether it takes one */
} command;

/** A command below another one: `fit krr` below `fit`. */
typedef struct subcommand {
    command command;
    char name[COMMAND_NAME];
} subcommand;

/** Every command, ended by NULL. */
extern const command *const commands[];

/** Options of every command that computes, and of every command. */
extern const option compute_options[];
extern const option report_options[];

/** The option of @p c called @p name (of @p length letters), by any of its names, or by its letter;
 *  NULL if none. */
const option *option_find(const command *c, const char *name, size_t length);
const option *option_by_letter(const command *c, char letter);

/** The k-th option of a command: the examples of its method, the method's settings, and all its own
 *  tables; NULL past the end. */
const option *option_at(const command *c, int k);

/** What an option is for. */
const char *option_help(const command *c, const option *o);

/** What stands for the value of an option; "" for one that takes none. */
const char *option_hint(const option *o);

/** How an option is written: "-o" where a letter stands for a value, else "--name". */
void option_label(const option *o, char *out, size_t size);

/** One line about a command. */
const char *command_summary(const command *c);

/** A paragraph about a command, or NULL. */
const char *command_about(const command *c);

/** The last word of a command's name: "krr" of "fit krr". */
const char *command_word(const command *c);

/** Whether there are commands below it. */
int command_is_group(const command *c);

/** The k-th command below @p c, or of all where that is NULL.
 *  @return 1, or 0 past the last; then @p below is not touched */
int command_below(const command *c, int k, subcommand *below);

/** The command below @p c, or of all where that is NULL, that is called @p word.
 *  @return 1, or 0 if there is none */
int command_find(const command *c, const char *word, subcommand *below);

#endif
