/** @file elpa.h  ELPA's eigensolver, where dkmap was built with it. */
#ifndef DKMAP_LINALG_BACKEND_ELPA_H
#define DKMAP_LINALG_BACKEND_ELPA_H

#include <dkmap/dmat.h>

/** Whether ELPA is there. Local. */
int dkm_elpa_built_in(void);

/** What came of a call of ELPA; the same on every rank. */
typedef enum dkm_elpa_outcome {
    DKM_ELPA_DONE,
    DKM_ELPA_REFUSED, /**< it could not be set up on some rank: A is as it was */
    DKM_ELPA_FAILED   /**< it gave up on some rank: A is destroyed */
} dkm_elpa_outcome;

/** A = Z diag(values) Z' by the one-stage solver; both triangles of A are read, and destroyed
 *  unless it refused.
 *
 *  Collective on all ranks of the grid's context.
 */
dkm_elpa_outcome dkm_elpa_syevd(dkm_dmat *A, double *values, dkm_dmat *Z);

#endif
