#include "cli/commands/commands.h"

static const command *const problems[] = {&command_gen_regression,
                                          &command_gen_identity,
                                          &command_gen_swissroll,
                                          &command_gen_strings,
                                          &command_gen_switching,
                                          &command_gen_rotating,
                                          &command_gen_faces,
                                          &command_gen_noise,
                                          &command_gen_smooth,
                                          &command_gen_sample,
                                          0};

const command command_gen = {
    .name = "gen",
    .summary = "make the data of a problem with a known answer",
    .about =
        "Files are a function of the seed and the options alone: any number of ranks makes the "
        "same.",
    .example = "mpirun -np 4 dkmap gen regression --n 1000000 --seed 1 --out-dir big",
    .methods = problems,
};
