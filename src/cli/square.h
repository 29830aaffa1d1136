/** @file square.h  The objects of --x, and square matrices that have a row and a column for each.
 */
#ifndef DKMAP_CLI_SQUARE_H
#define DKMAP_CLI_SQUARE_H

#include <dkmap/kernel.h>

#include "run.h"

typedef struct square {
    run *r;
    dkm_grid *grid;
    dkm_data *X;
    dkm_idx m, nb; /**< order of the matrices, and their block size */
} square;

/** Read --x and make a grid for its matrices. Collective; square_close() frees what it holds, also
 *  after a failure. */
DKM_NODISCARD
dkm_status square_open(square *s, run *r);

/** The Gram matrix of the objects, lower triangle. Collective. */
DKM_NODISCARD
dkm_status square_gram(const square *s, const dkm_kernel *kernel, dkm_dmat **K);

/** Read what the option @p where says of the objects: a file of as many as there are. Collective.
 *  @return as of dkm_data_read(); DKM_ERR_ARG naming both files and numbers */
DKM_NODISCARD
dkm_status square_read_beside(const square *s, const char *where, const char *type, dkm_role role,
                              dkm_data **data);

void square_close(square *s);

#endif
