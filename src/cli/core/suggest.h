/** @file suggest.h  What someone who typed a wrong word may have meant. */
#ifndef DKMAP_CLI_CORE_SUGGEST_H
#define DKMAP_CLI_CORE_SUGGEST_H

#include "cli/core/option.h"

/** The option of @p c nearest to @p name (of @p length letters); NULL if it has none. */
const option *suggest_option(const command *c, const char *name, size_t length);

/** The word of a list of commands nearest to @p word. */
const char *suggest_command(const command *const *list, const char *word);

#endif
