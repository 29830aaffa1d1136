/** @file help.h  Help, made from the tables of the commands. */
#ifndef DKMAP_CLI_CORE_HELP_H
#define DKMAP_CLI_CORE_HELP_H

#include <stdio.h>

#include "cli/core/option.h"

/** Help on a command, or on dkmap when @p c is NULL. */
void help_print(FILE *out, const command *c);

/** Three lines for someone who typed nothing. */
void help_usage(FILE *out);

#endif
