#include "cli/core/option.h"

#include <stdio.h>
#include <string.h>

#include "cli/options/common_options.h"

const option compute_options[] = {
    ROW_SVM_BASE,
    {.name = "seed",
     .kind = OPT_INT,
     .metavar = "S",
     .help = "seed of every random choice",
     .default_text = "0"},
    {.name = "threads",
     .kind = OPT_INT,
     .metavar = "T",
     .max = 65536,
     .help = "threads per rank; 0 shares the cores of a node among its ranks, up to "
             "OMP_NUM_THREADS",
     .default_text = "0"},
    {.name = "factor",
     .kind = OPT_CHOICE,
     .metavar = "WORD",
     .choices = "auto|own|scalapack|",
     .default_text = "auto",
     .help = "the Cholesky factorization: dkmap's own, or p?potrf of ScaLAPACK"},
    {.name = "checkpoint",
     .kind = OPT_TEXT,
     .metavar = "DIR",
     .help = "save finished stages there, and how far long ones are; USR1 and TERM save and stop"},
    {.name = "resume",
     .kind = OPT_FLAG,
     .help = "go on from what --checkpoint DIR holds, on any number of ranks"},
    {.name = "checkpoint-every",
     .kind = OPT_TIME,
     .metavar = "TIME",
     .help = "time between two states of a stage, such as 90s or 10m; 0 saves whenever it can",
     .default_text = "5m"},
    {.name = "max-time",
     .kind = OPT_TIME,
     .metavar = "TIME",
     .help = "stop with a checkpoint before the run is this old, such as 23.5h; 0 is no limit",
     .default_text = "0"},
    {.name = "count-comm",
     .kind = OPT_FLAG,
     .help = "count bytes, messages and seconds in MPI of each phase, for the report and --record"},
    {.name = "record",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "append one JSON line about this run"},
    {0}};

const option report_options[] = {
    {.name = "quiet",
     .letter = 'q',
     .kind = OPT_FLAG,
     .help = "warnings only: no progress, no remarks"},
    {.name = "json",
     .kind = OPT_FLAG,
     .help = "results as one JSON object on standard output, and nothing else there"},
    {.name = "config",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "options from a file, YAML or TOML, by their names; the command line goes first"},
    {.name = "verbose", .letter = 'v', .kind = OPT_FLAG, .help = "more about what is going on"},
    {.name = "help", .letter = 'h', .kind = OPT_FLAG, .help = "this help"},
    {0}};

/* Where the examples of a method come from; the method says what they are. */
static const option x_row[] = {ROW_X(NULL), {0}};
static const option y_row[] = {ROW_Y(NULL), {0}};
static const option x_type_row[] = {ROW_X_TYPE, {0}};
static const option y_type_row[] = {ROW_Y_TYPE, {0}};

/* The k-th row of a table; k loses the number of rows there are. */
static const option *option_row_at(const option *table, int *k)
{
    for (; table->name; table++)
        if ((*k)-- == 0)
            return table;
    return NULL;
}

/* The same for the settings of a method that are options. */
static const option *option_setting_at(const dkm_method *method, int *k)
{
    const option *row;

    for (int s = 0; (row = dkm_method_setting(method, s)); s++)
        if (!(row->flags & OPT_HIDDEN) && (*k)-- == 0)
            return row;
    return NULL;
}

static const option *option_of_method(const dkm_method *method, int *k)
{
    int outputs = dkm_method_outputs(method) != NULL;
    const option *found = option_row_at(x_row, k);

    if (!found && outputs)
        found = option_row_at(y_row, k);
    if (!found)
        found = option_setting_at(method, k);
    if (!found)
        found = option_row_at(x_type_row, k);
    if (!found && outputs)
        found = option_row_at(y_type_row, k);
    return found;
}

const option *option_at(const command *c, int k)
{
    const option *found = c->method ? option_of_method(c->method, &k) : NULL;

    for (int t = 0; !found && t < COMMAND_TABLES && c->tables[t]; t++)
        found = option_row_at(c->tables[t], &k);
    return found;
}

const option *option_find(const command *c, const char *name, size_t length)
{
    const option *o;

    for (int k = 0; (o = option_at(c, k)); k++)
        if (dkm_setting_is_called(o, name, length))
            return o;
    return NULL;
}

const option *option_by_letter(const command *c, char letter)
{
    const option *o;

    for (int k = 0; (o = option_at(c, k)); k++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

const char *option_help(const command *c, const option *o)
{
    return o == x_row   ? dkm_method_inputs(c->method)
           : o == y_row ? dkm_method_outputs(c->method)
                        : o->help;
}

const char *command_summary(const command *c)
{
    return c->summary || !c->method ? c->summary : dkm_method_summary(c->method);
}

const char *command_about(const command *c)
{
    return c->about || !c->method ? c->about : dkm_method_about(c->method);
}

const char *command_word(const command *c)
{
    const char *blank = strrchr(c->name, ' ');

    return blank ? blank + 1 : c->name;
}

int command_is_group(const command *c)
{
    return c->methods || c->each;
}

/* The k-th method that a command serves. */
static const dkm_method *served_method(const command *c, int k)
{
    const dkm_method *method;

    for (int m = 0; (method = dkm_method_at(m)); m++)
        if (c->serves(method) && k-- == 0)
            return method;
    return NULL;
}

static int command_with_method(const command *c, int k, subcommand *below)
{
    const dkm_method *method = served_method(c, k);

    if (!method)
        return 0;
    snprintf(below->name, sizeof below->name, "%s %s", c->name, dkm_method_name(method));
    below->command = *c->each;
    below->command.name = below->name;
    below->command.method = method;
    return 1;
}

int command_below(const command *c, int k, subcommand *below)
{
    const command *const *list = c ? c->methods : commands;

    if (!list)
        return c->each && command_with_method(c, k, below);
    while (*list && k-- > 0)
        list++;
    if (*list)
        below->command = **list;
    return *list != NULL;
}

int command_find(const command *c, const char *word, subcommand *below)
{
    subcommand tried;

    for (int k = 0; command_below(c, k, &tried); k++)
        if (strcmp(command_word(&tried.command), word) == 0)
            return command_below(c, k, below);
    return 0;
}

const char *option_hint(const option *o)
{
    if (o->metavar)
        return o->metavar;
    return o->kind == OPT_FLAG ? "" : o->kind == OPT_CHOICE ? "WORD" : "VALUE";
}

void option_label(const option *o, char *out, size_t size)
{
    if (o->letter && o->kind != OPT_FLAG)
        snprintf(out, size, "-%c", o->letter);
    else
        snprintf(out, size, "--%s", o->name);
}
