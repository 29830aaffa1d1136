/** @file help_formats.h  The help of all commands in other forms: manual pages, Markdown, and
 *  completion for a shell. All of it is made from the tables of options. */
#ifndef DKMAP_CLI_CORE_HELP_FORMATS_H
#define DKMAP_CLI_CORE_HELP_FORMATS_H

#include <stdio.h>

#include "cli/core/option.h"

/** A manual page of a command, or of dkmap where that is NULL, in roff. */
void help_man(FILE *out, const command *c);

/** A section of a command, or of all where that is NULL, in Markdown. */
void help_markdown(FILE *out, const command *c);

/** A script for bash that completes commands, methods, options and their choices. */
void help_completion(FILE *out);

/** The names of all commands, one a line: "fit", "fit krr", ... */
void help_names(FILE *out);

#endif
