/** @file qp_checkpoint.h  A quadratic program as a part of a state.
 *
 *  The Gram matrix and the factor of the active set go to the file as they are: what is computed
 *  anew may round otherwise, and a later run would take other steps.
 */
#ifndef DKMAP_SOLVERS_QP_QP_CHECKPOINT_H
#define DKMAP_SOLVERS_QP_QP_CHECKPOINT_H

#include "io/archive/archive.h"
#include "solvers/qp/distributed.h"

/** Add the program of rank 0 to a state: G, and its active set. Collective.
 *
 *  @param[in]  spread  who has the rows of G; NULL where rank 0 does
 *  @param[in]  n     constraints, known to every rank
 *  @param[out] rows  what the state borrows; to be freed after it was saved, also on failure
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_qp_save(const dkm_qp *qp, const dkm_qp_distributed *spread, dkm_idx n,
                                     dkm_archive *state, double **rows);

/** Fill the empty program of rank 0, or the rows of @p spread, from a state; b, a and groups are
 * still to be set. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_IO; DKM_ERR_FORMAT */
DKM_NODISCARD dkm_status dkm_qp_restore(dkm_qp *qp, const dkm_qp_distributed *spread, dkm_idx n,
                                        const dkm_archive *state);

#endif
