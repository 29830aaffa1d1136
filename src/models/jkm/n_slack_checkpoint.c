/* Rows of constraints lie where their examples are; in a state they are in the order of all, so
 * that a run on another number of ranks can take them up. */
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "io/checkpoint/state_table.h"
#include "models/jkm/n_slack.h"

/* The way of rows between the ranks of their examples and slabs in the order of all constraints.
 * Every rank knows all examples, so that the sizes of messages are known. */
typedef struct routes {
    dkm_ctx *ctx;
    dkm_idx first, count; /* this rank's slab of constraints */
    int *held, *held_at;  /* rows of own examples, by the rank of their slab */
    int *slab, *slab_at;  /* rows of the slab, by the rank of their example */
    dkm_idx *order;       /* of the slab's rows: those of one rank after those of another */
    double *packed;       /* the slab in that order */
    dkm_idx r;
    MPI_Datatype row;
} routes;

static void close_routes(routes *t)
{
    DKM_FREE(t->held);
    DKM_FREE(t->held_at);
    DKM_FREE(t->slab);
    DKM_FREE(t->slab_at);
    DKM_FREE(t->order);
    DKM_FREE(t->packed);
    if (t->row != MPI_DATATYPE_NULL)
        MPI_Type_free(&t->row);
}

static dkm_local reserve_routes(routes *t, dkm_ctx *ctx, dkm_idx n, dkm_idx r)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx);

    *t = (routes){.ctx = ctx, .r = r, .first = dkm_slab_first(n, rank, size)};
    t->count = dkm_slab_count(n, rank, size);
    MPI_Type_contiguous((int)r, MPI_DOUBLE, &t->row);
    MPI_Type_commit(&t->row);
    DKM_STEP(dkm_calloc(ctx, size, &t->held));
    DKM_STEP(dkm_calloc(ctx, size + 1, &t->held_at));
    DKM_STEP(dkm_calloc(ctx, size, &t->slab));
    DKM_STEP(dkm_calloc(ctx, size + 1, &t->slab_at));
    DKM_STEP(dkm_alloc(ctx, t->count, &t->order));
    DKM_STEP(dkm_alloc(ctx, t->count * r, &t->packed));
out:
    return local;
}

/* @p owner of each of the n constraints. */
static void find_routes(routes *t, dkm_idx n, const int *owner)
{
    int size = dkm_ctx_size(t->ctx), rank = dkm_ctx_rank(t->ctx);
    dkm_idx at = 0;

    for (dkm_idx c = 0; c < n; c++)
        if (owner[c] == rank)
            t->held[dkm_slab_owner(n, c, size)]++;
    for (int k = 0; k < size; k++) {
        for (dkm_idx c = 0; c < t->count; c++)
            if (owner[t->first + c] == k) {
                t->order[at++] = c;
                t->slab[k]++;
            }
        t->held_at[k + 1] = t->held_at[k] + t->held[k];
        t->slab_at[k + 1] = t->slab_at[k] + t->slab[k];
    }
}

static void to_slab(routes *t, const double *V, double *rows)
{
    MPI_Alltoallv(V, t->held, t->held_at, t->row, t->packed, t->slab, t->slab_at, t->row,
                  dkm_ctx_comm(t->ctx));
    for (dkm_idx k = 0; k < t->count; k++)
        memcpy(rows + t->order[k] * t->r, t->packed + k * t->r, (size_t)t->r * sizeof *rows);
}

static void from_slab(routes *t, const double *rows, double *V)
{
    for (dkm_idx k = 0; k < t->count; k++)
        memcpy(t->packed + k * t->r, rows + t->order[k] * t->r, (size_t)t->r * sizeof *rows);
    MPI_Alltoallv(t->packed, t->slab, t->slab_at, t->row, V, t->held, t->held_at, t->row,
                  dkm_ctx_comm(t->ctx));
}

/* Routes of all constraints of a set. */
static dkm_local open_routes(const dkm_n_slack *s, routes *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = s->base.n;
    int *owner = NULL;

    DKM_STEP(reserve_routes(t, s->base.ctx, n, s->base.map->r));
    DKM_STEP(dkm_alloc(s->base.ctx, n, &owner));
    for (dkm_idx c = 0; c < n; c++)
        owner[c] = dkm_n_slack_owner(s, c);
    find_routes(t, n, owner);
out:
    DKM_FREE(owner);
    return local;
}

#define N_SLACK_FIELDS(s)                                                                          \
    DKM_STATE_ONE("weight", DKM_STATE_REAL, &(s)->weight),                                         \
        DKM_STATE_ARRAY("example", DKM_STATE_COUNT, (s)->example, (s)->base.n),                    \
        DKM_STATE_ARRAY("choice", DKM_STATE_INDEX, (s)->choice, (s)->base.n),                      \
        DKM_STATE_ARRAY("bias_sign", DKM_STATE_REAL, (s)->bias_sign, (s)->base.n)

dkm_status dkm_n_slack_save(dkm_constraint_set *set, dkm_archive *state, double **lent)
{
    dkm_status status = DKM_OK;
    dkm_n_slack *s = (dkm_n_slack *)set;
    routes t = {.row = MPI_DATATYPE_NULL};

    DKM_AGREE(set->ctx, open_routes(s, &t));
    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, t.count * t.r, lent));
    to_slab(&t, s->V, *lent);
    dkm_state_field fields[] = {N_SLACK_FIELDS(s), DKM_STATE_SLAB("rows", *lent, set->n, t.r)};
    DKM_AGREE(set->ctx, dkm_state_put(state, DKM_STATE_TABLE(fields)));
out:
    close_routes(&t);
    return status;
}

static dkm_local allocate_constraints(dkm_n_slack *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->base.ctx;

    DKM_STEP(dkm_alloc(ctx, s->base.n, &s->example));
    DKM_STEP(dkm_alloc(ctx, s->base.n, &s->choice));
    DKM_STEP(dkm_alloc(ctx, s->base.n, &s->bias_sign));
    s->capacity = s->base.n;
out:
    return local;
}

/* Which constraints are of own examples, and memory for their rows. */
static dkm_local find_own(dkm_n_slack *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx own = 0, candidates = s->base.oracle->space->count;

    for (dkm_idx c = 0; c < s->base.n; c++) {
        if (s->example[c] >= s->base.map->m)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT, "a checkpoint with a constraint of example %lld",
                              (long long)s->example[c]));
        if (candidates > 0 && s->choice[c] >= candidates)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT,
                              "a checkpoint with a constraint of candidate %lld of %lld",
                              (long long)s->choice[c], (long long)candidates));
        own += dkm_n_slack_owner(s, c) == dkm_ctx_rank(ctx);
    }
    DKM_STEP(dkm_alloc(ctx, own, &s->qp_index));
    DKM_STEP(dkm_alloc(ctx, own, &s->mine));
    DKM_STEP(dkm_alloc(ctx, own * s->base.map->r, &s->V));
    s->own_capacity = own;
    for (dkm_idx c = 0; c < s->base.n; c++)
        if (dkm_n_slack_owner(s, c) == dkm_ctx_rank(ctx)) {
            s->qp_index[s->own] = c;
            s->mine[s->own++] = s->example[c] - s->base.oracle->first;
        }
out:
    return local;
}

dkm_status dkm_n_slack_load(dkm_constraint_set *set, const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_n_slack *s = (dkm_n_slack *)set;
    routes t = {.row = MPI_DATATYPE_NULL};
    double *rows = NULL;

    DKM_AGREE(set->ctx, allocate_constraints(s));
    dkm_state_field fields[] = {N_SLACK_FIELDS(s)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_AGREE(set->ctx, find_own(s));
    DKM_AGREE(set->ctx, open_routes(s, &t));
    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, t.count * t.r, &rows));
    dkm_state_field slab[] = {DKM_STATE_SLAB("rows", rows, set->n, t.r)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(slab)));
    from_slab(&t, rows, s->V);
    if (set->n > s->limit) {
        DKM_TRY(dkm_n_slack_distributed_grow(s, set->n));
        dkm_qp_use_row_provider(&set->qp, &s->spread.provider);
        set->distributed = &s->spread;
    }
out:
    DKM_FREE(rows);
    close_routes(&t);
    return status;
}
