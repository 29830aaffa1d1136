/** @file bench_iterations.h  How fast the rounds of a joint kernel map go. */
#ifndef DKMAP_CLI_BENCH_BENCH_ITERATIONS_H
#define DKMAP_CLI_BENCH_BENCH_ITERATIONS_H

#include "cli/core/run.h"

enum { BENCH_FEATURES = 8 }; /**< columns of the inputs */

/** Seconds of a joint map with a Gram matrix of order m. */
typedef struct bench_joint {
    double start; /**< until its rounds begin: the matrix, and the memory it takes */
    double apply; /**< applied to its examples once, a mean over some rounds */
} bench_joint;

/** Time a joint map whose outputs have @p classes coordinates. Collective. */
DKM_NODISCARD dkm_status bench_rounds(run *r, dkm_idx m, dkm_idx classes, bench_joint *seconds);

#endif
