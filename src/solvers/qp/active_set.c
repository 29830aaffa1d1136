/* Nonnegative quadratic program by a primal active set: maximize b'a - 1/2 a'G a subject to a >=
 * 0.
 *
 * The method of Lawson and Hanson (NNLS; Solving Least Squares Problems, 1974, reprinted 1995,
 * doi:10.1137/1.9781611971217, ch. 23) on the normal equations, several constraints joining at
 * once, with an up- and downdated Cholesky factor (Gill, Golub, Murray and Saunders 1974, Math.
 * Comp. 28:505-535, doi:10.1090/S0025-5718-1974-0343558-6). With P the constraints whose a may
 * move, the optimum over them is G_PP s = b_P; a step towards s stops where a multiplier reaches
 * zero, which then leaves P. Constraints whose gradient b - G a is positive join P. The Cholesky
 * factor of G_PP gains and loses rows instead of being recomputed.
 *
 * A constraint that depends on those in P (d_c = sum beta_p d_p) cannot join: multipliers move
 * along (1, -beta), which costs nothing in a'Ga and gains in b'a, until one of P reaches zero. If
 * none does, a grows without bound and no w satisfies the constraints.
 *
 * Cost per step: |P|^2 flops to add or drop a constraint and to solve, n |P| for the gradients.
 * Runs on one rank; no communication except through dkm_qp_row_provider. */
#include "solvers/qp/qp.h"

#include <math.h>

#include "core/alloc.h"

#define BLOCK     16    /* constraints that may join at once */
#define DEPENDENT 1e-11 /* squared distance to the span of P, relative to the constraint itself */

typedef struct solver {
    dkm_qp *qp;
    double tolerance;
    double *grad, *s, *row;
    char *in; /* is it in P? */
    double *Ga;
    dkm_idx steps;
    int unbounded;
    dkm_local failed; /* for want of memory */
} solver;

/* row <- L^-1 row, the first k of them. */
static void active_set_forward(const dkm_qp *qp, dkm_idx k, double *row)
{
    for (dkm_idx i = 0; i < k; i++)
        row[i] =
            (row[i] - dkm_qp_dot(i, dkm_qp_factor_row(qp, i), row)) / dkm_qp_factor_row(qp, i)[i];
}

/* row <- L^-T row. */
static void active_set_backward(const dkm_qp *qp, dkm_idx k, double *row)
{
    for (dkm_idx i = k - 1; i >= 0; i--) {
        const double *l = dkm_qp_factor_row(qp, i);
        row[i] /= l[i];
        for (dkm_idx j = 0; j < i; j++)
            row[j] -= l[j] * row[i];
    }
}

/* Take member i out of P: rotations bring the rows below back to a triangle. */
static void active_set_remove(solver *v, dkm_idx i)
{
    dkm_qp *qp = v->qp;

    v->in[qp->member[i]] = 0;
    qp->a[qp->member[i]] = 0;
    for (dkm_idx r = i + 1; r < qp->active; r++) {
        double *to = dkm_qp_factor_row(qp, r - 1), *from = dkm_qp_factor_row(qp, r);
        for (dkm_idx c = 0; c <= r; c++)
            to[c] = from[c];
        qp->member[r - 1] = qp->member[r];
    }
    qp->active--;
    for (dkm_idx k = i; k < qp->active; k++) {
        double *l = dkm_qp_factor_row(qp, k), h = hypot(l[k], l[k + 1]), c = l[k] / h,
               s = l[k + 1] / h;
        for (dkm_idx r = k; r < qp->active; r++) {
            double *x = dkm_qp_factor_row(qp, r), p = x[k], q = x[k + 1];
            x[k] = c * p + s * q;
            x[k + 1] = c * q - s * p;
        }
    }
}

/* Solve row <- L^-1 G_Pc and say what is left of G_cc. */
static double active_set_project(solver *v, dkm_idx c)
{
    dkm_qp *qp = v->qp;
    const double *g = dkm_qp_row(qp, c);

    for (dkm_idx i = 0; i < qp->active; i++)
        v->row[i] = g[qp->member[i]];
    active_set_forward(qp, qp->active, v->row);
    return g[c] - dkm_qp_dot(qp->active, v->row, v->row);
}

/* Trade multipliers of P for that of c, which depends on them, until one of P is gone. */
static int active_set_exchange(solver *v, dkm_idx c)
{
    dkm_qp *qp = v->qp;
    dkm_idx out = -1;
    double t = INFINITY;

    active_set_backward(qp, qp->active, v->row);
    for (dkm_idx i = 0; i < qp->active; i++) {
        double ratio = qp->a[qp->member[i]] / v->row[i];
        if (v->row[i] > 1e-12 && ratio < t) {
            t = ratio;
            out = i;
        }
    }
    if (out < 0)
        return 0;
    for (dkm_idx i = 0; i < qp->active; i++)
        qp->a[qp->member[i]] = fmax(0.0, qp->a[qp->member[i]] - t * v->row[i]);
    qp->a[c] += t;
    active_set_remove(v, out);
    return 1;
}

static int active_set_blocked(const solver *v)
{
    return v->unbounded || v->failed.code != DKM_OK;
}

/* Let c join P. */
static void active_set_add(solver *v, dkm_idx c)
{
    dkm_qp *qp = v->qp;
    double left = active_set_project(v, c), *l;

    while (left <= DEPENDENT * dkm_qp_diagonal(qp, c)) {
        if (!active_set_exchange(v, c)) {
            v->unbounded = 1;
            return;
        }
        left = active_set_project(v, c);
    }
    v->failed = dkm_qp_widen_factor(qp);
    if (v->failed.code != DKM_OK)
        return;
    l = dkm_qp_factor_row(qp, qp->active);
    for (dkm_idx i = 0; i < qp->active; i++)
        l[i] = v->row[i];
    l[qp->active] = sqrt(left);
    qp->member[qp->active++] = c;
    v->in[c] = 1;
}

/* Move a towards the optimum over P until it is reached, losing members on the way. */
static void active_set_settle(solver *v)
{
    dkm_qp *qp = v->qp;

    for (;;) {
        double t = 1;
        for (dkm_idx i = 0; i < qp->active; i++)
            v->s[i] = qp->b[qp->member[i]];
        active_set_forward(qp, qp->active, v->s);
        active_set_backward(qp, qp->active, v->s);
        for (dkm_idx i = 0; i < qp->active; i++) {
            double a = qp->a[qp->member[i]];
            if (v->s[i] <= 0 && a / (a - v->s[i]) < t)
                t = a / (a - v->s[i]);
            else if (v->s[i] <= 0 && a == 0)
                t = 0;
        }
        for (dkm_idx i = 0; i < qp->active; i++)
            qp->a[qp->member[i]] += t * (v->s[i] - qp->a[qp->member[i]]);
        v->steps++;
        if (t >= 1)
            return;
        for (dkm_idx i = qp->active - 1; i >= 0; i--)
            if (v->s[i] <= 0 && qp->a[qp->member[i]] <= 1e-15 * fabs(v->s[i]))
                active_set_remove(v, i);
    }
}

/* Gradients of all constraints outside P; the largest is returned. */
static double active_set_gradients(solver *v)
{
    dkm_qp *qp = v->qp;
    double most = 0;

    dkm_qp_matvec(qp, qp->a, v->in, v->grad);
    for (dkm_idx c = 0; c < qp->n; c++) {
        v->grad[c] = v->in[c] ? 0 : qp->b[c] - v->grad[c];
        most = fmax(most, v->grad[c]);
    }
    return most;
}

/* Let the constraints with the largest gradients join, at most @p count and none far behind the
 * first. */
static void active_set_admit(solver *v, dkm_idx count, double most)
{
    for (dkm_idx k = 0; k < count && !active_set_blocked(v); k++) {
        dkm_idx best = -1;
        for (dkm_idx c = 0; c < v->qp->n; c++)
            if (!v->in[c] && v->grad[c] > v->tolerance && (best < 0 || v->grad[c] > v->grad[best]))
                best = c;
        if (best < 0 || v->grad[best] < 0.1 * most)
            return;
        v->grad[best] = 0;
        active_set_add(v, best);
    }
}

static void active_set_solve(solver *v, dkm_qp_info *info)
{
    dkm_idx count = BLOCK, limit = 50 * v->qp->n + 1000;
    double last = dkm_qp_objective(v->qp, v->Ga);

    active_set_settle(v);
    while ((info->violation = active_set_gradients(v)) > v->tolerance && v->steps < limit) {
        double now;
        active_set_admit(v, count, info->violation);
        if (active_set_blocked(v))
            break;
        active_set_settle(v);
        now = dkm_qp_objective(v->qp, v->Ga);
        count = now > last ? BLOCK : 1;
        last = now;
    }
    info->objective = dkm_qp_objective(v->qp, v->Ga);
    info->unbounded = v->unbounded;
    info->steps = v->steps;
}

dkm_local dkm_qp_active_set(dkm_qp *qp, double tolerance, dkm_qp_info *info)
{
    dkm_local local = DKM_LOCAL_OK;
    solver v = {.qp = qp, .tolerance = tolerance, .failed = DKM_LOCAL_OK};

    *info = (dkm_qp_info){0};
    DKM_STEP(dkm_qp_row_cache_open(qp));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v.Ga));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v.grad));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v.s));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &v.row));
    DKM_STEP(dkm_calloc(qp->ctx, qp->n, &v.in));
    for (dkm_idx i = 0; i < qp->active; i++)
        v.in[qp->member[i]] = 1;
    for (dkm_idx c = 0; c < qp->n; c++)
        if (qp->a[c] > 0 && !v.in[c] && !active_set_blocked(&v))
            active_set_add(&v, c);
    DKM_STEP(v.failed);
    if (qp->n > 0)
        active_set_solve(&v, info);
    for (dkm_idx c = 0; c < qp->n; c++)
        if (dkm_qp_diagonal(qp, c) > 0)
            info->alone = fmax(info->alone, qp->b[c] / dkm_qp_diagonal(qp, c));
    local = v.failed;
out:
    dkm_qp_row_cache_close(qp);
    DKM_FREE(v.Ga);
    DKM_FREE(v.grad);
    DKM_FREE(v.s);
    DKM_FREE(v.row);
    DKM_FREE(v.in);
    return local;
}
