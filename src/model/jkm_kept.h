/** @file jkm_kept.h  The rounds of a joint kernel map, left to a later run and taken up by it. */
#ifndef DKMAP_JKM_KEPT_H
#define DKMAP_JKM_KEPT_H

#include "model/jkm_loop.h"

/** Leave the state after a round, where that is due. Collective.
 *  @param[in] dual  objective of the last program
 *  @return DKM_OK; DKM_ERR_STOPPED when the run is to end here; DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status dkm_jkm_loop_leave(const dkm_jkm_loop *loop, double dual);

/** Go on after the last round that a run before left, if there is one. Collective.
 *  @param[in,out] dual  as above; stays as it is where there is no state */
DKM_NODISCARD
dkm_status dkm_jkm_loop_take_up(dkm_jkm_loop *loop, double *dual);

#endif
