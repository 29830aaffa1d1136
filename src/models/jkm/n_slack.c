/* The n-slack formulation (Tsochantaridis, Joachims, Hofmann and Altun 2005, JMLR 6:1453-1484): one
 * slack per example, and its dual QP; see n_slack.h for what each rank holds.
 *
 * Cost: that of solvers/qp; w = sum of a v is local, 2 r flops per constraint.
 *
 * The threshold t is the multiplier of s'a = 0, s the signs of constraints: it is found by the
 * method of multipliers (Hestenes 1969, J. Optim. Theory Appl. 4:303-320). The Gram matrix holds
 * weight s s' as well, and each solution for b - t s brings t nearer by weight s'a. */
#include "models/jkm/n_slack.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/example_weights.h"

#define DISTRIBUTE       2000 /* constraints whose Gram matrix one of several ranks has: 32 MB, */
#define DISTRIBUTE_ALONE 8000 /* and the only one: 512 MB */
#define TURNS            200  /* in which a threshold is looked for, at most */

static dkm_idx n_slack_slack_of(const dkm_constraint_set *set, dkm_idx c)
{
    const dkm_n_slack *s = (const dkm_n_slack *)set;

    return s->sides * s->example[c] + (s->bias_sign[c] < 0);
}

static dkm_status n_slack_weights(const dkm_constraint_set *set, double *U)
{
    const dkm_n_slack *s = (const dkm_n_slack *)set;
    dkm_idx r = set->map->r;

    memset(U, 0, (size_t)(set->oracle->n * r) * sizeof *U);
    for (dkm_idx k = 0; k < s->own; k++) {
        double a = set->a[s->qp_index[k]], *u = U + s->mine[k] * r;
        for (dkm_idx j = 0; a > 0 && j < r; j++)
            u[j] += a * s->V[k * r + j];
    }
    return DKM_OK;
}

static dkm_status n_slack_scores(dkm_constraint_set *set, double *U, double *G)
{
    dkm_status status = DKM_OK;

    DKM_TRY(n_slack_weights(set, U));
    DKM_TRY(dkm_joint_map_apply(set->map, NULL, U, G));
out:
    return status;
}

/* What the constraints so far require of the slacks of each own example. */
static void find_slacks(dkm_n_slack *s, const double *G)
{
    dkm_idx r = s->base.map->r;

    memset(s->slack, 0, (size_t)(s->base.oracle->n * s->sides) * sizeof *s->slack);
    for (dkm_idx k = 0; k < s->own; k++) {
        dkm_idx c = s->qp_index[k], i = s->mine[k];
        double *slack = s->slack + s->sides * i + (s->bias_sign[c] < 0);
        double short_of = s->base.b[c] - s->bias_sign[c] * s->base.threshold -
                          dkm_qp_dot(r, G + i * r, s->V + k * r);
        *slack = short_of > *slack ? short_of : *slack;
    }
}

/* By how much own example i falls short: of its constraint, or with a threshold of that of its own
 * output, F(x_i, y_i) + t >= margin / 2, and of that of the worst other one, F(x_i, y) + t <=
 * -margin / 2. */
static void find_shortage(const dkm_n_slack *s, dkm_idx i, const double *G, double *h)
{
    const dkm_separation_oracle *o = s->base.oracle;
    dkm_idx r = s->base.map->r;
    double own, other, margin = dkm_constraint_set_margin(&s->base), t = s->base.threshold;

    h[0] = o->violation[i];
    if (s->sides == 1)
        return;
    own = dkm_qp_dot(r, G + i * r, o->space->Z + i * r);
    other = own - (o->b[i] - o->violation[i]);
    h[0] = margin - (own + t);
    h[1] = isinf(o->violation[i]) ? -INFINITY : margin + other + t;
}

/* What the slack of a side of an own example costs, beside C. */
static double price_of(const dkm_n_slack *s, dkm_idx side)
{
    return s->price ? s->price[s->sides * s->base.oracle->first + side] : 1.0;
}

static void n_slack_measure(dkm_constraint_set *set, const double *G, dkm_violations *found)
{
    dkm_n_slack *s = (dkm_n_slack *)set;

    find_slacks(s, G);
    for (dkm_idx i = 0; i < set->oracle->n; i++) {
        find_shortage(s, i, G, s->shortage + s->sides * i);
        for (dkm_idx side = s->sides * (i + 1) - 1; side >= s->sides * i; side--) {
            double h = s->shortage[side], slack = s->slack[side];
            if (set->oracle->user.find) /* which may miss what the constraints so far require */
                h = fmax(h, slack);
            dkm_twosum_add(&found->slack, price_of(s, side) * fmax(0.0, h));
            found->beyond = fmax(found->beyond, h - (set->settings->C > 0 ? slack : 0));
            found->most = fmax(found->most, h);
        }
    }
}

static dkm_local solve_here(dkm_n_slack *s, dkm_qp_target target, dkm_qp_info *info)
{
    double C = s->base.settings->C;

    if (dkm_ctx_rank(s->base.ctx) != 0)
        return DKM_LOCAL_OK;
    return C > 0 ? dkm_qp_smo(&s->base.qp, C, target, info)
                 : dkm_qp_active_set(&s->base.qp, target.tolerance, info);
}

static dkm_status solve_once(dkm_n_slack *s, dkm_qp_target target, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;

    if (s->base.distributed)
        DKM_TRY(
            dkm_qp_distributed_solve(&s->spread, &s->base.qp, s->base.settings->C, target, info));
    else
        DKM_AGREE(s->base.ctx, solve_here(s, target, info));
    dkm_constraint_set_publish(&s->base, info);
out:
    return status;
}

static double sum_signed(const dkm_n_slack *s)
{
    double sum = 0;

    for (dkm_idx c = 0; c < s->base.n; c++)
        sum += s->bias_sign[c] * s->base.a[c];
    return sum;
}

/* Look for t until weight s'a is within the tolerance; the objective is then made that of the QP
 * itself. */
static dkm_status solve_with_threshold(dkm_n_slack *s, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    double off = 0, t = s->base.threshold;

    for (int turn = 0; turn < TURNS; turn++) {
        for (dkm_idx c = 0; dkm_ctx_rank(s->base.ctx) == 0 && c < s->base.n; c++)
            s->base.qp.b[c] = s->base.b[c] - t * s->bias_sign[c];
        DKM_TRY(solve_once(s, (dkm_qp_target){tolerance, 0}, info));
        off = sum_signed(s);
        s->base.threshold = t + s->weight * off;
        if (info->unbounded || fabs(s->weight * off) <= tolerance)
            break;
        t = s->base.threshold;
    }
    info->objective += t * off + 0.5 * s->weight * off * off;
out:
    return status;
}

static dkm_status n_slack_solve(dkm_constraint_set *set, double objective, double gap,
                                dkm_qp_info *info)
{
    dkm_n_slack *s = (dkm_n_slack *)set;
    const dkm_jkm_settings *settings = set->settings;
    double tolerance = (settings->C > 0 ? 1e-3 : 1.0) * (DKM_QP_ACCURACY * settings->tolerance) *
                       dkm_constraint_set_margin(set);

    (void)objective;
    return settings->threshold ? solve_with_threshold(s, tolerance, info)
                               : solve_once(s, (dkm_qp_target){tolerance, gap}, info);
}

static void n_slack_keep(dkm_constraint_set *set, const char *keep)
{
    dkm_n_slack *s = (dkm_n_slack *)set;
    dkm_idx r = set->map->r, n_kept = 0, own = 0, k = 0;

    if (set->distributed)
        dkm_qp_distributed_keep(&s->spread, keep);
    for (dkm_idx c = 0; c < set->n; c++) {
        int here = k < s->own && s->qp_index[k] == c;
        if (keep[c] && here) {
            s->qp_index[own] = n_kept;
            s->mine[own] = s->mine[k];
            memmove(s->V + own++ * r, s->V + k * r, (size_t)r * sizeof *s->V);
        }
        k += here;
        if (!keep[c])
            continue;
        s->example[n_kept] = s->example[c];
        s->choice[n_kept] = s->choice[c];
        s->bias_sign[n_kept++] = s->bias_sign[c];
    }
    s->own = own;
}

static void n_slack_clear(dkm_constraint_set *set)
{
    dkm_n_slack *s = (dkm_n_slack *)set;

    DKM_FREE(s->example);
    DKM_FREE(s->choice);
    DKM_FREE(s->bias_sign);
    DKM_FREE(s->qp_index);
    DKM_FREE(s->mine);
    DKM_FREE(s->V);
    DKM_FREE(s->price);
    DKM_FREE(s->slack);
    DKM_FREE(s->shortage);
    dkm_qp_distributed_clear(&s->spread);
}

static const dkm_constraint_ops n_slack = {.name = "each",
                                           .slack_of = n_slack_slack_of,
                                           .weights = n_slack_weights,
                                           .scores = n_slack_scores,
                                           .measure = n_slack_measure,
                                           .add = dkm_n_slack_add,
                                           .solve = n_slack_solve,
                                           .keep = n_slack_keep,
                                           .save = dkm_n_slack_save,
                                           .load = dkm_n_slack_load,
                                           .clear = n_slack_clear};

/* Prices of slacks from the weights of the examples. */
static dkm_status find_prices(dkm_n_slack *s, const dkm_data *weights)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    double *all = NULL;

    if (!weights)
        return DKM_OK;
    DKM_TRY(dkm_example_weights_gather(weights, &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->sides * dkm_data_rows(weights), &s->price));
    for (dkm_idx k = 0; k < s->sides * dkm_data_rows(weights); k++)
        s->price[k] = all[k / s->sides];
    s->base.qp.share = s->price;
out:
    DKM_FREE(all);
    return status;
}

dkm_status dkm_n_slack_create(dkm_joint_map *map, const dkm_separation_oracle *oracle,
                              const dkm_jkm_settings *settings, dkm_constraint_set **set)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_n_slack *s = NULL;

    *set = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    dkm_constraint_set_init(&s->base, map, oracle, settings);
    s->base.ops = &n_slack;
    s->spread = dkm_qp_distributed_empty(ctx);
    s->limit = settings->spread > 0    ? settings->spread
               : dkm_ctx_size(ctx) > 1 ? DISTRIBUTE
                                       : DISTRIBUTE_ALONE;
    s->sides = settings->threshold ? 2 : 1;
    *set = &s->base;
    DKM_AGREE(ctx, dkm_alloc(ctx, s->sides * oracle->n, &s->slack));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->sides * oracle->n, &s->shortage));
    DKM_TRY(find_prices(s, settings->weights));
out:
    if (!*set)
        DKM_FREE(s);
    return status;
}
