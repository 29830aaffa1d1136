/* The 1-slack formulation (Joachims, Finley and Yu 2009, Machine Learning 77(1):27-59): a
 * constraint is the sum of one choice per example, and all constraints share one slack. The QP has
 * one variable per iteration. Examples of weight w_i enter every sum w_i times.
 *
 * Cost per constraint: one application of the joint map for its products with all others, which with a
 * kernel matrix is a product in two dimensions (joint_map_matrix.c has what it sends), and an allreduce of
 * one number per constraint. Per rank: one 32-bit choice per example of its own and constraint, and what
 * one_slack_scores.c keeps. Candidates that are not classes are brought to every rank, c r words a round.
 */
#include "models/jkm/one_slack.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "models/common/reproducible.h"
#include "models/jkm/one_slack_primal.h"
#include "models/jkm/one_slack_scores.h"

static dkm_idx one_slack_slack_of(const dkm_constraint_set *set, dkm_idx c)
{
    (void)set;
    (void)c;
    return 0;
}

/* What own example i counts for. */
static double one_slack_weight(const dkm_one_slack *s, dkm_idx i)
{
    const dkm_data *weights = s->base.settings->weights;

    return weights ? weights->mine.values[i] : 1.0;
}

static void one_slack_clear(dkm_constraint_set *set)
{
    dkm_one_slack *s = (dkm_one_slack *)set;

    for (dkm_idx k = 0; s->choice && s->W && k < set->n; k++) {
        DKM_FREE(s->choice[k]);
        DKM_FREE(s->W[k]);
    }
    DKM_FREE(s->choice);
    DKM_FREE(s->W);
}

/* One constraint more, whose right-hand side is still to be set. */
static dkm_local one_slack_append(dkm_one_slack *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx n = s->base.n;

    DKM_STEP(dkm_constraint_set_reserve(&s->base, 1));
    if (s->base.capacity > s->capacity) {
        DKM_STEP(dkm_realloc(ctx, s->base.capacity, &s->choice));
        DKM_STEP(dkm_realloc(ctx, s->base.capacity, &s->W));
        s->capacity = s->base.capacity;
    }
    DKM_STEP(dkm_alloc(ctx, s->base.oracle->n, &s->choice[n]));
    s->W[n] = NULL;
    dkm_constraint_set_begin(&s->base, n, 0);
    s->base.n++;
out:
    return local;
}

/* Walk the candidates a panel at a time. */
typedef struct walk {
    const dkm_output_space *space;
    dkm_idx first, count, step;
    double *rows; /* count x r */
    double *tile; /* n x count */
} walk;

static dkm_local open_walk(const dkm_one_slack *s, walk *w)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_output_space *space = s->base.oracle->space;

    *w = (walk){.space = space, .step = dkm_repro_panel_rows(space->r)};
    w->step = w->step < space->count ? w->step : space->count;
    DKM_STEP(dkm_alloc(space->ctx, w->step * space->r, &w->rows));
    DKM_STEP(dkm_alloc(space->ctx, w->step * s->base.oracle->n, &w->tile));
out:
    return local;
}

static void close_walk(walk *w)
{
    DKM_FREE(w->rows);
    DKM_FREE(w->tile);
}

static dkm_status next_panel(walk *w)
{
    w->count = w->space->count - w->first < w->step ? w->space->count - w->first : w->step;
    return dkm_output_space_candidates(w->space, w->first, w->count, w->rows);
}

/* Whether constraint k enters a sum of rows: all, or those alone whose scores are not kept. */
static int one_slack_counts(const dkm_one_slack *s, int all, dkm_idx k)
{
    return s->base.a[k] > 0 && (all || !s->W[k]);
}

/* The part of each own example that is its own output: the sum of the multipliers of constraints
 * that count it. */
static void add_own(const dkm_one_slack *s, int all, double *U)
{
    const dkm_separation_oracle *o = s->base.oracle;
    dkm_idx r = o->space->r;

    for (dkm_idx i = 0; i < o->n; i++) {
        double sum = 0;
        for (dkm_idx k = 0; k < s->base.n; k++)
            if (s->choice[k][i] >= 0 && one_slack_counts(s, all, k))
                sum += one_slack_weight(s, i) * s->base.a[k];
        for (dkm_idx j = 0; j < r; j++)
            U[i * r + j] = sum * o->space->Z[i * r + j];
    }
}

static dkm_status one_slack_sum_rows(const dkm_one_slack *s, int all, double *U)
{
    dkm_status status = DKM_OK;
    const dkm_separation_oracle *o = s->base.oracle;
    dkm_idx r = o->space->r;
    walk w = {0};

    DKM_AGREE(s->base.ctx, open_walk(s, &w));
    add_own(s, all, U);
    for (w.first = 0; w.first < o->space->count; w.first += w.step) {
        DKM_TRY(next_panel(&w));
        memset(w.tile, 0, (size_t)(o->n * w.count) * sizeof *w.tile);
        for (dkm_idx k = 0; k < s->base.n; k++)
            for (dkm_idx i = 0; one_slack_counts(s, all, k) && i < o->n; i++) {
                dkm_idx c = s->choice[k][i] - w.first;
                if (s->choice[k][i] >= 0 && c >= 0 && c < w.count)
                    w.tile[i * w.count + c] += one_slack_weight(s, i) * s->base.a[k];
            }
        dkm_repro_gemm(o->n, r, w.count, -1.0, (dkm_row_block){w.tile, w.count},
                       (dkm_row_block){w.rows, r}, 1.0, U);
    }
out:
    close_walk(&w);
    return status;
}

static dkm_status one_slack_weights(const dkm_constraint_set *set, double *U)
{
    return one_slack_sum_rows((const dkm_one_slack *)set, 1, U);
}

/* The constraint that was added last: whom it is about, and what it requires. */
static dkm_twosum take_violators(dkm_one_slack *s)
{
    const dkm_separation_oracle *o = s->base.oracle;
    int32_t *choice = s->choice[s->base.n - 1];
    dkm_twosum b = {0};

    for (dkm_idx i = 0; i < o->n; i++) {
        choice[i] = o->violation[i] > 0 ? (int32_t)o->choice[i] : -1;
        if (choice[i] >= 0)
            dkm_twosum_add(&b, one_slack_weight(s, i) * o->b[i]);
    }
    return b;
}

/* products[k] += sum_i w_i (<g_i, z_i> - <g_i, c>) over the own examples of constraint k whose candidate
 * c is in the panel. */
static void meet_panel(const dkm_one_slack *s, const walk *w, const double *own,
                       dkm_twosum *products)
{
    for (dkm_idx k = 0; k < s->base.n; k++)
        for (dkm_idx i = 0; i < s->base.oracle->n; i++) {
            dkm_idx c = s->choice[k][i] - w->first;
            if (s->choice[k][i] >= 0 && c >= 0 && c < w->count)
                dkm_twosum_add(&products[k],
                               one_slack_weight(s, i) * (own[i] - w->tile[i * w->count + c]));
        }
}

/* Products of the new constraint, whose W x is G, with all. */
static dkm_status one_slack_meet_all(dkm_one_slack *s, const double *G, dkm_twosum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    const dkm_separation_oracle *o = s->base.oracle;
    dkm_idx r = o->space->r;
    double *own = NULL;
    walk w = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, o->n, &own));
    DKM_AGREE(ctx, open_walk(s, &w));
    for (dkm_idx i = 0; i < o->n; i++) {
        own[i] = 0;
        for (dkm_idx j = 0; j < r; j++)
            own[i] += G[i * r + j] * o->space->Z[i * r + j];
    }
    for (w.first = 0; w.first < o->space->count; w.first += w.step) {
        DKM_TRY(next_panel(&w));
        dkm_repro_gemm_nt(o->n, w.count, r, 1.0, (dkm_row_block){G, r}, (dkm_row_block){w.rows, r},
                          0.0, w.tile);
        meet_panel(s, &w, own, products);
    }
    DKM_TRY(dkm_twosum_allreduce(ctx, s->base.n, products));
out:
    close_walk(&w);
    DKM_FREE(own);
    return status;
}

/* The rows of the constraint that was added last, as the oracle left them. */
static void take_rows(const dkm_one_slack *s, double *U)
{
    const dkm_separation_oracle *o = s->base.oracle;
    const int32_t *choice = s->choice[s->base.n - 1];
    dkm_idx r = s->base.map->r;

    for (dkm_idx i = 0; i < o->n; i++)
        for (dkm_idx j = 0; j < r; j++)
            U[i * r + j] = choice[i] >= 0 ? one_slack_weight(s, i) * o->V[i * r + j] : 0;
}

/* The same by way of its scores, one application of the joint map; they are kept where there is room. */
static dkm_status meet_by_scores(dkm_one_slack *s, dkm_twosum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx numbers = s->base.oracle->n * s->base.map->r, last = s->base.n - 1;
    double *U = NULL, *G = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, s->named ? 0 : numbers, &U));
    DKM_AGREE(ctx, dkm_alloc(ctx, numbers, &G));
    if (!s->named)
        take_rows(s, U);
    DKM_TRY(dkm_one_slack_scores_make(s, last, U, G));
    DKM_TRY(one_slack_meet_all(s, G, products));
    if (dkm_one_slack_scores_fit(s)) {
        s->W[last] = G;
        G = NULL;
    }
out:
    DKM_FREE(G);
    DKM_FREE(U);
    return status;
}

static void one_slack_measure(dkm_constraint_set *set, const double *G, dkm_violations *found)
{
    (void)G;
    for (dkm_idx i = 0; i < set->oracle->n; i++) {
        dkm_twosum_add(&found->slack, one_slack_weight((dkm_one_slack *)set, i) *
                                          fmax(0.0, set->oracle->violation[i]));
        found->most = fmax(found->most, set->oracle->violation[i]);
    }
    found->beyond = found->most;
}

/* The constraint that sums up all examples that fall short, however little. */
static dkm_status one_slack_add(dkm_constraint_set *set, double least)
{
    dkm_status status = DKM_OK;
    dkm_one_slack *s = (dkm_one_slack *)set;
    dkm_ctx *ctx = set->ctx;
    dkm_idx last;
    dkm_twosum *products = NULL, b;

    (void)least;
    dkm_phase_begin(ctx, "constraints");
    DKM_AGREE(ctx, dkm_calloc(ctx, set->n + 1, &products));
    DKM_AGREE(ctx, one_slack_append(s));
    last = set->n - 1;
    b = take_violators(s);
    DKM_TRY(dkm_twosum_allreduce(ctx, 1, &b));
    if (s->primal)
        DKM_TRY(dkm_one_slack_primal_inner(s, products));
    else
        DKM_TRY(meet_by_scores(s, products));
    dkm_constraint_set_begin(set, last, b.hi);
    for (dkm_idx k = 0; dkm_ctx_rank(ctx) == 0 && k < set->n; k++)
        set->qp.G[last * set->qp.capacity + k] = set->qp.G[k * set->qp.capacity + last] =
            products[k].hi;
out:
    dkm_phase_end(ctx);
    DKM_FREE(products);
    return status;
}

static dkm_status one_slack_scores(dkm_constraint_set *set, double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_one_slack *s = (dkm_one_slack *)set;
    int lacking = 0;

    if (s->primal)
        return dkm_one_slack_primal_values(s, G);
    for (dkm_idx k = 0; k < set->n; k++)
        lacking = lacking || one_slack_counts(s, 0, k);
    memset(G, 0, (size_t)(set->oracle->n * set->map->r) * sizeof *G);
    if (lacking) {
        DKM_TRY(one_slack_sum_rows(s, 0, U));
        DKM_TRY(dkm_joint_map_apply(set->map, NULL, U, G));
    }
    dkm_one_slack_scores_add(s, G);
out:
    return status;
}

static void one_slack_keep(dkm_constraint_set *set, const char *keep)
{
    dkm_one_slack *s = (dkm_one_slack *)set;
    dkm_idx n_kept = 0;

    for (dkm_idx k = 0; k < set->n; k++) {
        if (!keep[k]) {
            DKM_FREE(s->choice[k]);
            DKM_FREE(s->W[k]);
            continue;
        }
        s->choice[n_kept] = s->choice[k];
        s->W[n_kept++] = s->W[k];
    }
}

static const dkm_constraint_ops one_slack = {.name = "one",
                                             .slack_of = one_slack_slack_of,
                                             .weights = one_slack_weights,
                                             .scores = one_slack_scores,
                                             .measure = one_slack_measure,
                                             .add = one_slack_add,
                                             .solve = dkm_constraint_set_solve_one_slack,
                                             .keep = one_slack_keep,
                                             .save = dkm_one_slack_save,
                                             .load = dkm_one_slack_load,
                                             .clear = one_slack_clear};

dkm_status dkm_one_slack_create(dkm_joint_map *map, const dkm_separation_oracle *oracle,
                                const dkm_jkm_settings *settings, dkm_constraint_set **set)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_one_slack *s = NULL;

    *set = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    dkm_constraint_set_init(&s->base, map, oracle, settings);
    s->base.ops = &one_slack;
    s->primal =
        map->kernel == DKM_JOINT_MAP_PRIMAL && dkm_one_slack_is_named(map, oracle->space, settings);
    s->named =
        map->kernel == DKM_JOINT_MAP_GRAM && dkm_one_slack_is_named(map, oracle->space, settings);
    *set = &s->base;
out:
    if (!*set)
        DKM_FREE(s);
    return status;
}
