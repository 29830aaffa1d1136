/** @file blas_memory.h  The buffers of the BLAS library, taken before everything else. */
#ifndef DKMAP_BLAS_MEMORY_H
#define DKMAP_BLAS_MEMORY_H

#include <dkmap/context.h>

DKM_API_BEGIN

/** Let the BLAS library take its buffers now, for as many threads as dkm_ctx_set_threads() says.
 *
 *  OpenBLAS takes a buffer of 128 MiB for each thread when it is first needed, and tries for ever
 *  where it cannot have one, as under a limit on address space (ulimit -v): the other ranks would
 *  wait as long. A program that may run so calls this before it allocates much.
 *
 *  It also makes OpenBLAS use kernels for the instructions of the processor where that is newer than
 *  the library, which would take those of one without AVX2; set OPENBLAS_CORETYPE to choose
 *  others. No thread of the process may be in the BLAS. Collective; without OpenBLAS it does nothing.
 *
 *  @return DKM_OK; DKM_ERR_MEMORY when a rank cannot have the buffers
 */
DKM_NODISCARD dkm_status dkm_blas_reserve(dkm_ctx *ctx);

DKM_API_END

#endif
