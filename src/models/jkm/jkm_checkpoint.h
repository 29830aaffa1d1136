/** @file jkm_checkpoint.h  The iterations of a joint kernel map, left to a later run and taken up
 * by it. */
#ifndef DKMAP_MODELS_JKM_JKM_CHECKPOINT_H
#define DKMAP_MODELS_JKM_JKM_CHECKPOINT_H

#include "models/jkm/jkm_cutting_plane.h"

/** Leave the state after an iteration, where that is due. Collective.
 *  @param[in] dual  objective of the last program
 *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end here; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_cutting_plane_save(const dkm_cutting_plane *loop, double dual);

/** Go on after the last iteration that a run before left, if there is one. Collective.
 *  @param[in,out] dual  as above; stays as it is where there is no state */
DKM_NODISCARD
dkm_status dkm_cutting_plane_resume(dkm_cutting_plane *loop, double *dual);

#endif
