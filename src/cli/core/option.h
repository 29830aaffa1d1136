/** @file option.h  What a command accepts, written as tables.
 *
 *  A table of options ends with an empty row and may be shared by many commands; a command is one
 *  struct. Parsing, help and the record of a run are all made from these: a new option is one row,
 *  a new command one struct and one line in a list.
 */
#ifndef DKMAP_CLI_CORE_OPTION_H
#define DKMAP_CLI_CORE_OPTION_H

#include <dkmap/status.h>

typedef enum option_kind {
    OPT_TEXT,
    OPT_REAL,
    OPT_WHOLE, /**< an integer from `least` to `most` */
    OPT_WORD,  /**< one of `choices` */
    OPT_GRID,  /**< two positive integers, PxQ */
    OPT_BYTES, /**< a number of bytes, or one with k, M, G or T behind it */
    OPT_TIME,  /**< seconds, or a number with s, m, h or d behind it */
    OPT_FLAG   /**< takes no value */
} option_kind;

enum {
    OPT_REQUIRED = 1,
    OPT_REPEATED = 2, /**< may be given more than once */
    OPT_LIST = 4,     /**< a value may be several, separated by commas */
    OPT_SEARCH = 8    /**< so it may in a command that searches over settings */
};

typedef struct option {
    const char *name; /**< without the dashes; NULL ends a table */
    char letter;      /**< of the short form, or 0 */
    option_kind kind;
    int flags;
    const char *metavar; /**< stands for the value in the help; option_hint() has one for all */
    const char *help;
    const char *default_text; /**< the value when none is given, or NULL */
    const char *choices;      /**< of OPT_WORD, each followed by '|' */
    int64_t least, most;      /**< of OPT_WHOLE; a most of 0 is no bound */
} option;

struct run;
typedef struct method method; /* see method.h */

enum { COMMAND_TABLES = 4 };

typedef struct command {
    const char *name;     /**< in full: "predict", "fit krr" */
    const method *method; /**< whose options come before those of the tables, and whose summary and
                             paragraph stand in for the command's; or NULL */
    const char *summary;  /**< one line */
    const char *about;    /**< a paragraph for `help COMMAND`, or NULL */
    const char *example;  /**< of a command with a method: what follows the method's arguments */
    const char
        *positionals; /**< names of the arguments without dashes, separated by blanks, or NULL;
                      "..." at the end lets more follow */
    int sweeps;       /**< tries several settings: OPT_SWEEP options take lists */
    const option *tables[COMMAND_TABLES]; /**< the last one is NULL */
    dkm_status (*run)(struct run *run);
    const struct command *const *methods; /**< of a command of commands, ended by NULL */
} command;

/** Every command, ended by NULL. */
extern const command *const commands[];

/** Options of every command that computes, and of every command. */
extern const option compute_options[];
extern const option report_options[];

/** The option of @p c called @p name (of @p length letters), or by its letter; NULL if none. */
const option *option_find(const command *c, const char *name, size_t length);
const option *option_by_letter(const command *c, char letter);

/** The k-th option of a command, through its method's table and all its own; NULL past the end. */
const option *option_at(const command *c, int k);

/** What stands for the value of an option; "" for one that takes none. */
const char *option_hint(const option *o);

/** How an option is written: "-o" where a letter stands for a value, else "--name". */
void option_label(const option *o, char *out, size_t size);

/** One line about a command. */
const char *command_summary(const command *c);

/** The last word of a command's name: "krr" of "fit krr". */
const char *command_word(const command *c);

/** The command of a list that is called @p word; NULL if none. */
const command *command_find(const command *const *list, const char *word);

#endif
