/** @file bench_rounds.h  How fast the rounds of a joint kernel map go. */
#ifndef DKMAP_CLI_BENCH_ROUNDS_H
#define DKMAP_CLI_BENCH_ROUNDS_H

#include "run.h"

/** Seconds in which a joint map with a Gram matrix of order @p m is applied to its examples once,
 *  its outputs having @p classes coordinates: a mean over some rounds. Collective. */
DKM_NODISCARD
dkm_status bench_rounds(run *r, dkm_idx m, dkm_idx classes, double *seconds);

#endif
