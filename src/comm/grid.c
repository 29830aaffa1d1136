#include <dkmap/grid.h>

#include "comm/grid_impl.h"
#include "comm/grid_private.h"
#include "core/alloc.h"
#include "core/mpi_calls.h"

#define BLOCK_MIN 16
#define BLOCK_MAX 64

/* Share of the machine a P x Q grid puts to use: idle ranks are lost, and each step away from
 * the square costs five in a hundred (longer panels, longer broadcasts). */
static double grid_shape_score(int P, int Q, int size)
{
    return (double)P * Q / size / (1.0 + 0.05 * ((double)Q / P - 1.0));
}

void dkm_grid_shape(int size, int *P, int *Q)
{
    *P = 1;
    *Q = size;
    for (int p = 2; p * p <= size; p++)
        if (grid_shape_score(p, size / p, size) >= grid_shape_score(*P, *Q, size)) {
            *P = p;
            *Q = size / p;
        }
}

static dkm_local grid_check_shape(dkm_ctx *ctx, int P, int Q)
{
    int size = dkm_ctx_size(ctx);

    if (P < 1 || Q < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "grid %dx%d: both sides must be at least 1", P, Q);
    if ((dkm_idx)P * Q > size)
        return dkm_fail(ctx, DKM_ERR_ARG, "grid %dx%d needs %lld ranks and there are %d", P, Q,
                        (long long)P * Q, size);
    return DKM_LOCAL_OK;
}

static void grid_split_comms(dkm_grid *g)
{
    int rank = dkm_ctx_rank(g->ctx), inside = rank < g->P * g->Q;

    g->p = inside ? rank / g->Q : -1;
    g->q = inside ? rank % g->Q : -1;
    dkm_mpi_split(g->ctx, inside ? g->p : MPI_UNDEFINED, g->q, &g->row_comm);
    dkm_mpi_split(g->ctx, inside ? g->q : MPI_UNDEFINED, g->p, &g->col_comm);
}

dkm_status dkm_grid_create(dkm_ctx *ctx, int P, int Q, dkm_grid **grid)
{
    dkm_status status = DKM_OK;
    dkm_grid *g = NULL;
    int size = dkm_ctx_size(ctx);

    *grid = NULL;
    if (P == 0 && Q == 0) {
        dkm_grid_shape(size, &P, &Q);
        if (P * Q < size || (P == 1 && Q > 3))
            dkm_log(ctx, DKM_INFO, "%d ranks make no square grid: using %dx%d, %d idle", size, P, Q,
                    size - P * Q);
    }
    DKM_AGREE(ctx, grid_check_shape(ctx, P, Q));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &g));
    *g = (dkm_grid){.ctx = ctx, .P = P, .Q = Q, .attached = -1};
    grid_split_comms(g);
    status = dkm_agree(ctx, DKM_LOCAL_OK); /* all have their communicators */
    if (status != DKM_OK) {
        dkm_grid_destroy(&g);
        goto out;
    }
    *grid = g;
    g = NULL;
out:
    DKM_FREE(g);
    return status;
}

void dkm_grid_destroy(dkm_grid **grid)
{
    dkm_grid *g = *grid;

    if (!g)
        return;
    if (g->attached_release)
        g->attached_release(g->attached);
    if (g->row_comm != MPI_COMM_NULL)
        MPI_Comm_free(&g->row_comm);
    if (g->col_comm != MPI_COMM_NULL)
        MPI_Comm_free(&g->col_comm);
    dkm_free_block(g);
    *grid = NULL;
}

dkm_idx dkm_grid_block(const dkm_grid *grid, dkm_idx n)
{
    return dkm_shape_block(grid->P, grid->Q, n);
}

dkm_idx dkm_shape_block(int P, int Q, dkm_idx n)
{
    dkm_idx longest = P > Q ? P : Q;
    dkm_idx nb = n / (4 * longest) / 8 * 8;

    return nb < BLOCK_MIN ? BLOCK_MIN : nb > BLOCK_MAX ? BLOCK_MAX : nb;
}

dkm_ctx *dkm_grid_ctx(const dkm_grid *grid)
{
    return grid->ctx;
}

int dkm_grid_rows(const dkm_grid *grid)
{
    return grid->P;
}

int dkm_grid_cols(const dkm_grid *grid)
{
    return grid->Q;
}

int dkm_grid_row(const dkm_grid *grid)
{
    return grid->p;
}

int dkm_grid_col(const dkm_grid *grid)
{
    return grid->q;
}

MPI_Comm dkm_grid_row_comm(const dkm_grid *grid)
{
    return grid->row_comm;
}

MPI_Comm dkm_grid_col_comm(const dkm_grid *grid)
{
    return grid->col_comm;
}

int dkm_grid_attached(const dkm_grid *grid)
{
    return grid->attached;
}

void dkm_grid_attach(dkm_grid *grid, int handle, void (*release)(int))
{
    grid->attached = handle;
    grid->attached_release = release;
}
