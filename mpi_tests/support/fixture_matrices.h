/** @file fixture_matrices.h  Distributed matrices for tests, filled and compared entry by entry. */
#ifndef DKMAP_FIXTURE_MATRICES_H
#define DKMAP_FIXTURE_MATRICES_H

#include "matrix/dmat_impl.h"

/** A number between -0.5 and 0.5 that depends on its place alone; for dkm_dmat_fill(). */
double matrix_noise(void *user, dkm_idx ig, dkm_idx jg);

/** A matrix in blocks of eight, filled where @p value is given. Collective. */
dkm_status matrix_make(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_precision precision,
                       double (*value)(void *, dkm_idx, dkm_idx), dkm_dmat **A);

/** The largest difference of local entries, of the lower triangle alone if so told. Local. */
double matrix_gap(const dkm_dmat *A, const dkm_dmat *B, int lower);

#endif
