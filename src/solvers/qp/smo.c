/* Sequential minimal optimization on a product of simplices: maximize b'a - 1/2 a'G a subject to
 * a >= 0 and sum of a over a group <= C, or C w_g where groups have weights.
 *
 * Platt 1998, MSR-TR-98-14, with the maximal violating pair of Keerthi, Shevade, Bhattacharyya and
 * Murthy 2001, Neural Comput. 13(3):637-649, doi:10.1162/089976601300014493, within each group: the
 * dual of a structural SVM has one simplex per example (Tsochantaridis, Joachims, Hofmann and Altun
 * 2005, JMLR 6:1453-1484). The slack C - sum a of a group is one more variable of gradient zero
 * (SLACK_VAR), so that each group is a simplex. Groups are visited in turn; those with little to
 * gain are skipped until the others are done.
 *
 * Cost per step: 2 rows of G and 2 n flops. Runs on one rank; no communication except through
 * dkm_qp_row_provider. */
#include "solvers/qp/qp.h"

#include <math.h>

#include "core/alloc.h"
#include "solvers/qp/smo_simd.h"

#define TURNS 4 /* trades in a group before the next one has its turn */

typedef struct solver {
    dkm_qp *qp;
    const dkm_smo_simd *simd;
    double budget;
    dkm_qp_target target;
    double *grad;
    dkm_idx groups, *first, *next; /* members of each group, as lists */
    double *unspent;
    dkm_idx steps;
} solver;

static const dkm_idx SLACK_VAR = -1; /* what is not spent */

static double budget_of(const solver *v, dkm_idx g)
{
    return v->qp->share ? v->budget * v->qp->share[g] : v->budget;
}

static dkm_local smo_open(solver *v)
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
        v->unspent[g] = budget_of(v, g);
    }
    for (dkm_idx c = qp->n - 1; c >= 0; c--) {
        v->next[c] = v->first[qp->group[c]];
        v->first[qp->group[c]] = c;
        v->unspent[qp->group[c]] -= qp->a[c];
    }
out:
    return local;
}

static void smo_close(solver *v)
{
    DKM_FREE(v->grad);
    DKM_FREE(v->next);
    DKM_FREE(v->first);
    DKM_FREE(v->unspent);
}

/* A start that spent more than there is is scaled down. */
static void smo_clip_to_budget(solver *v)
{
    dkm_qp *qp = v->qp;

    for (dkm_idx g = 0; g < v->groups; g++) {
        double budget = budget_of(v, g), spent = budget - v->unspent[g];
        if (spent <= budget)
            continue;
        for (dkm_idx c = v->first[g]; c >= 0; c = v->next[c])
            qp->a[c] *= budget / spent;
        v->unspent[g] = 0;
    }
}

static void smo_gradients(solver *v)
{
    dkm_qp *qp = v->qp;

    dkm_qp_matvec(qp, qp->a, NULL, v->grad);
    for (dkm_idx c = 0; c < qp->n; c++)
        v->grad[c] = qp->b[c] - v->grad[c];
}

/* smo_select_pair() where there is one group, of all variables: values first, in vectors, and then
 * the first members that have them, as going through the list would find. */
static double smo_select_of_all(const solver *v, dkm_idx *to, dkm_idx *from)
{
    double bound = v->unspent[0] > 0 ? 0 : INFINITY, most = 0, least = bound;
    dkm_idx c = 0;

    *to = *from = SLACK_VAR;
    v->simd->extremes(v->qp->n, v->grad, v->qp->a, &most, &least);
    if (most > 0) {
        for (c = 0; v->grad[c] != most; c++)
            ;
        *to = c;
    }
    if (least < bound) {
        for (c = 0; v->grad[c] != least || !(v->qp->a[c] > 0); c++)
            ;
        *from = c;
    }
    return isinf(least) ? 0 : most - least;
}

/* The best pair to trade in a group: @p to gains, @p from gives. Returns how far apart their
 * gradients are. */
static double smo_select_pair(const solver *v, dkm_idx g, dkm_idx *to, dkm_idx *from)
{
    double most = 0, least = v->unspent[g] > 0 ? 0 : INFINITY;

    if (v->groups == 1)
        return smo_select_of_all(v, to, from);
    *to = *from = SLACK_VAR;
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

/* Gradients after t more of @p to and t less of @p from. */
static void smo_shift_gradients(solver *v, dkm_idx to, dkm_idx from, double t)
{
    const double *plus = to >= 0 ? dkm_qp_row(v->qp, to) : NULL;
    const double *minus = from >= 0 ? dkm_qp_row(v->qp, from) : NULL;

    if (plus && minus)
        v->simd->exchange(v->qp->n, t, plus, minus, v->grad);
    else if (plus || minus)
        v->simd->shift(v->qp->n, plus ? t : -t, plus ? plus : minus, v->grad);
}

/* Trade as much as gains, or as there is. */
static void smo_update_pair(solver *v, dkm_idx g, dkm_idx to, dkm_idx from, double apart)
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
    if (to >= 0)
        qp->a[to] += t;
    else
        v->unspent[g] += t;
    if (from >= 0)
        qp->a[from] = t < have ? qp->a[from] - t : 0;
    else
        v->unspent[g] = t < have ? v->unspent[g] - t : 0;
    smo_shift_gradients(v, to, from, t);
    v->steps++;
}

/* One turn for every group. Returns the largest gap that was met. */
static double smo_pass(solver *v, double threshold)
{
    double largest = 0;

    for (dkm_idx g = 0; g < v->groups; g++)
        for (int k = 0; k < TURNS; k++) {
            dkm_idx to, from;
            double apart = smo_select_pair(v, g, &to, &from);
            if (k == 0)
                largest = fmax(largest, apart);
            if (apart <= threshold)
                break;
            smo_update_pair(v, g, to, from, apart);
        }
    return largest;
}

/* C times the largest gradient of each group, where it is positive, - grad'a: by how much the
 * objective may fall short of the optimum. */
static double smo_gap(const solver *v)
{
    const dkm_qp *qp = v->qp;
    double gap = -dkm_qp_dot(qp->n, qp->a, v->grad);

    for (dkm_idx g = 0; g < v->groups; g++) {
        double most = 0;
        for (dkm_idx c = v->first[g]; c >= 0; c = v->next[c])
            most = v->grad[c] > most ? v->grad[c] : most;
        gap += budget_of(v, g) * most;
    }
    return gap;
}

/* Trades that gain little wait until those that gain more are done. */
static void smo_solve(solver *v, dkm_qp_info *info)
{
    dkm_idx limit = 100000 + 400 * v->qp->n;
    double tolerance = v->target.tolerance, threshold = tolerance, seen = 0;

    smo_gradients(v);
    do {
        seen = smo_pass(v, threshold);
        threshold = fmax(tolerance, 0.2 * seen);
        if (v->steps > limit)
            break;
    } while (seen > tolerance && !(v->target.gap > 0 && smo_gap(v) <= v->target.gap));
    info->violation = seen;
    info->exact = seen <= tolerance || v->steps > limit;
}

dkm_local dkm_qp_smo(dkm_qp *qp, double budget, dkm_qp_target target, dkm_qp_info *info)
{
    dkm_local local = DKM_LOCAL_OK;
    solver v = {
        .qp = qp, .simd = DKM_SIMD_SELECT(dkm_smo_simd_table), .budget = budget, .target = target};

    *info = (dkm_qp_info){0};
    DKM_STEP(dkm_qp_row_cache_open(qp));
    DKM_STEP(smo_open(&v));
    smo_clip_to_budget(&v);
    smo_solve(&v, info);
    info->steps = v.steps;
    info->objective = dkm_qp_objective(qp, v.grad);
out:
    smo_close(&v);
    dkm_qp_row_cache_close(qp);
    return local;
}
