#define _GNU_SOURCE /* for MAP_ANONYMOUS */
#include <dkmap/blas_memory.h>

#include <sys/mman.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"

#define BUFFER_BYTES ((size_t)128 << 20) /* of OpenBLAS on x86-64, for each thread */
#define STACK_BYTES  ((size_t)10 << 20)  /* of each further thread, and what comes with it */
#define ORDER        256                 /* of a product that is not too small for a buffer */

/* Whether so much address space is to be had: taken and given back. */
static int has_memory(size_t bytes)
{
    void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

static dkm_local check_memory(dkm_ctx *ctx)
{
    size_t threads = (size_t)dkm_ctx_threads(ctx);
    size_t bytes = threads * BUFFER_BYTES + threads * STACK_BYTES;

    if (has_memory(bytes))
        return DKM_LOCAL_OK;
    return dkm_error_user(
        ctx, DKM_ERR_MEMORY,
        "rank %d cannot have the %zu MiB that OpenBLAS needs for %zu thread(s): is there "
        "a limit on address space (ulimit -v)? Raise it, or use fewer threads",
        dkm_ctx_rank(ctx), bytes >> 20, threads);
}

/* A product makes OpenBLAS take its buffers, which it keeps until the process ends. */
static dkm_local take_buffers(dkm_ctx *ctx)
{
    static int threads_before;
    dkm_local local;
    double *a = NULL, *c;

    if (!dkm_blas_takes_buffers() || dkm_ctx_threads(ctx) <= threads_before)
        return DKM_LOCAL_OK;
    local = check_memory(ctx);
    if (local.code == DKM_OK)
        local = dkm_calloc(ctx, 2 * ORDER * ORDER, &a);
    if (local.code != DKM_OK)
        return local;
    c = a + ORDER * ORDER;
    dkm_blas_use_threads(ctx);
    dkm_blas_gemm(DKM_F64, 'N', 'N', ORDER, ORDER, ORDER, 1.0, a, ORDER, a, ORDER, 0.0, c, ORDER);
    threads_before = dkm_ctx_threads(ctx);
    DKM_FREE(a);
    return DKM_LOCAL_OK;
}

dkm_status dkm_blas_reserve(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;

    if (dkm_blas_choose_core())
        dkm_log(ctx, DKM_DEBUG, "OpenBLAS does not know this processor: using its kernels for %s",
                dkm_blas_core());
    DKM_AGREE(ctx, take_buffers(ctx));
    dkm_blas_use_threads(ctx);
out:
    return status;
}
