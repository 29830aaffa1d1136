/** @file multivec_state.h  Multivectors as parts of a checkpoint. */
#ifndef DKMAP_SOLVERS_OPERATORS_MULTIVEC_STATE_H
#define DKMAP_SOLVERS_OPERATORS_MULTIVEC_STATE_H

#include "io/archive/archive.h"
#include "matrix/multivec.h"

/** The columns in use as a part of a state, m rows in all; the slab is borrowed. Local. */
DKM_NODISCARD dkm_local dkm_multivec_save(dkm_archive *state, const char *name, dkm_idx m,
                                          const dkm_multivec *slab);
/** Those columns again, into a slab with room for them. Local.
 *  @return ok; DKM_ERR_FORMAT when there is no room; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_multivec_restore(const dkm_archive *state, const char *name,
                                             dkm_multivec *slab);

#endif
