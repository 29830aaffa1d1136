/* New constraints: from the ranks that found them to all, and their products to where the Gram
 * matrix is. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "models/jkm/constraint_set.h"

int dkm_constraint_set_owner(const dkm_constraint_set *cuts, dkm_idx c)
{
    return dkm_slab_owner(cuts->map->m, cuts->example[c], dkm_ctx_size(cuts->map->fitted.ctx));
}

dkm_idx dkm_constraint_set_group(const dkm_constraint_set *cuts, dkm_idx c)
{
    return cuts->split ? 2 * cuts->example[c] + (cuts->bias_sign[c] < 0) : cuts->example[c];
}

/* What all ranks propose, on every rank. */
typedef struct gathered {
    dkm_idx count;
    int *counts, *starts; /* of every rank: proposals, then numbers */
    dkm_idx *example, *choice;
    double *b, *bias_sign, *V;
} gathered;

static void clear_gathered(gathered *g)
{
    DKM_FREE(g->counts);
    DKM_FREE(g->starts);
    DKM_FREE(g->example);
    DKM_FREE(g->choice);
    DKM_FREE(g->b);
    DKM_FREE(g->bias_sign);
    DKM_FREE(g->V);
}

static dkm_local constraint_add_room_for_all(dkm_ctx *ctx, dkm_idx r, gathered *g)
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < dkm_ctx_size(ctx); k++) {
        g->starts[k] = (int)g->count;
        g->count += g->counts[k];
    }
    if (g->count * r > INT32_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE,
                        "%lld constraints of %lld numbers are too many for one round",
                        (long long)g->count, (long long)r);
    DKM_STEP(dkm_alloc(ctx, g->count, &g->example));
    DKM_STEP(dkm_alloc(ctx, g->count, &g->choice));
    DKM_STEP(dkm_alloc(ctx, g->count, &g->b));
    DKM_STEP(dkm_alloc(ctx, g->count, &g->bias_sign));
    DKM_STEP(dkm_alloc(ctx, g->count * r, &g->V));
out:
    return local;
}

static dkm_status constraint_add_gather(dkm_constraint_set *cuts, const dkm_proposals *mine,
                                        gathered *g)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx r = cuts->map->r;
    int size = dkm_ctx_size(ctx), count = (int)mine->count;

    DKM_AGREE(ctx, dkm_alloc(ctx, size, &g->counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, size, &g->starts));
    MPI_Allgather(&count, 1, MPI_INT, g->counts, 1, MPI_INT, comm);
    DKM_AGREE(ctx, constraint_add_room_for_all(ctx, r, g));
    MPI_Allgatherv(mine->example, count, MPI_INT64_T, g->example, g->counts, g->starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->choice, count, MPI_INT64_T, g->choice, g->counts, g->starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->b, count, MPI_DOUBLE, g->b, g->counts, g->starts, MPI_DOUBLE, comm);
    MPI_Allgatherv(mine->bias_sign, count, MPI_DOUBLE, g->bias_sign, g->counts, g->starts,
                   MPI_DOUBLE, comm);
    for (int k = 0; k < size; k++) {
        g->counts[k] *= (int)r;
        g->starts[k] *= (int)r;
    }
    MPI_Allgatherv(mine->V, (int)(count * r), MPI_DOUBLE, g->V, g->counts, g->starts, MPI_DOUBLE,
                   comm);
out:
    return status;
}

static dkm_local constraint_add_allocate(dkm_constraint_set *cuts, const gathered *g, dkm_idx own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    dkm_idx n = cuts->n + g->count;

    if (n > cuts->room) {
        cuts->room = n + n / 2;
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->example));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->choice));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->age));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->b));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->a));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->bias_sign));
    }
    if (cuts->own + own > cuts->own_room) {
        cuts->own_room = cuts->own + own + (cuts->own + own) / 4 + 16;
        DKM_STEP(dkm_realloc(ctx, cuts->own_room, &cuts->place));
        DKM_STEP(dkm_realloc(ctx, cuts->own_room, &cuts->mine));
        DKM_STEP(dkm_realloc(ctx, cuts->own_room * cuts->map->r, &cuts->V));
    }
    if (dkm_ctx_rank(ctx) == 0)
        DKM_STEP(dkm_qp_grow(&cuts->qp, g->count));
out:
    return local;
}

static void constraint_add_append(dkm_constraint_set *cuts, const gathered *g)
{
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    dkm_idx r = cuts->map->r, first = dkm_data_local_first(cuts->map->fitted.X);

    for (dkm_idx k = 0; k < g->count; k++) {
        dkm_idx c = cuts->n + k;
        cuts->example[c] = g->example[k];
        cuts->choice[c] = g->choice[k];
        cuts->b[c] = g->b[k];
        cuts->bias_sign[c] = g->bias_sign[k];
        cuts->a[c] = 0;
        cuts->age[c] = 0;
        if (dkm_ctx_rank(ctx) == 0) {
            cuts->qp.b[c] = g->b[k];
            cuts->qp.group[c] = dkm_constraint_set_group(cuts, c);
        }
        if (dkm_constraint_set_owner(cuts, c) != dkm_ctx_rank(ctx))
            continue;
        cuts->place[cuts->own] = c;
        cuts->mine[cuts->own] = g->example[k] - first;
        memcpy(cuts->V + cuts->own * r, g->V + k * r, (size_t)r * sizeof *g->V);
        cuts->own++;
    }
    cuts->n += g->count;
}

/* Put the products of new constraints with those of one rank where they belong in G. */
static void place_products(dkm_constraint_set *cuts, dkm_idx fresh, int rank, const double *block)
{
    dkm_qp *qp = &cuts->qp;
    dkm_idx column = 0, width = 0, old = cuts->n - fresh;

    for (dkm_idx c = 0; c < cuts->n; c++)
        width += dkm_constraint_set_owner(cuts, c) == rank;
    for (dkm_idx c = 0; c < cuts->n; c++) {
        if (dkm_constraint_set_owner(cuts, c) != rank)
            continue;
        for (dkm_idx k = 0; k < fresh; k++) {
            double g = block[k * width + column];
            qp->G[(old + k) * qp->room + c] = g;
            if (c < old)
                qp->G[c * qp->room + old + k] = g;
        }
        column++;
    }
}

/* Every rank's products to rank 0, one rank after the other. */
static dkm_status constraint_add_collect(dkm_constraint_set *cuts, dkm_idx fresh, double *own)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx most = 0, *counts = NULL;
    double *theirs = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_size(ctx), &counts));
    MPI_Allgather(&cuts->own, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, comm);
    for (int r = 0; r < dkm_ctx_size(ctx); r++)
        most = counts[r] > most ? counts[r] : most;
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_rank(ctx) == 0 ? most * fresh : 0, &theirs));
    if (dkm_ctx_rank(ctx) != 0)
        dkm_mpi_send(own, cuts->own * fresh, MPI_DOUBLE, 0, 0, comm);
    else
        place_products(cuts, fresh, 0, own);
    for (int r = 1; dkm_ctx_rank(ctx) == 0 && r < dkm_ctx_size(ctx); r++) {
        dkm_mpi_recv(theirs, counts[r] * fresh, MPI_DOUBLE, r, 0, comm);
        place_products(cuts, fresh, r, theirs);
    }
out:
    DKM_FREE(theirs);
    DKM_FREE(counts);
    return status;
}

/* Rows of the Gram matrix to the ranks of their constraints, from now on. */
static dkm_status go_far(dkm_constraint_set *cuts)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_constraint_set_distributed_grow(cuts, cuts->n));
    dkm_qp_distributed_take(&cuts->spread, &cuts->qp);
    cuts->far = 1;
    dkm_log(cuts->map->fitted.ctx, DKM_INFO,
            "more than %lld constraints: their Gram matrix is spread over the ranks",
            (long long)cuts->limit);
out:
    return status;
}

dkm_status dkm_constraint_set_distributed_grow(dkm_constraint_set *cuts, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    int *owners = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, count, &owners));
    for (dkm_idx k = 0; k < count; k++)
        owners[k] = dkm_constraint_set_owner(cuts, cuts->n - count + k);
    DKM_AGREE(ctx, dkm_qp_distributed_grow(&cuts->spread, count, owners));
out:
    DKM_FREE(owners);
    return status;
}

/* Signs of new constraints and own ones, times the weight they have in a program with a threshold.
 * That is ten times the largest product, so that thresholds are found in a few turns. */
static void add_tilts(dkm_constraint_set *cuts, dkm_idx fresh, double *products)
{
    dkm_idx old = cuts->n - fresh;

    if (old == 0) {
        cuts->weight = 0;
        for (dkm_idx k = 0; k < cuts->own; k++)
            cuts->weight = fmax(cuts->weight, 10 * products[cuts->place[k] * cuts->own + k]);
        MPI_Allreduce(MPI_IN_PLACE, &cuts->weight, 1, MPI_DOUBLE, MPI_MAX,
                      dkm_ctx_comm(cuts->map->fitted.ctx));
    }
    for (dkm_idx f = 0; f < fresh; f++)
        for (dkm_idx k = 0; k < cuts->own; k++)
            products[f * cuts->own + k] +=
                cuts->weight * cuts->bias_sign[old + f] * cuts->bias_sign[cuts->place[k]];
}

static dkm_status constraint_add_multiply(dkm_constraint_set *cuts, const gathered *g)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    double *products = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, g->count * cuts->own, &products));
    DKM_TRY(dkm_joint_map_gram(cuts->map, (dkm_joint_map_rows){g->count, g->example, g->V},
                               (dkm_joint_map_rows){cuts->own, cuts->mine, cuts->V}, products));
    if (cuts->split)
        add_tilts(cuts, g->count, products);
    if (cuts->far)
        DKM_TRY(dkm_qp_distributed_add(&cuts->spread, g->count, products));
    else
        DKM_TRY(constraint_add_collect(cuts, g->count, products));
out:
    DKM_FREE(products);
    return status;
}

dkm_status dkm_constraint_set_add(dkm_constraint_set *cuts, const dkm_proposals *mine)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    gathered g = {0};

    dkm_phase_begin(ctx, "constraints");
    DKM_TRY(constraint_add_gather(cuts, mine, &g));
    if (!cuts->far && cuts->n + g.count > cuts->limit)
        DKM_TRY(go_far(cuts));
    DKM_AGREE(ctx, constraint_add_allocate(cuts, &g, mine->count));
    constraint_add_append(cuts, &g);
    if (cuts->far)
        DKM_TRY(dkm_constraint_set_distributed_grow(cuts, g.count));
    DKM_TRY(constraint_add_multiply(cuts, &g));
out:
    dkm_phase_end(ctx);
    clear_gathered(&g);
    return status;
}
