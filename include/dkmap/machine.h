/** @file machine.h  What the ranks of this process's node run on. */
#ifndef DKMAP_MACHINE_H
#define DKMAP_MACHINE_H

#include <dkmap/context.h>

DKM_API_BEGIN

/** Log, at the level DKM_DEBUG, the instruction set of the vector kernels, and for each rank on the
 *  node of rank 0 its threads and the cores that it may use.
 *
 *  Collective.
 *
 *  @return DKM_OK; DKM_ERR_ARG where DKMAP_SIMD in the environment of some rank is not baseline,
 *          avx2 or avx512, or an instruction set that its processor lacks
 */
DKM_NODISCARD dkm_status dkm_machine_report(dkm_ctx *ctx);

DKM_API_END

#endif
