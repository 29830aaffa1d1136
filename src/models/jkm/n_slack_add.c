/* New constraints of the n-slack formulation: from the ranks that found them to all, and their
 * products to where the Gram matrix is. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "models/jkm/n_slack.h"

/* Products of new constraints that rank 0 gathers at a time. */
#define GATHERED_NUMBERS ((dkm_idx)1 << 22)
/* New constraints whose rows all ranks gather at a time; fewer where rows are wider. */
#define PANEL_ROWS    256
#define PANEL_NUMBERS ((dkm_idx)1 << 20)

int dkm_n_slack_owner(const dkm_n_slack *s, dkm_idx c)
{
    return dkm_slab_owner(s->base.map->m, s->example[c], dkm_ctx_size(s->base.ctx));
}

/* New constraints: those of this rank's examples in ascending order, or of all ranks. */
typedef struct proposals {
    dkm_idx count;
    dkm_idx *example; /* counted over all ranks */
    dkm_idx *choice;
    double *b, *bias_sign;
    double *V;            /* count x r, of this rank's own; those of others pass by in panels */
    int *counts, *starts; /* of all: how many are of each rank, and where they begin */
} proposals;

static void clear_proposals(proposals *p)
{
    DKM_FREE(p->example);
    DKM_FREE(p->choice);
    DKM_FREE(p->b);
    DKM_FREE(p->bias_sign);
    DKM_FREE(p->V);
    DKM_FREE(p->starts);
    DKM_FREE(p->counts);
}

static dkm_local open_proposals(dkm_ctx *ctx, dkm_idx most, dkm_idx r, proposals *p)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, most, &p->example));
    DKM_STEP(dkm_alloc(ctx, most, &p->choice));
    DKM_STEP(dkm_alloc(ctx, most, &p->b));
    DKM_STEP(dkm_alloc(ctx, most, &p->bias_sign));
    DKM_STEP(dkm_alloc(ctx, most * r, &p->V));
out:
    return local;
}

/* A constraint of own example i. Where there is a threshold its row is y_i or -y, of which the
 * oracle has y_i - y. */
static void propose(const dkm_n_slack *s, dkm_idx i, int side, proposals *p)
{
    const dkm_separation_oracle *o = s->base.oracle;
    dkm_idx r = s->base.map->r;
    double *v = p->V + p->count * r;
    const double *z = o->space->Z + i * r;
    int split = s->sides == 2, own = split && side == 0;

    p->example[p->count] = o->first + i;
    p->choice[p->count] = own ? -1 : o->choice[i];
    p->b[p->count] = split ? dkm_constraint_set_margin(&s->base) : o->b[i];
    p->bias_sign[p->count] = split ? 1 - 2 * side : 0;
    memcpy(v, own ? z : o->V + i * r, (size_t)r * sizeof *v);
    for (dkm_idx k = 0; split && !own && k < r; k++)
        v[k] -= z[k];
    p->count++;
}

/* What own examples violate by @p least or more, beyond the slack they need anyway. */
static void propose_violated(const dkm_n_slack *s, double least, proposals *p)
{
    for (dkm_idx i = 0; i < s->base.oracle->n; i++)
        for (int side = 0; side < s->sides; side++) {
            dkm_idx k = s->sides * i + side;
            if (s->shortage[k] - (s->base.settings->C > 0 ? s->slack[k] : 0) >= least)
                propose(s, i, side, p);
        }
}

/* Counts of every rank to where their proposals begin; memory for all of them but their rows. */
static dkm_local open_all(dkm_ctx *ctx, proposals *all)
{
    for (int k = 0; k < dkm_ctx_size(ctx); k++) {
        all->starts[k] = (int)dkm_idx_min(all->count, INT32_MAX);
        all->count += all->counts[k];
    }
    if (all->count > INT32_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE, "%lld constraints are too many for one round",
                        (long long)all->count);
    return open_proposals(ctx, all->count, 0, all);
}

/* What all ranks propose, on every rank, without the rows. */
static dkm_status gather_proposals(dkm_ctx *ctx, const proposals *mine, proposals *all)
{
    dkm_status status = DKM_OK;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    int count = (int)mine->count, *counts, *starts;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_size(ctx), &all->counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_size(ctx), &all->starts));
    counts = all->counts;
    starts = all->starts;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm);
    DKM_AGREE(ctx, open_all(ctx, all));
    MPI_Allgatherv(mine->example, count, MPI_INT64_T, all->example, counts, starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->choice, count, MPI_INT64_T, all->choice, counts, starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->b, count, MPI_DOUBLE, all->b, counts, starts, MPI_DOUBLE, comm);
    MPI_Allgatherv(mine->bias_sign, count, MPI_DOUBLE, all->bias_sign, counts, starts, MPI_DOUBLE,
                   comm);
out:
    return status;
}

static dkm_local reserve_constraints(dkm_n_slack *s, dkm_idx count, dkm_idx own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->base.ctx;

    DKM_STEP(dkm_constraint_set_reserve(&s->base, count));
    if (s->base.capacity > s->capacity) {
        s->capacity = s->base.capacity;
        DKM_STEP(dkm_realloc(ctx, s->capacity, &s->example));
        DKM_STEP(dkm_realloc(ctx, s->capacity, &s->choice));
        DKM_STEP(dkm_realloc(ctx, s->capacity, &s->bias_sign));
    }
    if (s->own + own > s->own_capacity) {
        s->own_capacity = s->own + own + (s->own + own) / 4 + 16;
        DKM_STEP(dkm_realloc(ctx, s->own_capacity, &s->qp_index));
        DKM_STEP(dkm_realloc(ctx, s->own_capacity, &s->mine));
        DKM_STEP(dkm_realloc(ctx, s->own_capacity * s->base.map->r, &s->V));
    }
out:
    return local;
}

static void append(dkm_n_slack *s, const proposals *mine, const proposals *g)
{
    dkm_idx r = s->base.map->r;
    const double *v = mine->V;

    for (dkm_idx k = 0; k < g->count; k++) {
        dkm_idx c = s->base.n + k;
        s->example[c] = g->example[k];
        s->choice[c] = g->choice[k];
        s->bias_sign[c] = g->bias_sign[k];
        dkm_constraint_set_begin(&s->base, c, g->b[k]);
        if (dkm_n_slack_owner(s, c) != dkm_ctx_rank(s->base.ctx))
            continue;
        s->qp_index[s->own] = c;
        s->mine[s->own] = g->example[k] - s->base.oracle->first;
        memcpy(s->V + s->own * r, v, (size_t)r * sizeof *v);
        v += r;
        s->own++;
    }
    s->base.n += g->count;
}

/* Products of some new constraints with all, gathered on rank 0. */
typedef struct gathered_products {
    int *counts, *starts, *next; /* per rank: constraints of its own, numbers, the one at hand */
    dkm_idx rows;                /* new constraints at a time, at most */
    double *all;                 /* per rank a block of rows x counts */
} gathered_products;

static dkm_local gathered_open(gathered_products *p, const dkm_n_slack *s, dkm_idx fresh)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx fit = GATHERED_NUMBERS / (s->base.n > 0 ? s->base.n : 1);

    p->rows = fit < 1 ? 1 : fit < fresh ? fit : fresh;
    DKM_STEP(dkm_alloc(ctx, 3 * (dkm_idx)dkm_ctx_size(ctx), &p->counts));
    p->starts = p->counts + dkm_ctx_size(ctx);
    p->next = p->starts + dkm_ctx_size(ctx);
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_rank(ctx) == 0 ? p->rows * s->base.n : 0, &p->all));
out:
    return local;
}

/* Products of new constraints [k, k + rows) to where they belong in G. */
static void place_products(dkm_n_slack *s, dkm_idx fresh, dkm_idx k, dkm_idx rows,
                           gathered_products *p)
{
    dkm_qp *qp = &s->base.qp;
    dkm_idx old = s->base.n - fresh;

    memset(p->next, 0, (size_t)dkm_ctx_size(s->base.ctx) * sizeof *p->next);
    for (dkm_idx c = 0; c < s->base.n; c++) {
        int r = dkm_n_slack_owner(s, c);
        const double *column = p->all + p->starts[r] + p->next[r]++;
        for (dkm_idx i = 0; i < rows; i++) {
            dkm_idx row = old + k + i;
            double g = column[i * (p->counts[r] / rows)];
            qp->G[row * qp->capacity + c] = g;
            if (c < old)
                qp->G[c * qp->capacity + row] = g;
        }
    }
}

/* Every rank's products to rank 0: n fresh words in all, in rounds of GATHERED_NUMBERS. */
static dkm_status gather_products(dkm_n_slack *s, dkm_idx fresh, const double *own)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    gathered_products p = {0};

    DKM_AGREE(ctx, gathered_open(&p, s, fresh));
    for (dkm_idx k = 0; k < fresh; k += p.rows) {
        dkm_idx rows = k + p.rows < fresh ? p.rows : fresh - k;
        memset(p.counts, 0, (size_t)size * sizeof *p.counts);
        for (dkm_idx c = 0; c < s->base.n; c++)
            p.counts[dkm_n_slack_owner(s, c)] += (int)rows;
        for (int r = 0, at = 0; r < size; at += p.counts[r++])
            p.starts[r] = at;
        MPI_Gatherv(own + k * s->own, p.counts[rank], MPI_DOUBLE, p.all, p.counts, p.starts,
                    MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
        if (rank == 0)
            place_products(s, fresh, k, rows, &p);
    }
out:
    DKM_FREE(p.all);
    DKM_FREE(p.counts);
    return status;
}

/* Rows of the Gram matrix to the ranks of their constraints, from now on. */
static dkm_status distribute(dkm_n_slack *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_n_slack_distributed_grow(s, s->base.n));
    dkm_qp_distributed_take(&s->spread, &s->base.qp);
    s->base.distributed = &s->spread;
    dkm_log(s->base.ctx, DKM_INFO,
            "more than %lld constraints: their Gram matrix is spread over the ranks",
            (long long)s->limit);
out:
    return status;
}

dkm_status dkm_n_slack_distributed_grow(dkm_n_slack *s, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    int *owners = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, count, &owners));
    for (dkm_idx k = 0; k < count; k++)
        owners[k] = dkm_n_slack_owner(s, s->base.n - count + k);
    DKM_AGREE(ctx, dkm_qp_distributed_grow(&s->spread, count, owners));
out:
    DKM_FREE(owners);
    return status;
}

/* Signs of new constraints and own ones, times the weight they have in a program with a threshold.
 * That is ten times the largest product, so that thresholds are found in a few turns. */
static void add_signs(dkm_n_slack *s, dkm_idx fresh, double *products)
{
    dkm_idx old = s->base.n - fresh;

    if (old == 0) {
        s->weight = 0;
        for (dkm_idx k = 0; k < s->own; k++)
            s->weight = fmax(s->weight, 10 * products[s->qp_index[k] * s->own + k]);
        MPI_Allreduce(MPI_IN_PLACE, &s->weight, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(s->base.ctx));
    }
    for (dkm_idx f = 0; f < fresh; f++)
        for (dkm_idx k = 0; k < s->own; k++)
            products[f * s->own + k] +=
                s->weight * s->bias_sign[old + f] * s->bias_sign[s->qp_index[k]];
}

/* Rows of the new constraints [first, first + count), on every rank. */
typedef struct row_panel {
    dkm_idx rows; /* at most */
    double *V;    /* rows x r */
    int *counts, *starts;
} row_panel;

static dkm_local panel_open(row_panel *p, dkm_ctx *ctx, dkm_idx fresh, dkm_idx r)
{
    dkm_local local = DKM_LOCAL_OK;

    p->rows = dkm_idx_max(dkm_idx_min(PANEL_ROWS, PANEL_NUMBERS / dkm_idx_max(r, 1)), 1);
    p->rows = dkm_idx_min(fresh, p->rows);
    DKM_STEP(dkm_alloc(ctx, p->rows * r, &p->V));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), &p->counts));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), &p->starts));
out:
    return local;
}

static void panel_close(row_panel *p)
{
    DKM_FREE(p->V);
    DKM_FREE(p->counts);
    DKM_FREE(p->starts);
}

static void panel_gather(row_panel *p, dkm_ctx *ctx, const proposals *mine, const proposals *all,
                         dkm_idx first, dkm_idx count, dkm_idx r)
{
    int rank = dkm_ctx_rank(ctx);
    dkm_idx own = dkm_idx_max(first - all->starts[rank], 0);

    for (int k = 0; k < dkm_ctx_size(ctx); k++) {
        dkm_idx from = dkm_idx_max(first, all->starts[k]),
                to = dkm_idx_min(first + count, (dkm_idx)all->starts[k] + all->counts[k]);
        p->counts[k] = (int)(dkm_idx_max(to - from, 0) * r);
        p->starts[k] = to > from ? (int)((from - first) * r) : 0;
    }
    MPI_Allgatherv(p->counts[rank] > 0 ? mine->V + own * r : mine->V, p->counts[rank], MPI_DOUBLE,
                   p->V, p->counts, p->starts, MPI_DOUBLE, dkm_ctx_comm(ctx));
}

/* Products of the new constraints with this rank's, whose rows come in panels. */
static dkm_status multiply_panels(dkm_n_slack *s, const proposals *mine, const proposals *all,
                                  double *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx r = s->base.map->r;
    row_panel p = {0};

    DKM_AGREE(ctx, panel_open(&p, ctx, all->count, r));
    for (dkm_idx k = 0; k < all->count; k += p.rows) {
        dkm_idx rows = dkm_idx_min(p.rows, all->count - k);
        panel_gather(&p, ctx, mine, all, k, rows, r);
        DKM_TRY(dkm_joint_map_gram(s->base.map, (dkm_joint_map_rows){rows, all->example + k, p.V},
                                   (dkm_joint_map_rows){s->own, s->mine, s->V},
                                   products + k * s->own));
    }
out:
    panel_close(&p);
    return status;
}

static dkm_status multiply(dkm_n_slack *s, const proposals *mine, const proposals *all)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    double *products = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, all->count * s->own, &products));
    DKM_TRY(multiply_panels(s, mine, all, products));
    if (s->sides == 2)
        add_signs(s, all->count, products);
    if (s->base.distributed)
        DKM_TRY(dkm_qp_distributed_add(&s->spread, all->count, products));
    else
        DKM_TRY(gather_products(s, all->count, products));
out:
    DKM_FREE(products);
    return status;
}

dkm_status dkm_n_slack_add(dkm_constraint_set *set, double least)
{
    dkm_status status = DKM_OK;
    dkm_n_slack *s = (dkm_n_slack *)set;
    dkm_ctx *ctx = set->ctx;
    dkm_idx r = set->map->r;
    proposals mine = {0}, all = {0};

    dkm_phase_begin(ctx, "constraints");
    DKM_AGREE(ctx, open_proposals(ctx, s->sides * set->oracle->n, r, &mine));
    propose_violated(s, least, &mine);
    DKM_TRY(gather_proposals(ctx, &mine, &all));
    if (!set->distributed && set->n + all.count > s->limit)
        DKM_TRY(distribute(s));
    DKM_AGREE(ctx, reserve_constraints(s, all.count, mine.count));
    append(s, &mine, &all);
    if (set->distributed)
        DKM_TRY(dkm_n_slack_distributed_grow(s, all.count));
    DKM_TRY(multiply(s, &mine, &all));
out:
    dkm_phase_end(ctx);
    clear_proposals(&all);
    clear_proposals(&mine);
    return status;
}
