/** @file blas_memory.h  What the BLAS library needs before everything else: kernels for this
 *  processor, and its buffers. */
#ifndef DKMAP_BLAS_MEMORY_H
#define DKMAP_BLAS_MEMORY_H

#include <dkmap/context.h>

DKM_API_BEGIN

/** Let OpenBLAS use kernels for the instructions of the processor where that is newer than the
 *  library, which would take those of one without AVX2; set OPENBLAS_CORETYPE to choose others.
 *
 *  Local. No other thread of the process may be in the BLAS.
 *
 *  @return whether kernels were changed; 0 without OpenBLAS
 */
int dkm_blas_choose_core(void);

/** Let the BLAS library take its buffers now, for as many threads as dkm_ctx_set_threads() says.
 *
 *  OpenBLAS takes a buffer of 128 MiB for each thread when it is first needed, and tries for ever
 *  where it cannot have one, as under a limit on address space (ulimit -v): the other ranks would
 *  wait as long. A program that may run so calls this before it allocates much.
 *
 *  It calls dkm_blas_choose_core() first: no other thread of the process may be in the BLAS.
 *
 *  Collective; without OpenBLAS it does nothing.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *
 *  @return DKM_OK; DKM_ERR_MEMORY when a rank cannot have the buffers
 */
DKM_NODISCARD dkm_status dkm_blas_reserve(dkm_ctx *ctx);

DKM_API_END

#endif
