/** @file symmetrize.h  One triangle of a distributed matrix copied to the other. */
#ifndef DKMAP_MATRIX_SYMMETRIZE_H
#define DKMAP_MATRIX_SYMMETRIZE_H

#include <dkmap/dmat.h>

/** Make a square matrix symmetric in place: copy its strict triangle @p uplo ('L' or 'U') to the
 *  other side. Blocks must be square. Collective on the context of the grid.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_dmat_symmetrize(char uplo, dkm_dmat *A);

#endif
