/** @file value.h  One value of an option: its text and what the text means. */
#ifndef DKMAP_CLI_CORE_VALUE_H
#define DKMAP_CLI_CORE_VALUE_H

#include "cli/core/option.h"

typedef struct value {
    const option *option;
    const char *text;
    double real;     /**< of OPT_REAL; of OPT_TIME in seconds, of OPT_BYTES */
    int64_t integer; /**< of OPT_INT; of OPT_CHOICE its index among the choices */
    int P, Q;        /**< of OPT_GRID */
    int range;       /**< which of the ranges on the command line it comes from; 0: none */
} value;

/** Read @p text as a value of @p o; that of a flag is not looked at.
 *  @return 1, or 0 when it is not one */
int value_parse(const option *o, const char *text, value *v);

#endif
