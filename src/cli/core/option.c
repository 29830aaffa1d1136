#include "cli/core/option.h"

#include <stdio.h>
#include <string.h>

#include "cli/methods/method.h"
#include "cli/options/common_options.h"

const option compute_options[] = {
    ROW_SVM_BASE,
    {.name = "grid",
     .kind = OPT_GRID,
     .metavar = "PxQ",
     .help = "process grid; near-square over all ranks when not given"},
    {.name = "block",
     .kind = OPT_WHOLE,
     .metavar = "NB",
     .help = "block size of distributed matrices; 0 chooses",
     .default_text = "0"},
    {.name = "seed",
     .kind = OPT_WHOLE,
     .metavar = "S",
     .help = "seed of every random choice",
     .default_text = "0"},
    {.name = "threads",
     .kind = OPT_WHOLE,
     .metavar = "T",
     .most = 65536,
     .help = "threads a rank; 0 shares the cores of a node among its ranks",
     .default_text = "0"},
    {.name = "factor",
     .kind = OPT_WORD,
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
    {.name = "verbose", .letter = 'v', .kind = OPT_FLAG, .help = "more about what is going on"},
    {.name = "help", .letter = 'h', .kind = OPT_FLAG, .help = "this help"},
    {0}};

/* The k-th row of a table; k loses the number of rows there are. */
static const option *option_row_at(const option *table, int *k)
{
    for (; table->name; table++)
        if ((*k)-- == 0)
            return table;
    return NULL;
}

const option *option_at(const command *c, int k)
{
    const option *found = c->method ? option_row_at(c->method->options, &k) : NULL;

    for (int t = 0; !found && t < COMMAND_TABLES && c->tables[t]; t++)
        found = option_row_at(c->tables[t], &k);
    return found;
}

const option *option_find(const command *c, const char *name, size_t length)
{
    const option *o;

    for (int k = 0; (o = option_at(c, k)); k++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
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

const char *command_summary(const command *c)
{
    return c->summary || !c->method ? c->summary : c->method->summary;
}

const char *command_word(const command *c)
{
    const char *blank = strrchr(c->name, ' ');

    return blank ? blank + 1 : c->name;
}

const command *command_find(const command *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(command_word(*list), word) == 0)
            return *list;
    return NULL;
}

const char *option_hint(const option *o)
{
    if (o->metavar)
        return o->metavar;
    return o->kind == OPT_FLAG ? "" : o->kind == OPT_WORD ? "WORD" : "VALUE";
}

void option_label(const option *o, char *out, size_t size)
{
    if (o->letter && o->kind != OPT_FLAG)
        snprintf(out, size, "-%c", o->letter);
    else
        snprintf(out, size, "--%s", o->name);
}
