#include "cli/commands/commands.h"

const command *const commands[] = {&command_fit,     &command_cv,
                                   &command_predict, &command_append,
                                   &command_forget,  &command_encode,
                                   &command_decode,  &command_score,
                                   &command_gram,    &command_align,
                                   &command_eig,     &command_montage,
                                   &command_gen,     &command_extend,
                                   &command_embed,   &command_bench,
                                   &command_plan,    &command_export,
                                   &command_info,    &command_report,
                                   &command_doctor,  0};
