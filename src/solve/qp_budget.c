/* Quadratic programs with a budget a group. What a group has not spent, C - sum a, is one more
 * multiplier of gradient zero, so that each group is a simplex. A step takes the two members of a
 * group that gain most by trading: the largest gradient against the smallest of those that still
 * have something. Groups are visited in turn; those in which nothing can be gained are left alone
 * until the others are done. */
#include "solve/qp.h"

#include <math.h>

#include "core/alloc.h"

#define TURNS 4 /* trades in a group before the next one has its turn */

typedef struct solver {
    dkm_qp *qp;
    double budget, tolerance;
    double *grad;
    dkm_idx groups, *first, *next; /* members of each group, as lists */
    double *unspent;
    dkm_idx steps;
} solver;

static const dkm_idx NOBODY = -1; /* what is not spent */

static dkm_local open_solver(solver *v)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_qp *qp = v->qp;

    for (dkm_idx c = 0; c < qp->n; c++)
        if (qp->group[c] >= v->groups)
            v->groups = qp->group[c] + 1;
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v->grad));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v->next));
    DKM_STEP(dkm_alloc(qp->ctx, v->groups, &v->first));
    DKM_STEP(dkm_alloc(qp->ctx, v->groups, &v->unspent));
    for (dkm_idx g = 0; g < v->groups; g++) {
        v->first[g] = -1;
        v->unspent[g] = v->budget;
    }
    for (dkm_idx c = qp->n - 1; c >= 0; c--) {
        v->next[c] = v->first[qp->group[c]];
        v->first[qp->group[c]] = c;
        v->unspent[qp->group[c]] -= qp->a[c];
    }
out:
    return local;
}

static void close_solver(solver *v)
{
    DKM_FREE(v->grad);
    DKM_FREE(v->next);
    DKM_FREE(v->first);
    DKM_FREE(v->unspent);
}

/* A start that spent more than there is is scaled down. */
static void respect_budgets(solver *v)
{
    dkm_qp *qp = v->qp;

    for (dkm_idx g = 0; g < v->groups; g++) {
        double spent = v->budget - v->unspent[g];
        if (spent <= v->budget)
            continue;
        for (dkm_idx c = v->first[g]; c >= 0; c = v->next[c])
            qp->a[c] *= v->budget / spent;
        v->unspent[g] = 0;
    }
}

static void find_gradients(solver *v)
{
    dkm_qp *qp = v->qp;

    dkm_qp_times(qp, qp->a, NULL, v->grad);
    for (dkm_idx c = 0; c < qp->n; c++)
        v->grad[c] = qp->b[c] - v->grad[c];
}

/* The best pair to trade in a group: @p to gains, @p from gives. Returns how far apart their
 * gradients are. */
static double best_pair(const solver *v, dkm_idx g, dkm_idx *to, dkm_idx *from)
{
    double most = 0, least = v->unspent[g] > 0 ? 0 : INFINITY;

    *to = *from = NOBODY;
    for (dkm_idx c = v->first[g]; c >= 0; c = v->next[c]) {
        if (v->grad[c] > most) {
            most = v->grad[c];
            *to = c;
        }
        if (v->qp->a[c] > 0 && v->grad[c] < least) {
            least = v->grad[c];
            *from = c;
        }
    }
    return isinf(least) ? 0 : most - least;
}

static void shift_gradients(solver *v, dkm_idx c, double t)
{
    const double *g = dkm_qp_row(v->qp, c);

    for (dkm_idx d = 0; d < v->qp->n; d++)
        v->grad[d] -= t * g[d];
}

/* Trade as much as gains, or as there is. */
static void trade(solver *v, dkm_idx g, dkm_idx to, dkm_idx from, double apart)
{
    dkm_qp *qp = v->qp;
    double curve = 0, have = from >= 0 ? qp->a[from] : v->unspent[g], t;

    if (to >= 0)
        curve += dkm_qp_diagonal(qp, to);
    if (from >= 0)
        curve += dkm_qp_diagonal(qp, from);
    if (to >= 0 && from >= 0)
        curve -= 2 * dkm_qp_row(qp, to)[from];
    t = curve * have > apart ? apart / curve : have;
    if (to >= 0) {
        qp->a[to] += t;
        shift_gradients(v, to, t);
    } else {
        v->unspent[g] += t;
    }
    if (from >= 0) {
        qp->a[from] = t < have ? qp->a[from] - t : 0;
        shift_gradients(v, from, -t);
    } else {
        v->unspent[g] = t < have ? v->unspent[g] - t : 0;
    }
    v->steps++;
}

/* One turn for every group. Returns the largest gap that was met. */
static double go_round(solver *v, double threshold)
{
    double largest = 0;

    for (dkm_idx g = 0; g < v->groups; g++)
        for (int k = 0; k < TURNS; k++) {
            dkm_idx to, from;
            double apart = best_pair(v, g, &to, &from);
            if (k == 0)
                largest = fmax(largest, apart);
            if (apart <= threshold)
                break;
            trade(v, g, to, from, apart);
        }
    return largest;
}

/* Trades that gain little wait until those that gain more are done. */
static void solve(solver *v, dkm_qp_info *info)
{
    dkm_idx limit = 100000 + 400 * v->qp->n;
    double threshold = v->tolerance, seen = 0;

    find_gradients(v);
    do {
        seen = go_round(v, threshold);
        threshold = fmax(v->tolerance, 0.2 * seen);
        if (v->steps > limit)
            break;
    } while (seen > v->tolerance);
    info->violation = seen;
}

dkm_local dkm_qp_solve_budget(dkm_qp *qp, double budget, double tolerance, dkm_qp_info *info)
{
    dkm_local local = DKM_LOCAL_OK;
    solver v = {.qp = qp, .budget = budget, .tolerance = tolerance};

    *info = (dkm_qp_info){0};
    DKM_STEP(dkm_qp_open_rows(qp));
    DKM_STEP(open_solver(&v));
    respect_budgets(&v);
    solve(&v, info);
    info->steps = v.steps;
    info->objective = dkm_qp_objective(qp, v.grad);
out:
    close_solver(&v);
    dkm_qp_close_rows(qp);
    return local;
}
