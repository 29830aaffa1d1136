/** @file nearest.h  What someone who typed a wrong word may have meant. */
#ifndef DKMAP_CLI_NEAREST_H
#define DKMAP_CLI_NEAREST_H

#include "option.h"

/** The option of @p c nearest to @p name (of @p length letters); NULL if it has none. */
const option *nearest_option(const command *c, const char *name, size_t length);

/** The word of a list of commands nearest to @p word. */
const char *nearest_command(const command *const *list, const char *word);

#endif
