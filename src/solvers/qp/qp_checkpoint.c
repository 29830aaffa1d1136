/* G and, below it, the rows of the factor L make one matrix of n columns in slabs: its rows travel
 * between those and the ranks that have them. */
#include "solvers/qp/qp_checkpoint.h"

#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "io/checkpoint/state_table.h"

typedef struct qp_redistribution {
    dkm_ctx *ctx;
    const dkm_qp_distributed *spread; /* NULL where G is on rank 0 */
    dkm_idx n, active, mine;
} qp_redistribution;

static qp_redistribution qp_redistribution_open(dkm_ctx *ctx, const dkm_qp_distributed *spread,
                                                dkm_idx n, dkm_idx active)
{
    return (qp_redistribution){
        .ctx = ctx,
        .spread = spread,
        .n = n,
        .active = active,
        .mine = dkm_slab_count(n + active, dkm_ctx_rank(ctx), dkm_ctx_size(ctx))};
}

static void qp_redistribute_row(const qp_redistribution *d, int from, int to, const double *source,
                                double *target)
{
    MPI_Comm comm = dkm_ctx_comm(d->ctx);
    int rank = dkm_ctx_rank(d->ctx);

    if (rank == from && rank == to)
        memcpy(target, source, (size_t)d->n * sizeof *target);
    else if (rank == from)
        MPI_Send(source, (int)d->n, MPI_DOUBLE, to, 0, comm);
    else if (rank == to)
        MPI_Recv(target, (int)d->n, MPI_DOUBLE, from, 0, comm, MPI_STATUS_IGNORE);
}

/* Where a row of the matrix is in the slab of the rank that has it. */
static double *qp_in_slab(const qp_redistribution *d, dkm_idx row, double *slab, int *rank)
{
    dkm_idx all = d->n + d->active;

    *rank = dkm_slab_owner(all, row, dkm_ctx_size(d->ctx));
    return slab + (*rank == dkm_ctx_rank(d->ctx)
                       ? (row - dkm_slab_first(all, *rank, dkm_ctx_size(d->ctx))) * d->n
                       : 0);
}

/* Rows of G to the slabs, or from them. */
static void qp_redistribute_matrix(const qp_redistribution *d, const dkm_qp *qp, double *slab,
                                   int out)
{
    int rank = dkm_ctx_rank(d->ctx), there = 0;
    dkm_idx own = 0;

    for (dkm_idx c = 0; c < d->n; c++) {
        int here = d->spread ? d->spread->owner[c] : 0;
        double *row =
            d->spread ? d->spread->G + own * d->spread->capacity : qp->G + c * qp->capacity;
        double *stored = qp_in_slab(d, c, slab, &there);
        if (out)
            qp_redistribute_row(d, here, there, row, stored);
        else
            qp_redistribute_row(d, there, here, stored, row);
        own += here == rank;
    }
}

/* Rows of the factor likewise, through one of n numbers. */
static void qp_redistribute_factor(const qp_redistribution *d, const dkm_qp *qp, double *slab,
                                   int out, double *row)
{
    int rank = dkm_ctx_rank(d->ctx), there = 0;

    for (dkm_idx i = 0; i < d->active; i++) {
        size_t bytes = (size_t)(i + 1) * sizeof *row;
        double *stored = qp_in_slab(d, d->n + i, slab, &there);
        if (out) {
            memset(row, 0, (size_t)d->n * sizeof *row);
            if (rank == 0)
                memcpy(row, dkm_qp_factor_row(qp, i), bytes);
            qp_redistribute_row(d, 0, there, row, stored);
        } else {
            qp_redistribute_row(d, there, 0, stored, row);
            if (rank == 0)
                memcpy(dkm_qp_factor_row(qp, i), row, bytes);
        }
    }
}

/* The state: members of the active set, and the rows. */
#define SIZE_FIELD(active)           DKM_STATE_ONE("active_count", DKM_STATE_COUNT, (active))
#define ACTIVE_FIELD(member, active) DKM_STATE_ARRAY("active", DKM_STATE_COUNT, (member), (active))
#define PROGRAM_FIELD(slab, d)       DKM_STATE_SLAB("program", (slab), (d).n + (d).active, (d).n)

dkm_status dkm_qp_save(const dkm_qp *qp, const dkm_qp_distributed *spread, dkm_idx n,
                       dkm_archive *state, double **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    dkm_idx active = qp->active, *member = NULL;
    double *row = NULL;
    qp_redistribution d;

    *rows = NULL;
    MPI_Bcast(&active, 1, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    d = qp_redistribution_open(ctx, spread, n, active);
    DKM_AGREE(ctx, dkm_calloc(ctx, d.mine * n, rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &row));
    DKM_AGREE(ctx, dkm_alloc(ctx, active, &member));
    for (dkm_idx k = 0; dkm_ctx_rank(ctx) == 0 && k < active; k++)
        member[k] = qp->member[k];
    MPI_Bcast(member, (int)active, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    qp_redistribute_matrix(&d, qp, *rows, 1);
    qp_redistribute_factor(&d, qp, *rows, 1, row);
    dkm_state_field fields[] = {SIZE_FIELD(&active), ACTIVE_FIELD(member, active),
                                PROGRAM_FIELD(*rows, d)};
    DKM_AGREE(ctx, dkm_state_put(state, DKM_STATE_TABLE(fields)));
out:
    DKM_FREE(member);
    DKM_FREE(row);
    return status;
}

/* The members of the active set to rank 0, with space for their factor. */
static dkm_local qp_take_active(dkm_qp *qp, dkm_idx n, dkm_idx active, const dkm_idx *member)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < active; k++)
        if (member[k] >= n)
            DKM_STEP(
                dkm_fail(qp->ctx, DKM_ERR_FORMAT,
                         "a checkpoint of a program of %lld constraints with one numbered %lld",
                         (long long)n, (long long)member[k]));
    if (dkm_ctx_rank(qp->ctx) != 0)
        return DKM_LOCAL_OK;
    DKM_STEP(dkm_qp_grow(qp, n));
    memcpy(qp->member, member, (size_t)active * sizeof *member);
    qp->active = active;
    DKM_STEP(dkm_qp_widen_factor(qp));
out:
    return local;
}

/* The size of the active set of a state: at most n. */
static dkm_status qp_restore_size(const dkm_archive *state, dkm_idx n, dkm_idx *active)
{
    dkm_status status = DKM_OK;
    dkm_state_field size[] = {SIZE_FIELD(active)};

    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(size)));
    DKM_REQUIRE(state->ctx, *active <= n, DKM_ERR_FORMAT,
                "a checkpoint of a program with %lld of %lld constraints active",
                (long long)*active, (long long)n);
out:
    return status;
}

dkm_status dkm_qp_restore(dkm_qp *qp, const dkm_qp_distributed *spread, dkm_idx n,
                          const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    dkm_idx active = 0, *member = NULL;
    double *slab = NULL, *row = NULL;
    qp_redistribution d;

    DKM_TRY(qp_restore_size(state, n, &active));
    d = qp_redistribution_open(ctx, spread, n, active);
    DKM_AGREE(ctx, dkm_alloc(ctx, active, &member));
    DKM_AGREE(ctx, dkm_alloc(ctx, d.mine * n, &slab));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &row));
    dkm_state_field fields[] = {ACTIVE_FIELD(member, active), PROGRAM_FIELD(slab, d)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_AGREE(ctx, qp_take_active(qp, n, active, member));
    qp_redistribute_matrix(&d, qp, slab, 0);
    qp_redistribute_factor(&d, qp, slab, 0, row);
out:
    DKM_FREE(row);
    DKM_FREE(slab);
    DKM_FREE(member);
    return status;
}
