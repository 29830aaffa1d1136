#include "commands.h"

const command *const commands[] = {&command_fit, &command_score, &command_info, 0};
