#include "core/parallel.h"

#include <sched.h>
#include <stdatomic.h>

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

/* Turns of a loop that waits before it gives its core to others, which it may be waiting for. */
#define SPINS     2000
#define IN_FLIGHT 128 /* rows of blocks at a time, and most threads */

/* How far rows of blocks are, a line of cache each: row i has done (done - i cols) blocks. Rows end in
 * their order, so slots are used again for those that come IN_FLIGHT later. */
typedef struct wavefront {
    struct {
        _Alignas(64) _Atomic dkm_idx done;
    } row[IN_FLIGHT];
    _Atomic dkm_idx next;
    dkm_idx rows, cols;
    dkm_wavefront_body *body;
    void *user;
} wavefront;

static void wavefront_wait(wavefront *w, dkm_idx i, dkm_idx done)
{
    int spins = 0;

    while (atomic_load_explicit(&w->row[i % IN_FLIGHT].done, memory_order_acquire) <
           i * w->cols + done)
        if (++spins % SPINS == 0)
            sched_yield();
}

/* Row after row, none of whose blocks begins before the one above has ended. */
static void wavefront_rows(wavefront *w)
{
    dkm_idx i;

    while ((i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->rows)
        for (dkm_idx j = 0; j < w->cols; j++) {
            if (i > 0)
                wavefront_wait(w, i - 1, j + 1);
            w->body(w->user, i, j);
            atomic_store_explicit(&w->row[i % IN_FLIGHT].done, i * w->cols + j + 1,
                                  memory_order_release);
        }
}

void dkm_wavefront(int threads, dkm_idx rows, dkm_idx cols, dkm_wavefront_body *body, void *user)
{
    wavefront w = {.rows = rows, .cols = cols, .body = body, .user = user};

    if (threads <= 1 || rows <= 1 || cols <= 1) {
        for (dkm_idx j = 0; j < cols; j++)
            for (dkm_idx i = 0; i < rows; i++)
                body(user, i, j);
        return;
    }
    threads = threads < IN_FLIGHT ? threads : IN_FLIGHT - 1;
    threads = threads < rows ? threads : (int)rows;
#pragma omp parallel num_threads(threads)
    wavefront_rows(&w);
}
