/** @file parse.h  From words to a command, its values and its positional arguments. For args.c
 * only. */
#ifndef DKMAP_CLI_CORE_PARSE_H
#define DKMAP_CLI_CORE_PARSE_H

#include "cli/core/args.h"

/** Read the arguments into @p a, which is empty but has space for as many positional arguments. They
 * are cut in place where they hold `=` or lists, and must outlive @p a. */
args_outcome parse(args *a, int argc, char **argv, const config_loader *loader);

#endif
