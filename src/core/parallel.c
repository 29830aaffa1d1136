#include "core/parallel.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

static int thread_number(void)
{
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

void dkm_parallel_for(int threads, dkm_idx count, dkm_parallel_body *body, void *user)
{
    if (threads <= 1 || count <= 1) {
        for (dkm_idx k = 0; k < count; k++)
            body(user, k, 0);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (dkm_idx k = 0; k < count; k++)
        body(user, k, thread_number());
}

void dkm_wavefront(int threads, dkm_idx rows, dkm_idx cols, dkm_wavefront_body *body, void *user)
{
    if (threads <= 1 || rows <= 1 || cols <= 1) {
        for (dkm_idx j = 0; j < cols; j++)
            for (dkm_idx i = 0; i < rows; i++)
                body(user, i, j);
        return;
    }
#pragma omp parallel num_threads(threads)
    for (dkm_idx d = 0; d < rows + cols - 1; d++) {
        dkm_idx from = d < cols ? 0 : d - cols + 1, to = d < rows ? d + 1 : rows;
#pragma omp for schedule(dynamic, 1)
        for (dkm_idx i = from; i < to; i++)
            body(user, i, d - i);
    }
}
