/** @file elpa.h  ELPA's eigensolver, where dkmap was built with it. */
#ifndef DKMAP_ELPA_H
#define DKMAP_ELPA_H

#include <dkmap/dmat.h>

/** Whether ELPA is there. Local. */
int dkm_elpa_built_in(void);

/** A = Z diag(values) Z' by the one-stage solver; both triangles of A are read, and destroyed.
 *
 *  Collective on the grid. @p info is ELPA's own code on ranks in the grid, 0 elsewhere.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when dkmap was built without ELPA
 */
DKM_NODISCARD
dkm_status dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, int *info);

#endif
