/** @file commands.h  The commands, one file each. */
#ifndef DKMAP_CLI_COMMANDS_H
#define DKMAP_CLI_COMMANDS_H

#include "option.h"

extern const command command_fit, command_fit_krr, command_fit_kpca, command_fit_kde,
    command_fit_knn, command_predict, command_encode, command_eig, command_score, command_gram,
    command_align, command_info;
extern const command command_bench, command_bench_gram, command_bench_cholesky, command_bench_ridge,
    command_bench_eigen, command_bench_string;

#endif
