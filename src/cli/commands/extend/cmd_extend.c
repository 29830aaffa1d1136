#include "cli/commands/commands.h"

static const command *const methods[] = {&command_extend_fit, &command_extend_apply,
                                         &command_extend_combine, &command_extend_complete, 0};

const command command_extend = {
    .name = "extend",
    .summary = "carry a kernel that is known on some objects to others",
    .about = "A kernel matrix K and features F of its objects give Q such that F Q F' is nearest "
             "to K; f(x)'Q f(x') is then a kernel on all objects whose features are known.",
    .example = "mpirun -np 4 dkmap extend fit --gram k.npy --features phi.npy -o q.h5",
    .methods = methods,
};
