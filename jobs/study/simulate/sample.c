/* The factor of thousands of ranks by samples.
 *
 * With r = n - k columns left, a panel of columns takes a time that is smooth in r: r^2 for the products, r
 * for the messages' lengths, a constant for their latencies. So the time of all is an integral over k, and
 * Gauss-Legendre's rule with NODES nodes finds it from as many windows: the factorization is begun WARM
 * panels before, until deferred updates and broadcasts are as they would be there, and the next panels are
 * timed from one factored diagonal block to another. Each rank leaves the factorization where it would start
 * the broadcast of the block after the window along its grid row, when its messages so far are through.
 *
 * Simulated time then is set to what the whole factorization would have taken. Its bytes and messages are not
 * known, and none are counted. */
#include <setjmp.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/minmax.h"
#include "linalg/factor/potrf_update.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "simulate.h"

enum {
    NODES = 3,
    WARM = 3,
    PANEL = 256
}; /* PANEL columns: of a panel on many ranks, or two of them */

static const double nodes[NODES] = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double weights[NODES] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

static struct {
    dkm_idx panels;      /* timed per window; 0 simulates whole factorizations */
    int on;              /* a window is under way */
    dkm_idx block, last; /* diagonal blocks factored in it, and the one that ends it */
    dkm_idx warm;
    double begun, ended; /* clock at blocks warm and last */
    struct rank_state {
        dkm_potrf_ws *ws;
        dkm_idx block; /* whose broadcast it starts next */
        jmp_buf way_out;
    } * ranks;
} window;

dkm_status __real_dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                    dkm_idx *info);
dkm_status __wrap_dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                    dkm_idx *info);

void sim_sample(dkm_idx panels, int ranks)
{
    window.panels = panels;
    if (!window.ranks)
        window.ranks = calloc((size_t)ranks, sizeof *window.ranks);
}

void sim_sample_block(void)
{
    dkm_idx block;

    if (!window.on)
        return;
    sim_flush();
    block = window.block++;
    if (block == window.warm)
        window.begun = simgrid_get_clock();
    if (block == window.last)
        window.ended = simgrid_get_clock();
}

dkm_local __real_dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A);
dkm_local __wrap_dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A);
void __real_dkm_bcast_start(dkm_bcast_queue *queue, dkm_bcast *b, dkm_bcast_shape shape,
                            const dkm_bcast_data *data, int root, int tag, MPI_Comm comm);
void __wrap_dkm_bcast_start(dkm_bcast_queue *queue, dkm_bcast *b, dkm_bcast_shape shape,
                            const dkm_bcast_data *data, int root, int tag, MPI_Comm comm);

dkm_local __wrap_dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A)
{
    if (window.on)
        window.ranks[sim_rank()].ws = e;
    return __real_dkm_potrf_ws_open(e, A);
}

void __wrap_dkm_bcast_start(dkm_bcast_queue *queue, dkm_bcast *b, dkm_bcast_shape shape,
                            const dkm_bcast_data *data, int root, int tag, MPI_Comm comm)
{
    struct rank_state *own = window.on ? &window.ranks[sim_rank()] : NULL;

    if (own && comm == dkm_grid_row_comm(own->ws->A->grid) && own->block++ == window.last) {
        dkm_bcast_wait_all(queue);
        dkm_potrf_ws_close(own->ws);
        longjmp(own->way_out, 1);
    }
    __real_dkm_bcast_start(queue, b, shape, data, root, tag, comm);
}

/* Seconds per column at column @p at of A, about. */
static dkm_status sample_window(dkm_dmat *A, dkm_idx at, double *seconds)
{
    volatile dkm_status status = DKM_OK;
    dkm_idx cols = window.panels * PANEL, info = 0,
            timed = dkm_idx_max(0, dkm_idx_min(at - cols / 2, A->n - cols - PANEL)) / PANEL * PANEL,
            from = dkm_idx_max(0, timed - WARM * PANEL);

    MPI_Barrier(dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    window.on = 1;
    window.block = window.ranks[sim_rank()].block = 0;
    window.warm = (timed - from) / A->nb;
    window.last = window.warm + cols / A->nb;
    MPI_Barrier(dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    if (setjmp(window.ranks[sim_rank()].way_out) == 0)
        status = __real_dkm_la_potrf_from(A, from, NULL, &info);
    MPI_Barrier(dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    window.on = 0;
    *seconds = (window.ended - window.begun) / (double)cols;
    return status;
}

dkm_status __wrap_dkm_la_potrf_from(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                                    dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_comm_counts before = *sim_counts();
    double begun, sum = 0, each = 0;

    if (window.panels == 0 || !sim_is_shared(A->a.any) ||
        A->n <= NODES * (window.panels + WARM) * PANEL)
        return __real_dkm_la_potrf_from(A, from, monitor, info);
    *info = 0;
    begun = simgrid_get_clock();
    for (int k = 0; k < NODES; k++) {
        DKM_TRY(sample_window(A, (dkm_idx)(nodes[k] * (double)A->n), &each));
        sum += weights[k] * each * (double)A->n;
        if (sim_rank() == 0)
            printf("window %d: %.4g s a panel\n", k, each * PANEL);
    }
    sim_set_back(simgrid_get_clock() - begun - sum);
    *sim_counts() = before;
out:
    return status;
}
