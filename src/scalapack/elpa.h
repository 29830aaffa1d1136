/** @file elpa.h  ELPA's eigensolver, where dkmap was built with it. */
#ifndef DKMAP_ELPA_H
#define DKMAP_ELPA_H

#include <dkmap/dmat.h>

/** Whether ELPA is there. Local. */
int dkm_elpa_built_in(void);

/** What came of a call of ELPA. */
typedef struct dkm_elpa_outcome {
    int refused; /**< it could not be set up on some rank: A is as it was. The same on every rank */
    int info;    /**< ELPA's own code on ranks in the grid, 0 elsewhere */
} dkm_elpa_outcome;

/** A = Z diag(values) Z' by the one-stage solver; both triangles of A are read, and destroyed
 * unless it refused.
 *
 *  Collective on all ranks of the grid's context.
 */
void dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, dkm_elpa_outcome *outcome);

#endif
