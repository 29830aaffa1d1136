#include "cli/commands/commands.h"

static const command *const methods[] = {&command_bench_gram,   &command_bench_cholesky,
                                         &command_bench_ridge,  &command_bench_eigen,
                                         &command_bench_kde,    &command_bench_jkm,
                                         &command_bench_string, &command_bench_calibrate,
                                         &command_bench_comm,   0};

const command command_bench = {
    .name = "bench",
    .summary = "measure how fast the parts of dkmap are on this machine",
    .about = "Each method times one part on generated objects, checks its result, and holds its "
             "rate against that of plain matrix products in the same run. With --record every "
             "repeat leaves one JSON line.",
    .example = "mpirun -np 4 dkmap bench gram --n 16000 --record bench.jsonl",
    .methods = methods,
};
