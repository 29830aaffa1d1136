#include "commands.h"

const command *const commands[] = {
    &command_fit,   &command_predict, &command_encode, &command_score, &command_gram,
    &command_align, &command_eig,     &command_bench,  &command_info,  0};
