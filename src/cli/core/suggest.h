/** @file suggest.h  What a misspelled word was meant to be. */
#ifndef DKMAP_CLI_CORE_SUGGEST_H
#define DKMAP_CLI_CORE_SUGGEST_H

#include "cli/core/option.h"

enum { SUGGESTION = 64 };

/** The name of the option of @p c nearest to @p name, of @p length letters; "" where none is near.
 */
void suggest_option(const command *c, const char *name, size_t length, char out[SUGGESTION]);

/** The word of the command below @p c (of all, where that is NULL) nearest to @p word;
 *  "" where none is near. */
void suggest_command(const command *c, const char *word, char out[SUGGESTION]);

#endif
