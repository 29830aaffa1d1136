/** @file gram_problem.h  The objects of --x, and square matrices that have a row and a column for
 * each.
 */
#ifndef DKMAP_CLI_OPTIONS_GRAM_PROBLEM_H
#define DKMAP_CLI_OPTIONS_GRAM_PROBLEM_H

#include <dkmap/kernel.h>

#include "cli/core/run.h"

typedef struct gram_problem {
    run *r;
    dkm_grid *grid;
    dkm_data *X;
    dkm_idx m, nb; /**< order of the matrices, and their block size */
} gram_problem;

/** Read --x and make a grid for its matrices. Collective; square_close() frees what it holds, also
 *  after a failure. */
DKM_NODISCARD dkm_status gram_problem_open(gram_problem *s, run *r);

/** The Gram matrix of the objects, lower triangle. Collective. */
DKM_NODISCARD dkm_status gram_problem_gram(const gram_problem *s, const dkm_kernel *kernel,
                                           dkm_dmat **K);

/** Read what the option @p where says of the objects: a file of as many as there are. Collective.
 *  @return as of dkm_data_read(); DKM_ERR_ARG naming both files and numbers */
DKM_NODISCARD dkm_status gram_problem_read_beside(const gram_problem *s, const char *where,
                                                  const char *type, dkm_role role, dkm_data **data);

void gram_problem_close(gram_problem *s);

#endif
