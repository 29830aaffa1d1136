/* G and, below it, the rows of the factor L make one matrix of n columns, which rank 0 deals out in
 * slabs and collects again. */
#include "solve/qp_kept.h"

#include <dkmap/grid.h>

#include "core/alloc.h"

/* Who has how many of the rows. */
typedef struct deal {
    dkm_ctx *ctx;
    dkm_idx n, active, mine;
    int *counts, *starts;
    MPI_Datatype row; /* n numbers, without gaps */
    MPI_Datatype far; /* the same, as far apart as rows lie on rank 0 */
} deal;

static dkm_local open_deal(deal *d, dkm_ctx *ctx, dkm_idx n, dkm_idx active, dkm_idx room)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(ctx);

    *d = (deal){.ctx = ctx, .n = n, .active = active};
    d->mine = dkm_slab_count(n + active, dkm_ctx_rank(ctx), size);
    MPI_Type_contiguous((int)n, MPI_DOUBLE, &d->row);
    MPI_Type_create_resized(d->row, 0, (MPI_Aint)room * (MPI_Aint)sizeof(double), &d->far);
    MPI_Type_commit(&d->row);
    MPI_Type_commit(&d->far);
    DKM_STEP(dkm_alloc(ctx, size, &d->counts));
    DKM_STEP(dkm_alloc(ctx, size, &d->starts));
out:
    return local;
}

static void close_deal(deal *d)
{
    MPI_Type_free(&d->far);
    MPI_Type_free(&d->row);
    DKM_FREE(d->starts);
    DKM_FREE(d->counts);
}

/* Rows [first, first + count) of the whole, as they fall to the ranks; returns this rank's first of
 * them, counted in its slab. */
static dkm_idx share(deal *d, dkm_idx first, dkm_idx count)
{
    int size = dkm_ctx_size(d->ctx), rank = dkm_ctx_rank(d->ctx);
    dkm_idx all = d->n + d->active, own = dkm_slab_first(all, rank, size);

    for (int k = 0; k < size; k++) {
        dkm_idx from = dkm_slab_first(all, k, size), to = dkm_slab_first(all, k + 1, size);
        from = from > first ? from : first;
        to = to < first + count ? to : first + count;
        d->counts[k] = to > from ? (int)(to - from) : 0;
        d->starts[k] = to > from ? (int)(from - first) : 0;
    }
    return own > first ? 0 : first - own;
}

static void scatter(deal *d, dkm_idx first, dkm_idx count, const double *from, double *slab)
{
    dkm_idx at = share(d, first, count);
    int mine = d->counts[dkm_ctx_rank(d->ctx)];

    MPI_Scatterv(from, d->counts, d->starts, d->far, slab + (mine ? at * d->n : 0), mine, d->row, 0,
                 dkm_ctx_comm(d->ctx));
}

static void gather(deal *d, dkm_idx first, dkm_idx count, const double *slab, double *to)
{
    dkm_idx at = share(d, first, count);
    int mine = d->counts[dkm_ctx_rank(d->ctx)];

    MPI_Gatherv(slab + (mine ? at * d->n : 0), mine, d->row, to, d->counts, d->starts, d->far, 0,
                dkm_ctx_comm(d->ctx));
}

static dkm_local put_parts(const deal *d, const dkm_idx *member, const double *slab,
                           dkm_bundle *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_rowpart part = {.m = d->n + d->active, .n = d->n, .slab = slab, .ld = d->n};
    double *list = NULL;

    DKM_STEP(dkm_alloc(d->ctx, d->active, &list));
    for (dkm_idx k = 0; k < d->active; k++)
        list[k] = (double)member[k];
    DKM_STEP(dkm_bundle_put_reals(state, "active", d->active, list));
    DKM_STEP(dkm_bundle_put_rows(state, "program", &part));
out:
    DKM_FREE(list);
    return local;
}

dkm_status dkm_qp_put(const dkm_qp *qp, dkm_idx n, dkm_bundle *state, double **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx sizes[2] = {qp->active, qp->room}, *member = NULL;
    int here = dkm_ctx_rank(ctx) == 0;
    deal d = {.row = MPI_DATATYPE_NULL};

    *rows = NULL;
    MPI_Bcast(sizes, 2, MPI_INT64_T, 0, comm);
    DKM_AGREE(ctx, open_deal(&d, ctx, n, sizes[0], sizes[1]));
    DKM_AGREE(ctx, dkm_calloc(ctx, d.mine * n, rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, d.active, &member));
    for (dkm_idx k = 0; here && k < d.active; k++)
        member[k] = qp->member[k];
    MPI_Bcast(member, (int)d.active, MPI_INT64_T, 0, comm);
    scatter(&d, 0, n, qp->G, *rows);
    scatter(&d, n, d.active, qp->L, *rows);
    DKM_AGREE(ctx, put_parts(&d, member, *rows, state));
out:
    DKM_FREE(member);
    if (d.row != MPI_DATATYPE_NULL)
        close_deal(&d);
    return status;
}

/* The members of the active set, and room for them. */
static dkm_local get_active(dkm_qp *qp, const dkm_bundle *state, dkm_idx n, dkm_idx *active)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *list = NULL;
    int here = dkm_ctx_rank(state->ctx) == 0;

    DKM_STEP(dkm_bundle_reals(state, "active", active, &list));
    if (here)
        DKM_STEP(dkm_qp_grow(qp, n));
    for (dkm_idx k = 0; k < *active; k++) {
        if (!(list[k] >= 0 && list[k] < (double)n) || *active > n)
            DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT,
                              "a checkpoint of a program of %lld constraints with one numbered %g",
                              (long long)n, list[k]));
        if (here)
            qp->member[k] = (dkm_idx)list[k];
    }
    qp->active = here ? *active : 0;
out:
    return local;
}

static dkm_local read_slab(const deal *d, const dkm_bundle *state, double *slab)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_rowpart *part = NULL;

    DKM_STEP(dkm_bundle_rows(state, "program", &part));
    if (part->m != d->n + d->active)
        DKM_STEP(dkm_fail(d->ctx, DKM_ERR_FORMAT, "%s: a program of %lld rows, not %lld",
                          part->path, (long long)part->m, (long long)(d->n + d->active)));
    DKM_STEP(dkm_rowpart_read_slab(d->ctx, part, d->n, d->n, slab));
out:
    return local;
}

dkm_status dkm_qp_get(dkm_qp *qp, dkm_idx n, const dkm_bundle *state)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    dkm_idx active = 0, room = 0;
    double *slab = NULL;
    deal d = {.row = MPI_DATATYPE_NULL};

    DKM_AGREE(ctx, get_active(qp, state, n, &active));
    room = qp->room;
    MPI_Bcast(&room, 1, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, open_deal(&d, ctx, n, active, room));
    DKM_AGREE(ctx, dkm_alloc(ctx, d.mine * n, &slab));
    DKM_AGREE(ctx, read_slab(&d, state, slab));
    gather(&d, 0, n, slab, qp->G);
    gather(&d, n, active, slab, qp->L);
out:
    DKM_FREE(slab);
    if (d.row != MPI_DATATYPE_NULL)
        close_deal(&d);
    return status;
}
