#include "cli/core/suggest.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 200 };

static void suggest_name(const char *name, size_t length, int count, const char *const *names,
                         char out[SUGGESTION])
{
    int nearest = dkm_nearest_name(name, length, count, names);

    snprintf(out, SUGGESTION, "%s", nearest < 0 ? "" : names[nearest]);
}

void suggest_option(const command *c, const char *name, size_t length, char out[SUGGESTION])
{
    const char *names[NAMES];
    const option *o;
    int count = 0;

    for (int k = 0; (o = option_at(c, k)) && count < NAMES; k++)
        if (!(o->flags & OPT_HIDDEN))
            names[count++] = o->name;
    suggest_name(name, length, count, names, out);
}

void suggest_command(const command *c, const char *word, char out[SUGGESTION])
{
    subcommand below[NAMES];
    const char *names[NAMES];
    int count = 0;

    for (; count < NAMES && command_below(c, count, &below[count]); count++)
        names[count] = command_word(&below[count].command);
    suggest_name(word, strlen(word), count, names, out);
}
