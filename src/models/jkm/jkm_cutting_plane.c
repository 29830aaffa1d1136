/* Joint kernel maps (Weston, Schoelkopf and Bousquet 2005, IWANN, LNCS 3512:176-191,
 * doi:10.1007/11494669_23) as a structural support vector machine, trained by cutting planes:
 *
 *   minimize    1/2 ||w||^2 + C sum of xi_i
 *   subject to  <w, Phi(x_i, y_i) - Phi(x_i, y)> >= margin - xi_i  for all y
 *
 * n-slack formulation: Tsochantaridis, Joachims, Hofmann and Altun 2005, JMLR 6:1453-1484; 1-slack:
 * Joachims, Finley and Yu 2009, Machine Learning 77(1):27-59 (Cutting-plane training of structural
 * SVMs). Each iteration separates (jkm_separate.c), adds the most violated constraints, solves the
 * restricted QP (solvers/qp) and drops constraints that have been inactive for long.
 *
 * Cost per iteration: W x of all examples (joint_map.c), one separation per example, inner
 * products of the new constraints with all others, the QP on rank 0. Per rank: its examples' rows
 * of coordinates and their constraints. Replicated: one number of each kind per constraint. */
#include "models/jkm/jkm_cutting_plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"
#include "models/jkm/jkm_checkpoint.h"

#define SHRINK   0.7  /* of an annealed epsilon, on separability */
#define SHARE    0.1  /* of the largest violation: smaller ones wait for a later iteration */
#define MAX_AGE  20   /* iterations until a constraint without a multiplier is dropped */
#define STRICT   0.01 /* tolerance of the QP, relative to that of the iterations */
#define SPREAD   8000 /* constraints whose Gram matrix one rank has: 512 MB */
#define MEANT    1e6  /* times the multiplier of a constraint on its own: more is rounding */
#define ROUNDING 1e-9 /* of the primal: what rounding may make of a duality gap of 0 */

void dkm_cutting_plane_close(dkm_cutting_plane *loop)
{
    dkm_constraint_set_clear(&loop->cuts);
    dkm_one_slack_clear(&loop->joint);
    DKM_FREE(loop->U);
    DKM_FREE(loop->G);
    DKM_FREE(loop->H);
    DKM_FREE(loop->V);
    DKM_FREE(loop->slack);
}

static dkm_local open_loop(dkm_cutting_plane *l)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = l->oracle->n, r = l->map->r;

    DKM_STEP(dkm_calloc(l->ctx, n * r, &l->U));
    DKM_STEP(dkm_alloc(l->ctx, n * r, &l->G));
    DKM_STEP(dkm_alloc(l->ctx, l->split ? 2 * n : n, &l->slack));
    if (l->slow) {
        DKM_STEP(dkm_alloc(l->ctx, n * r, &l->H));
        DKM_STEP(dkm_alloc(l->ctx, n * r, &l->V));
    }
out:
    return local;
}

static dkm_idx count_positive(dkm_idx n, const double *a)
{
    dkm_idx count = 0;

    for (dkm_idx c = 0; c < n; c++)
        count += a[c] > 0;
    return count;
}

static double sum_multipliers(const dkm_cutting_plane *l)
{
    double sum = 0;

    for (dkm_idx c = 0; c < l->cuts.n; c++)
        sum += l->cuts.a[c];
    return sum;
}

/* The primal objective of w, where square = ||w||^2. Without slacks, and where all right-hand sides
 * are multiples of the margin, it is that of w scaled until it meets all constraints. Other
 * right-hand sides do not scale with w: the largest shortfall h counts with the price sum(a), for
 * which the multipliers a are dual feasible. Neither is below the dual objective. */
static double primal_objective(const dkm_cutting_plane *l, const dkm_jkm_separation *f,
                               double square)
{
    double met = 1 - f->margin_violation / dkm_jkm_required_margin(l);

    if (l->settings->C > 0)
        return square / 2 + l->settings->C * f->slack;
    if (l->oracle->space->kind == DKM_JKM_FREE || l->oracle->user.find)
        return square / 2 + fmax(0.0, f->margin_violation) * sum_multipliers(l);
    return met > 0 ? square / 2 / (met * met) : INFINITY;
}

/* Where the loop stands. The dual is that of the last program. */
static void take_stock(dkm_cutting_plane *l, const dkm_jkm_separation *f, double dual,
                       double square)
{
    dkm_jkm_info *info = &l->info;

    info->rounds = l->round;
    info->constraints = l->one ? l->joint.n : l->cuts.n;
    info->support = count_positive(info->constraints, l->one ? l->joint.a : l->cuts.a);
    info->epsilon = l->oracle->epsilon;
    info->threshold = l->cuts.threshold;
    info->spread = l->cuts.far;
    info->dual = dual;
    info->slack = l->settings->C > 0 ? f->slack : 0;
    info->violation = fmax(0.0, f->violation) / dkm_jkm_required_margin(l);
    info->primal = primal_objective(l, f, square);
    info->gap = isinf(info->primal) ? 1
                : info->primal > 0  ? (info->primal - dual) / info->primal
                                    : 0;
    l->least = fmin(l->least, f->margin_violation / dkm_jkm_required_margin(l));
}

/* How far the loop is: violations shrink like powers. */
static void cutting_plane_report(dkm_cutting_plane *l)
{
    const dkm_jkm_info *info = &l->info;
    double now = l->settings->C > 0 ? info->gap : info->violation, done;
    double seconds = MPI_Wtime() - l->started, tolerance = l->settings->tolerance;

    l->first_gap = fmax(l->first_gap, now);
    done = now <= tolerance ? 1 : log(l->first_gap / now) / log(l->first_gap / tolerance);
    done = isfinite(done) ? fmin(1.0, fmax(done, 0.01)) : 0.01;
    dkm_progress(l->ctx, done, 1);
    dkm_log(l->ctx, seconds > l->told + 5 ? DKM_INFO : DKM_DEBUG,
            "round %lld: %lld constraints, %lld support vectors, violation %.2g, gap %.2g, about "
            "%.0f s left",
            (long long)info->rounds, (long long)info->constraints, (long long)info->support,
            info->violation, info->gap, seconds * (1 - done) / done);
    if (seconds > l->told + 5)
        l->told = seconds;
}

static int finished(const dkm_cutting_plane *l)
{
    double tolerance = l->settings->tolerance;

    if (l->settings->C > 0 && l->round > 0 && l->info.gap <= tolerance)
        return 1;
    if (l->one)
        return l->info.slack == 0;
    return l->info.violation <= (l->settings->C > 0 ? 1e-3 * tolerance : tolerance);
}

/* The largest sum of multipliers of one example. */
static double largest_budget(const dkm_constraint_set *cuts)
{
    double most = 0;

    for (dkm_idx c = 0; c < cuts->n; c++) {
        double sum = 0;
        for (dkm_idx d = 0; d < cuts->n; d++)
            sum += cuts->example[d] == cuts->example[c] ? cuts->a[d] : 0;
        most = fmax(most, sum);
    }
    return most;
}

/* Multipliers grow without bound where no weight vector meets all constraints. Those that are not
 * yet far beyond what a constraint needs on its own say what C would do; larger ones are rounding.
 */
static dkm_local not_separable(dkm_cutting_plane *l, double alone)
{
    double C = largest_budget(&l->cuts);
    char advice[64] = "";

    if (C > 0 && C <= MEANT * alone)
        snprintf(advice, sizeof advice, ", with C of about %.2g", C);
    return dkm_fail(l->ctx, DKM_ERR_NUMERIC,
                    "not separable at epsilon = %g: no machine meets the %lld constraints of round "
                    "%lld. The best one fell short by %.3g of the margin: allow slack%s, or take a "
                    "larger epsilon",
                    l->oracle->epsilon, (long long)l->cuts.n, (long long)l->round, l->least,
                    advice[0] ? advice : " (C, for instance 1)");
}

/* By weak duality no dual objective is above a primal one: if the gap is negative by more than
 * rounding and the accuracy of the quadratic program (QP), one of the two is wrong. */
static dkm_local check_gap(const dkm_cutting_plane *l)
{
    double least = -(ROUNDING + STRICT * l->settings->tolerance);

    if (l->info.gap >= least)
        return DKM_LOCAL_OK;
    return dkm_fail(
        l->ctx, DKM_ERR_NUMERIC,
        "internal error: after %lld rounds the duality gap is %.3g, below the %.2g that "
        "rounding can explain (primal objective %.6g, dual objective %.6g): the result "
        "is not an optimum",
        (long long)l->round, l->info.gap, least, l->info.primal, l->info.dual);
}

static void open_cuts(dkm_cutting_plane *l)
{
    l->cuts = dkm_constraint_set_empty(l->map);
    l->cuts.limit = l->settings->spread > 0 ? l->settings->spread : SPREAD;
    l->cuts.split = l->split;
}

/* Solve the QP of the constraints so far. With a single slack, what the QP leaves undone
 * costs at most C times its tolerance, a small share of the objective @p scale. */
static dkm_status cutting_plane_solve(dkm_cutting_plane *l, double scale, dkm_qp_info *qp)
{
    double C = l->settings->C, tolerance = STRICT * l->settings->tolerance;

    if (l->one)
        return dkm_one_slack_solve(&l->joint, C, tolerance * scale / C, qp);
    return dkm_constraint_set_solve(
        &l->cuts, C, (C > 0 ? 1e-3 : 1.0) * tolerance * dkm_jkm_required_margin(l), qp);
}

/* A smaller epsilon: constraints so far hold with its margin as well, right-hand sides scale with
 * it, and so do multipliers, the dual objective with its square. Without slacks that is the
 * solution of the scaled program; multipliers that a budget limits have to be found anew.
 * Constraints of free outputs are about those at a distance of epsilon, and none of them is one of
 * a smaller epsilon: they are dropped. */
static dkm_status anneal(dkm_cutting_plane *l, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    double before = l->oracle->margin, ratio;

    dkm_separation_oracle_set_epsilon(l->oracle,
                                      fmax(l->settings->epsilon, SHRINK * l->oracle->epsilon));
    dkm_log(l->ctx, DKM_INFO, "separable: epsilon shrinks to %g", l->oracle->epsilon);
    ratio = l->oracle->margin / before;
    qp->objective *= ratio * ratio;
    if (l->oracle->space->kind == DKM_JKM_FREE) {
        dkm_constraint_set_clear(&l->cuts);
        open_cuts(l);
        qp->objective = 0;
        return DKM_OK;
    }
    dkm_constraint_set_scale(&l->cuts, ratio);
    dkm_one_slack_scale(&l->joint, ratio);
    if (l->settings->C > 0 && l->info.constraints > 0)
        DKM_TRY(cutting_plane_solve(l, qp->objective > 0 ? qp->objective : l->info.primal, qp));
out:
    return status;
}

/* One iteration with a single slack, after the oracle has looked. */
static dkm_status improve_one(dkm_cutting_plane *l, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(l->ctx, dkm_one_slack_prune(&l->joint, MAX_AGE));
    DKM_TRY(dkm_one_slack_add(&l->joint));
    DKM_TRY(cutting_plane_solve(l, l->info.dual > 0 ? l->info.dual : l->info.primal, qp));
    l->round++;
out:
    return status;
}

/* One iteration after the oracle has looked: add what it found and solve. */
static dkm_status improve(dkm_cutting_plane *l, const dkm_jkm_separation *f, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    double unit = dkm_jkm_required_margin(l) * l->settings->tolerance;
    double least = l->settings->C > 0 ? 1e-3 * unit : unit;

    DKM_TRY(dkm_constraint_set_prune(&l->cuts, MAX_AGE));
    DKM_TRY(dkm_jkm_add_cuts(l, fmax(least, SHARE * f->violation)));
    DKM_TRY(cutting_plane_solve(l, 1, qp));
    DKM_AGREE(l->ctx, qp->unbounded ? not_separable(l, qp->alone) : DKM_LOCAL_OK);
    l->round++;
out:
    return status;
}

static double machine_square(const dkm_cutting_plane *l, double objective)
{
    const double *a = l->one ? l->joint.a : l->cuts.a, *b = l->one ? l->joint.b : l->cuts.b;
    double sum = 0;

    for (dkm_idx c = 0; c < (l->one ? l->joint.n : l->cuts.n); c++)
        sum += a[c] * b[c];
    return 2 * (sum - objective); /* objective = b'a - 1/2 ||w||^2 */
}

dkm_status dkm_cutting_plane_run(dkm_cutting_plane *loop, dkm_joint_map *map,
                                 dkm_separation_oracle *oracle, const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_qp_info qp = {0};
    dkm_jkm_separation f = {0};

    *loop = (dkm_cutting_plane){.ctx = map->fitted.ctx, .map = map, .oracle = oracle};
    loop->settings = settings;
    loop->split = settings->threshold;
    open_cuts(loop);
    loop->joint = dkm_one_slack_empty(map, oracle);
    loop->one = settings->slacks == DKM_JKM_SLACKS_ONE;
    loop->started = MPI_Wtime();
    loop->least = INFINITY;
    loop->slow = settings->C == 0 && oracle->space->kind == DKM_JKM_SPHERE && !oracle->user.find;
    DKM_AGREE(loop->ctx, open_loop(loop));
    if (settings->anneal > settings->epsilon)
        dkm_separation_oracle_set_epsilon(oracle, settings->anneal);
    DKM_TRY(dkm_cutting_plane_resume(loop, &qp.objective));
    for (;;) {
        DKM_TRY(dkm_jkm_separate(loop, &f));
        take_stock(loop, &f, qp.objective, machine_square(loop, qp.objective));
        cutting_plane_report(loop);
        if (finished(loop) || loop->round >= settings->rounds)
            DKM_AGREE(loop->ctx, check_gap(loop));
        if (finished(loop) && oracle->epsilon <= settings->epsilon)
            break;
        if (finished(loop)) {
            DKM_TRY(anneal(loop, &qp));
            continue;
        }
        if (loop->round >= settings->rounds) {
            dkm_log(loop->ctx, DKM_WARN,
                    "stopped after %lld rounds with violations of %.3g of the margin and a gap of "
                    "%.3g: give more rounds",
                    (long long)loop->round, loop->info.violation, loop->info.gap);
            break;
        }
        DKM_TRY(loop->one ? improve_one(loop, &qp) : improve(loop, &f, &qp));
        DKM_TRY(dkm_cutting_plane_save(loop, qp.objective));
    }
    if (loop->one)
        DKM_TRY(dkm_one_slack_weights(&loop->joint, loop->U));
out:
    return status;
}
