/** @file fixture_problem.h  Dense rows with a kernel that is prepared for them, on a grid. */
#ifndef DKMAP_FIXTURE_PROBLEM_H
#define DKMAP_FIXTURE_PROBLEM_H

#include <dkmap/grid.h>
#include <dkmap/kernel.h>

#include "support/fixture_objects.h"

typedef struct gram_problem {
    dkm_grid *grid;
    dkm_data *X;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
} gram_problem;

/** m x d rows of @p value, on a grid of P rows of ranks (0: the near-square one). Collective;
 *  gram_problem_close() frees, also after a failure. */
dkm_status gram_problem_open(gram_problem *p, dkm_ctx *ctx, int P, dkm_idx m, dkm_idx d,
                             object_value value, const char *kernel);
void gram_problem_close(gram_problem *p);

#endif
