#include "matrix/reduce_panel.h"

#include <string.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/minmax.h"
#include "matrix/dmat_impl.h"

enum { TAG_PANEL = 73 };

#define NODE_BYTES ((dkm_idx)256 << 20) /* of panels */
#define RANK_BYTES ((dkm_idx)16 << 20)

dkm_idx dkm_dmat_panel_capacity(const dkm_grid *grid)
{
    dkm_idx share = NODE_BYTES / dkm_ctx_node_ranks(dkm_grid_ctx(grid));

    return dkm_idx_max(share, RANK_BYTES) / (dkm_idx)sizeof(double);
}

/* What a rank owns of the panel, as local rows and columns of its own. */
typedef struct panel_part {
    int p, q;
    dkm_idx r0, r1, c0, c1;
} panel_part;

static panel_part part_of(const dkm_dmat *A, const dkm_panel_sum *s, int rank)
{
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);
    panel_part part = {.p = rank / Q, .q = rank % Q};

    if (rank >= P * Q)
        return part;
    part.r0 = dkm_cyclic_count(s->row, A->mb, part.p, P);
    part.r1 = dkm_cyclic_count(A->m, A->mb, part.p, P);
    part.c0 = dkm_cyclic_count(s->col, A->nb, part.q, Q);
    part.c1 = dkm_cyclic_count(s->col + s->cols, A->nb, part.q, Q);
    return part;
}

static dkm_idx part_size(const panel_part *part)
{
    return (part->r1 - part->r0) * (part->c1 - part->c0);
}

/* The rows of a part that are not zero here: their number, their indices, their elements column by
 * column. Returns how many numbers that makes. */
static dkm_idx pack_part(const dkm_dmat *A, const dkm_panel_sum *s, const panel_part *part,
                         double *to)
{
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);
    double *indices = to + 1;
    dkm_idx rows = 0, at;

    for (dkm_idx il = part->r0; il < part->r1; il++)
        if (!s->nonzero || s->nonzero[dkm_cyclic_global(il, A->mb, part->p, P)])
            indices[rows++] = (double)il;
    to[0] = (double)rows;
    at = 1 + rows;
    for (dkm_idx jl = part->c0; jl < part->c1; jl++) {
        dkm_idx stride = 1, jg = dkm_cyclic_global(jl, A->nb, part->q, Q);
        dkm_idx top = s->lower ? dkm_cyclic_count(jg, A->mb, part->p, P) : 0;
        const double *from = s->column(s->user, jg, &stride);
        for (dkm_idx k = 0; k < rows; k++) {
            dkm_idx il = (dkm_idx)indices[k];
            if (il >= top)
                to[at++] = from[(dkm_cyclic_global(il, A->mb, part->p, P) - s->row) * stride];
        }
    }
    return at;
}

static void add_part(dkm_dmat *A, const dkm_panel_sum *s, const panel_part *own, const double *from)
{
    dkm_idx rows = (dkm_idx)from[0], at = 1 + rows;
    const double *indices = from + 1;

    for (dkm_idx jl = own->c0; jl < own->c1; jl++) {
        dkm_idx jg = dkm_dmat_global_col(A, jl);
        dkm_idx top = s->lower ? dkm_cyclic_count(jg, A->mb, own->p, dkm_grid_rows(A->grid)) : 0;
        for (dkm_idx k = 0; k < rows; k++)
            if ((dkm_idx)indices[k] >= top)
                A->a.f64[(dkm_idx)indices[k] + jl * A->ld] += from[at++];
    }
}

/* Memory for the largest part and its rows. */
static dkm_idx part_capacity(const dkm_dmat *A, const dkm_panel_sum *s)
{
    dkm_idx most = 0;

    for (int r = 0; r < dkm_grid_rows(A->grid) * dkm_grid_cols(A->grid); r++) {
        panel_part part = part_of(A, s, r);
        most = dkm_idx_max(most, 1 + part.r1 - part.r0 + part_size(&part));
    }
    return most;
}

static dkm_local alloc_buffers(dkm_ctx *ctx, dkm_idx capacity, double **sent, double **received)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, capacity, sent));
    DKM_STEP(dkm_alloc(ctx, capacity, received));
out:
    return local;
}

/* Ranks are met in a ring, so that no two of them send to the same one at a time. */
dkm_status dkm_dmat_reduce_panel(dkm_dmat *A, const dkm_panel_sum *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx);
    panel_part own = part_of(A, s, rank);
    dkm_idx capacity = part_capacity(A, s);
    double *sent = NULL, *received = NULL;

    DKM_AGREE(ctx, alloc_buffers(ctx, capacity, &sent, &received));
    for (dkm_idx jl = own.c0; jl < own.c1; jl++)
        memset(A->a.f64 + own.r0 + jl * A->ld, 0, (size_t)(own.r1 - own.r0) * sizeof *A->a.f64);
    for (int step = 0; step < size; step++) {
        int to = (rank + step) % size, from = (rank - step + size) % size;
        panel_part part = part_of(A, s, to);
        dkm_idx count = part_size(&part) > 0 ? pack_part(A, s, &part, sent) : 0;
        if (step == 0) {
            if (count > 0)
                add_part(A, s, &own, sent);
            continue;
        }
        MPI_Sendrecv(sent, (int)count, MPI_DOUBLE, count > 0 ? to : MPI_PROC_NULL, TAG_PANEL,
                     received, (int)capacity, MPI_DOUBLE,
                     part_size(&own) > 0 ? from : MPI_PROC_NULL, TAG_PANEL, dkm_ctx_comm(ctx),
                     MPI_STATUS_IGNORE);
        if (part_size(&own) > 0)
            add_part(A, s, &own, received);
    }
out:
    DKM_FREE(received);
    DKM_FREE(sent);
    return status;
}
