#include "models/jkm/constraint_checkpoint.h"

#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "models/jkm/checkpoint_lists.h"
#include "solvers/qp/qp_checkpoint.h"

void dkm_constraints_borrowed_clear(dkm_constraints_borrowed *lent)
{
    DKM_FREE(lent->rows);
    DKM_FREE(lent->program);
}

/* The way of rows between the ranks of their examples and slabs in the order of all constraints.
 * Every rank knows all examples, so that nobody has to be told what comes. */
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

static dkm_local constraint_checkpoint_reserve(routes *t, dkm_ctx *ctx, dkm_idx n, dkm_idx r)
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

static dkm_local put_cuts(const dkm_constraint_set *cuts, const routes *t, const double *rows,
                          dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_matrix_entry part = {.m = cuts->n, .n = t->r, .slab = rows, .ld = t->r};

    DKM_STEP(dkm_checkpoint_list_put_ints(state, "example", cuts->n, cuts->example));
    DKM_STEP(dkm_checkpoint_list_put_ints(state, "choice", cuts->n, cuts->choice));
    DKM_STEP(dkm_checkpoint_list_put_ints(state, "idle", cuts->n, cuts->age));
    DKM_STEP(dkm_archive_put_reals(state, "b", cuts->n, cuts->b));
    DKM_STEP(dkm_archive_put_reals(state, "a", cuts->n, cuts->a));
    DKM_STEP(dkm_archive_put_reals(state, "tilt", cuts->n, cuts->bias_sign));
    DKM_STEP(dkm_archive_put_rows(state, "rows", &part));
out:
    return local;
}

/* Routes of all constraints of a set. */
static dkm_local open_routes(const dkm_constraint_set *cuts, routes *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    int *owner = NULL;

    DKM_STEP(constraint_checkpoint_reserve(t, ctx, cuts->n, cuts->map->r));
    DKM_STEP(dkm_alloc(ctx, cuts->n, &owner));
    for (dkm_idx c = 0; c < cuts->n; c++)
        owner[c] = dkm_slab_owner(cuts->map->m, cuts->example[c], dkm_ctx_size(ctx));
    find_routes(t, cuts->n, owner);
out:
    DKM_FREE(owner);
    return local;
}

dkm_status dkm_constraint_set_save(const dkm_constraint_set *cuts, dkm_archive *state,
                                   dkm_constraints_borrowed *lent)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    routes t = {.row = MPI_DATATYPE_NULL};

    DKM_AGREE(ctx, open_routes(cuts, &t));
    DKM_AGREE(ctx, dkm_alloc(ctx, t.count * t.r, &lent->rows));
    to_slab(&t, cuts->V, lent->rows);
    DKM_AGREE(ctx, put_cuts(cuts, &t, lent->rows, state));
    DKM_TRY(
        dkm_qp_save(&cuts->qp, cuts->far ? &cuts->spread : NULL, cuts->n, state, &lent->program));
out:
    close_routes(&t);
    return status;
}

/* All but rows and program. */
static dkm_local get_cuts(dkm_constraint_set *cuts, const dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = state->ctx;
    dkm_idx n = -1, first = dkm_data_local_first(cuts->map->fitted.X);
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx);

    DKM_STEP(dkm_checkpoint_list_get_ints(state, "example", &n, &cuts->example));
    DKM_STEP(dkm_checkpoint_list_get_ints(state, "choice", &n, &cuts->choice));
    DKM_STEP(dkm_checkpoint_list_get_ints(state, "idle", &n, &cuts->age));
    DKM_STEP(dkm_checkpoint_list_get_reals(state, "b", &n, &cuts->b));
    DKM_STEP(dkm_checkpoint_list_get_reals(state, "a", &n, &cuts->a));
    DKM_STEP(dkm_checkpoint_list_get_reals(state, "tilt", &n, &cuts->bias_sign));
    cuts->n = cuts->room = n;
    for (dkm_idx c = 0; c < n; c++) {
        if (cuts->example[c] < 0 || cuts->example[c] >= cuts->map->m)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT, "a checkpoint with a constraint of example %lld",
                              (long long)cuts->example[c]));
        cuts->own += dkm_slab_owner(cuts->map->m, cuts->example[c], size) == rank;
    }
    cuts->own_room = cuts->own;
    DKM_STEP(dkm_alloc(ctx, cuts->own, &cuts->place));
    DKM_STEP(dkm_alloc(ctx, cuts->own, &cuts->mine));
    DKM_STEP(dkm_alloc(ctx, cuts->own * cuts->map->r, &cuts->V));
    for (dkm_idx c = 0, k = 0; c < n; c++)
        if (dkm_slab_owner(cuts->map->m, cuts->example[c], size) == rank) {
            cuts->place[k] = c;
            cuts->mine[k++] = cuts->example[c] - first;
        }
out:
    return local;
}

static dkm_local constraint_checkpoint_read_rows(const dkm_archive *state, const routes *t,
                                                 dkm_idx n, double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *part = NULL;

    DKM_STEP(dkm_archive_rows(state, "rows", &part));
    if (part->m != n)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "%s: %lld rows of constraints, not %lld",
                          part->path, (long long)part->m, (long long)n));
    DKM_STEP(dkm_matrix_entry_read_slab(state->ctx, part, t->r, t->r, rows));
out:
    return local;
}

dkm_status dkm_constraint_set_restore(dkm_constraint_set *cuts, const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = state->ctx;
    routes t = {.row = MPI_DATATYPE_NULL};
    double *rows = NULL;

    DKM_AGREE(ctx, get_cuts(cuts, state));
    DKM_AGREE(ctx, open_routes(cuts, &t));
    DKM_AGREE(ctx, dkm_alloc(ctx, t.count * t.r, &rows));
    DKM_AGREE(ctx, constraint_checkpoint_read_rows(state, &t, cuts->n, rows));
    from_slab(&t, rows, cuts->V);
    cuts->far = cuts->n > cuts->limit;
    if (cuts->far) {
        DKM_TRY(dkm_constraint_set_distributed_grow(cuts, cuts->n));
        dkm_qp_use_row_provider(&cuts->qp, &cuts->spread.far);
    }
    DKM_TRY(dkm_qp_restore(&cuts->qp, cuts->far ? &cuts->spread : NULL, cuts->n, state));
    for (dkm_idx c = 0; dkm_ctx_rank(ctx) == 0 && c < cuts->n; c++) {
        cuts->qp.b[c] = cuts->b[c];
        cuts->qp.a[c] = cuts->a[c];
        cuts->qp.group[c] = dkm_constraint_set_group(cuts, c);
    }
out:
    DKM_FREE(rows);
    close_routes(&t);
    return status;
}
