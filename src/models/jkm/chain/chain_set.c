/* The 1-slack formulation (Joachims, Finley and Yu 2009, Machine Learning 77(1):27-59) for chains
 * (Altun, Tsochantaridis and Hofmann 2003, ICML; Taskar, Guestrin and Koller 2003, NIPS 16) whose
 * features are explicit.
 *
 * Cost per constraint, D numbers of a weight vector, n constraints, P ranks: the features of what
 * is wrong (chain.c), 2 n D / P flops of products. Sent per rank: 2 D P words to add up a constraint,
 * D for the weight vector, n products. Per rank: n D / P numbers. */
#include "models/jkm/chain/chain_set.h"

#include <math.h>

#include "core/alloc.h"
#include "io/checkpoint/state_table.h"

typedef struct chain_set {
    dkm_constraint_set base;
    dkm_idx size, first, mine; /* numbers of a weight vector, and this rank's share of them */
    dkm_idx capacity;
    double **psi; /* n, each mine */
} chain_set;

void dkm_chain_separate(dkm_separation_oracle *oracle, const double *G)
{
    dkm_chain *c = oracle->chain;
    const dkm_idx *start = c->sequences.start;

    dkm_chain_search(c, G, 1);
    for (dkm_idx t = 0; t < oracle->n; t++)
        oracle->violation[t] = oracle->b[t] = 0;
    for (dkm_idx i = 0; i < c->sequences.count; i++) {
        double weight = dkm_chain_weight(c, i);
        oracle->violation[start[i]] = weight * dkm_chain_violation(c, G, i);
        for (dkm_idx t = start[i]; t < start[i + 1]; t++)
            oracle->b[start[i]] += c->path[t] != c->truth[t] ? weight : 0;
    }
}

static dkm_idx chain_set_slack_of(const dkm_constraint_set *set, dkm_idx c)
{
    (void)set;
    (void)c;
    return 0;
}

static void chain_set_clear(dkm_constraint_set *set)
{
    chain_set *s = (chain_set *)set;

    for (dkm_idx c = 0; s->psi && c < s->capacity; c++)
        DKM_FREE(s->psi[c]);
    DKM_FREE(s->psi);
}

/* One constraint more. */
static dkm_local chain_set_append(chain_set *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = s->base.n;

    DKM_STEP(dkm_constraint_set_reserve(&s->base, 1));
    if (s->base.capacity > s->capacity) {
        DKM_STEP(dkm_realloc(s->base.ctx, s->base.capacity, &s->psi));
        for (; s->capacity < s->base.capacity; s->capacity++)
            s->psi[s->capacity] = NULL;
    }
    DKM_STEP(dkm_alloc(s->base.ctx, s->mine, &s->psi[n]));
    dkm_constraint_set_begin(&s->base, n, 0);
    s->base.n++;
out:
    return local;
}

/* The weight vector of the sequences found last: this rank's share of it. */
static dkm_status sum_features(const chain_set *s, double *share)
{
    dkm_status status = DKM_OK;
    dkm_twosum *sums = NULL;

    DKM_AGREE(s->base.ctx, dkm_calloc(s->base.ctx, s->size, &sums));
    dkm_chain_add_difference(s->base.oracle->chain, sums);
    DKM_TRY(dkm_twosum_allreduce(s->base.ctx, s->size, sums));
    for (dkm_idx j = 0; j < s->mine; j++)
        share[j] = sums[s->first + j].hi;
out:
    DKM_FREE(sums);
    return status;
}

static dkm_status chain_set_add(dkm_constraint_set *set, double least)
{
    dkm_status status = DKM_OK;
    chain_set *s = (chain_set *)set;
    dkm_ctx *ctx = set->ctx;
    dkm_idx last = set->n;
    dkm_twosum *products = NULL, b = {0};

    (void)least;
    dkm_phase_begin(ctx, "constraints");
    DKM_AGREE(ctx, dkm_calloc(ctx, last + 1, &products));
    DKM_AGREE(ctx, chain_set_append(s));
    DKM_TRY(sum_features(s, s->psi[last]));
    for (dkm_idx t = 0; t < set->oracle->n; t++)
        dkm_twosum_add(&b, set->oracle->b[t]);
    DKM_TRY(dkm_twosum_allreduce(ctx, 1, &b));
    for (dkm_idx c = 0; c <= last; c++)
        for (dkm_idx j = 0; j < s->mine; j++)
            dkm_twosum_add(&products[c], s->psi[c][j] * s->psi[last][j]);
    DKM_TRY(dkm_twosum_allreduce(ctx, last + 1, products));
    dkm_constraint_set_begin(set, last, b.hi);
    for (dkm_idx c = 0; dkm_ctx_rank(ctx) == 0 && c <= last; c++)
        set->qp.G[last * set->qp.capacity + c] = set->qp.G[c * set->qp.capacity + last] =
            products[c].hi;
out:
    dkm_phase_end(ctx);
    DKM_FREE(products);
    return status;
}

/* The weight vector in the chain, on every rank; U, the weights of examples, is not used. */
static dkm_status chain_set_weights(const dkm_constraint_set *set, double *U)
{
    dkm_status status = DKM_OK;
    const chain_set *s = (const chain_set *)set;
    double *w = set->oracle->chain->w, *share = NULL;

    (void)U;
    DKM_AGREE(set->ctx, dkm_calloc(set->ctx, s->mine, &share));
    for (dkm_idx c = 0; c < set->n; c++)
        for (dkm_idx j = 0; set->a[c] > 0 && j < s->mine; j++)
            share[j] += set->a[c] * s->psi[c][j];
    DKM_TRY(dkm_repro_gather(set->ctx, s->size, 1, share, 0, s->size, w));
out:
    DKM_FREE(share);
    return status;
}

static dkm_status chain_set_scores(dkm_constraint_set *set, double *U, double *G)
{
    dkm_status status = DKM_OK;

    DKM_TRY(chain_set_weights(set, U));
    dkm_chain_scores(set->oracle->chain, G);
out:
    return status;
}

static void chain_set_measure(dkm_constraint_set *set, const double *G, dkm_violations *found)
{
    (void)G;
    for (dkm_idx t = 0; t < set->oracle->n; t++) {
        dkm_twosum_add(&found->slack, fmax(0.0, set->oracle->violation[t]));
        found->most = fmax(found->most, set->oracle->violation[t]);
    }
    found->beyond = found->most;
}

static void chain_set_keep(dkm_constraint_set *set, const char *keep)
{
    chain_set *s = (chain_set *)set;
    dkm_idx n = 0;

    for (dkm_idx c = 0; c < set->n; c++) {
        double *psi = s->psi[c];
        s->psi[c] = NULL;
        if (keep[c])
            s->psi[n++] = psi;
        else
            DKM_FREE(psi);
    }
}

static dkm_status chain_set_save(dkm_constraint_set *set, dkm_archive *state, double **lent)
{
    dkm_status status = DKM_OK;
    chain_set *s = (chain_set *)set;
    dkm_idx n = set->n;

    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, s->mine * n, lent));
    for (dkm_idx j = 0; j < s->mine; j++)
        for (dkm_idx c = 0; c < n; c++)
            (*lent)[j * n + c] = s->psi[c][j];
    dkm_state_field fields[] = {DKM_STATE_SLAB("chains", *lent, s->size, n)};
    DKM_AGREE(set->ctx, dkm_state_put(state, DKM_STATE_TABLE(fields)));
out:
    return status;
}

static dkm_local take_vectors(chain_set *s, const double *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = s->base.n;

    DKM_STEP(dkm_calloc(s->base.ctx, n, &s->psi));
    s->capacity = n;
    for (dkm_idx c = 0; c < n; c++) {
        DKM_STEP(dkm_alloc(s->base.ctx, s->mine, &s->psi[c]));
        for (dkm_idx j = 0; j < s->mine; j++)
            s->psi[c][j] = rows[j * n + c];
    }
out:
    return local;
}

static dkm_status chain_set_load(dkm_constraint_set *set, const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    chain_set *s = (chain_set *)set;
    double *rows = NULL;

    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, s->mine * set->n, &rows));
    dkm_state_field fields[] = {DKM_STATE_SLAB("chains", rows, s->size, set->n)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_AGREE(set->ctx, take_vectors(s, rows));
out:
    DKM_FREE(rows);
    return status;
}

static const dkm_constraint_ops chain_ops = {.name = "one",
                                             .slack_of = chain_set_slack_of,
                                             .weights = chain_set_weights,
                                             .scores = chain_set_scores,
                                             .measure = chain_set_measure,
                                             .add = chain_set_add,
                                             .solve = dkm_constraint_set_solve_one_slack,
                                             .keep = chain_set_keep,
                                             .save = chain_set_save,
                                             .load = chain_set_load,
                                             .clear = chain_set_clear};

dkm_status dkm_chain_set_create(dkm_joint_map *map, const dkm_separation_oracle *oracle,
                                const dkm_jkm_settings *settings, dkm_constraint_set **set)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    chain_set *s = NULL;

    *set = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    dkm_constraint_set_init(&s->base, map, oracle, settings);
    s->base.ops = &chain_ops;
    s->size = dkm_chain_map_size(oracle->chain->map);
    s->first = dkm_slab_first(s->size, rank, size);
    s->mine = dkm_slab_count(s->size, rank, size);
    *set = &s->base;
out:
    if (!*set)
        DKM_FREE(s);
    return status;
}
