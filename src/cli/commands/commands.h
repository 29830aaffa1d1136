/** @file commands.h  The commands, one file each. */
#ifndef DKMAP_CLI_COMMANDS_COMMANDS_H
#define DKMAP_CLI_COMMANDS_COMMANDS_H

#include "cli/core/option.h"

extern const command command_fit, command_cv, command_predict, command_encode, command_decode,
    command_append, command_forget, command_eig, command_score, command_gram, command_align,
    command_info, command_montage;
extern const command command_gen, command_gen_regression, command_gen_identity,
    command_gen_swissroll, command_gen_strings, command_gen_switching, command_gen_rotating,
    command_gen_faces, command_gen_noise, command_gen_smooth, command_gen_sample;
extern const command command_embed, command_embed_lle;
extern const command command_extend, command_extend_fit, command_extend_apply,
    command_extend_combine, command_extend_complete;
extern const command command_bench, command_bench_gram, command_bench_cholesky, command_bench_ridge,
    command_bench_kde, command_bench_eigen, command_bench_jkm, command_bench_string,
    command_bench_calibrate, command_bench_comm;
extern const command command_plan, command_export, command_report, command_doctor;

#endif
