#include "model/jkm_loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "model/jkm_kept.h"
#include "model/panels.h"

#define SHRINK   0.7  /* of an annealed epsilon, on separability */
#define SHARE    0.1  /* of the largest violation: smaller ones wait for a later round */
#define IDLE     20   /* rounds until a constraint without a multiplier is dropped */
#define STRICT   0.01 /* tolerance of the program, relative to that of the rounds */
#define SPREAD   8000 /* constraints whose Gram matrix one rank has: 512 MB */
#define MEANT    1e6  /* times the multiplier of a constraint on its own: more is rounding */
#define ROUNDING 1e-9 /* of the primal: what rounding may make of a duality gap of 0 */

void dkm_jkm_loop_close(dkm_jkm_loop *loop)
{
    dkm_cutset_clear(&loop->cuts);
    dkm_onecut_clear(&loop->joint);
    DKM_FREE(loop->U);
    DKM_FREE(loop->G);
    DKM_FREE(loop->H);
    DKM_FREE(loop->V);
    DKM_FREE(loop->slack);
}

static dkm_local open_loop(dkm_jkm_loop *l)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = l->oracle->n, r = l->form->r;

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

static double sum_multipliers(const dkm_jkm_loop *l)
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
static double primal_objective(const dkm_jkm_loop *l, const dkm_jkm_finding *f, double square)
{
    double met = 1 - f->shortfall / dkm_jkm_asked(l);

    if (l->settings->C > 0)
        return square / 2 + l->settings->C * f->slack;
    if (l->oracle->space->kind == DKM_JKM_FREE || l->oracle->user.find)
        return square / 2 + fmax(0.0, f->shortfall) * sum_multipliers(l);
    return met > 0 ? square / 2 / (met * met) : INFINITY;
}

/* Where the loop stands. The dual is that of the last program. */
static void take_stock(dkm_jkm_loop *l, const dkm_jkm_finding *f, double dual, double square)
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
    info->violation = fmax(0.0, f->violation) / dkm_jkm_asked(l);
    info->primal = primal_objective(l, f, square);
    info->gap = isinf(info->primal) ? 1
                : info->primal > 0  ? (info->primal - dual) / info->primal
                                    : 0;
    l->least = fmin(l->least, f->shortfall / dkm_jkm_asked(l));
}

/* How far the loop is: violations shrink like powers. */
static void tell(dkm_jkm_loop *l)
{
    const dkm_jkm_info *info = &l->info;
    double now = l->settings->C > 0 ? info->gap : info->violation, done;
    double seconds = MPI_Wtime() - l->started, tolerance = l->settings->tolerance;

    l->first_gap = fmax(l->first_gap, now);
    done = now <= tolerance ? 1 : log(l->first_gap / now) / log(l->first_gap / tolerance);
    done = isfinite(done) ? fmin(1.0, fmax(done, 0.01)) : 0.01;
    dkm_progress(l->ctx, done, 1);
    dkm_say(l->ctx, seconds > l->told + 5 ? DKM_INFO : DKM_DEBUG,
            "round %lld: %lld constraints, %lld support vectors, violation %.2g, gap %.2g, about "
            "%.0f s left",
            (long long)info->rounds, (long long)info->constraints, (long long)info->support,
            info->violation, info->gap, seconds * (1 - done) / done);
    if (seconds > l->told + 5)
        l->told = seconds;
}

static int finished(const dkm_jkm_loop *l)
{
    double tolerance = l->settings->tolerance;

    if (l->settings->C > 0 && l->round > 0 && l->info.gap <= tolerance)
        return 1;
    if (l->one)
        return l->info.slack == 0;
    return l->info.violation <= (l->settings->C > 0 ? 1e-3 * tolerance : tolerance);
}

/* The largest sum of multipliers of one example. */
static double largest_budget(const dkm_cutset *cuts)
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

/* Multipliers grow without bound where no machine meets all constraints. Those that are not yet far
 * beyond what a constraint needs on its own say what C would do; larger ones are rounding. */
static dkm_local not_separable(dkm_jkm_loop *l, double alone)
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
 * rounding and the accuracy of the quadratic program, one of the two is wrong. */
static dkm_local check_gap(const dkm_jkm_loop *l)
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

static void open_cuts(dkm_jkm_loop *l)
{
    l->cuts = dkm_cutset_empty(l->form);
    l->cuts.limit = l->settings->spread > 0 ? l->settings->spread : SPREAD;
    l->cuts.split = l->split;
}

/* Solve the program of the constraints so far. With a single slack, what the program leaves undone
 * costs at most C times its tolerance, a small share of the objective @p scale. */
static dkm_status solve(dkm_jkm_loop *l, double scale, dkm_qp_info *qp)
{
    double C = l->settings->C, tolerance = STRICT * l->settings->tolerance;

    if (l->one)
        return dkm_onecut_solve(&l->joint, C, tolerance * scale / C, qp);
    return dkm_cutset_solve(&l->cuts, C, (C > 0 ? 1e-3 : 1.0) * tolerance * dkm_jkm_asked(l), qp);
}

/* A smaller epsilon: constraints so far hold with its margin as well, right-hand sides scale with
 * it, and so do multipliers, the dual objective with its square. Without slacks that is the
 * solution of the scaled program; multipliers that a budget limits have to be found anew.
 * Constraints of free outputs are about those at a distance of epsilon, and none of them is one of
 * a smaller epsilon: they are dropped. */
static dkm_status anneal(dkm_jkm_loop *l, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    double before = l->oracle->margin, ratio;

    dkm_oracle_set_epsilon(l->oracle, fmax(l->settings->epsilon, SHRINK * l->oracle->epsilon));
    dkm_say(l->ctx, DKM_INFO, "separable: epsilon shrinks to %g", l->oracle->epsilon);
    ratio = l->oracle->margin / before;
    qp->objective *= ratio * ratio;
    if (l->oracle->space->kind == DKM_JKM_FREE) {
        dkm_cutset_clear(&l->cuts);
        open_cuts(l);
        qp->objective = 0;
        return DKM_OK;
    }
    dkm_cutset_scale(&l->cuts, ratio);
    dkm_onecut_scale(&l->joint, ratio);
    if (l->settings->C > 0 && l->info.constraints > 0)
        DKM_TRY(solve(l, qp->objective > 0 ? qp->objective : l->info.primal, qp));
out:
    return status;
}

/* One round with a single slack, after the oracle has looked. */
static dkm_status improve_one(dkm_jkm_loop *l, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(l->ctx, dkm_onecut_prune(&l->joint, IDLE));
    DKM_TRY(dkm_onecut_add(&l->joint));
    DKM_TRY(solve(l, l->info.dual > 0 ? l->info.dual : l->info.primal, qp));
    l->round++;
out:
    return status;
}

/* One round after the oracle has looked: add what it found and solve. */
static dkm_status improve(dkm_jkm_loop *l, const dkm_jkm_finding *f, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;
    double unit = dkm_jkm_asked(l) * l->settings->tolerance;
    double least = l->settings->C > 0 ? 1e-3 * unit : unit;

    DKM_TRY(dkm_cutset_prune(&l->cuts, IDLE));
    DKM_TRY(dkm_jkm_add(l, fmax(least, SHARE * f->violation)));
    DKM_TRY(solve(l, 1, qp));
    DKM_AGREE(l->ctx, qp->unbounded ? not_separable(l, qp->alone) : DKM_LOCAL_OK);
    l->round++;
out:
    return status;
}

static double machine_square(const dkm_jkm_loop *l, double objective)
{
    const double *a = l->one ? l->joint.a : l->cuts.a, *b = l->one ? l->joint.b : l->cuts.b;
    double sum = 0;

    for (dkm_idx c = 0; c < (l->one ? l->joint.n : l->cuts.n); c++)
        sum += a[c] * b[c];
    return 2 * (sum - objective); /* objective = b'a - 1/2 ||w||^2 */
}

dkm_status dkm_jkm_loop_run(dkm_jkm_loop *loop, dkm_form *form, dkm_oracle *oracle,
                            const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_qp_info qp = {0};
    dkm_jkm_finding f = {0};

    *loop = (dkm_jkm_loop){.ctx = form->base.ctx, .form = form, .oracle = oracle};
    loop->settings = settings;
    loop->split = settings->threshold;
    open_cuts(loop);
    loop->joint = dkm_onecut_empty(form, oracle);
    loop->one = settings->slacks == DKM_JKM_SLACKS_ONE;
    loop->started = MPI_Wtime();
    loop->least = INFINITY;
    loop->slow = settings->C == 0 && oracle->space->kind == DKM_JKM_SPHERE && !oracle->user.find;
    DKM_AGREE(loop->ctx, open_loop(loop));
    if (settings->anneal > settings->epsilon)
        dkm_oracle_set_epsilon(oracle, settings->anneal);
    DKM_TRY(dkm_jkm_loop_take_up(loop, &qp.objective));
    for (;;) {
        DKM_TRY(dkm_jkm_look(loop, &f));
        take_stock(loop, &f, qp.objective, machine_square(loop, qp.objective));
        tell(loop);
        if (finished(loop) || loop->round >= settings->rounds)
            DKM_AGREE(loop->ctx, check_gap(loop));
        if (finished(loop) && oracle->epsilon <= settings->epsilon)
            break;
        if (finished(loop)) {
            DKM_TRY(anneal(loop, &qp));
            continue;
        }
        if (loop->round >= settings->rounds) {
            dkm_say(loop->ctx, DKM_WARN,
                    "stopped after %lld rounds with violations of %.3g of the margin and a gap of "
                    "%.3g: give more rounds",
                    (long long)loop->round, loop->info.violation, loop->info.gap);
            break;
        }
        DKM_TRY(loop->one ? improve_one(loop, &qp) : improve(loop, &f, &qp));
        DKM_TRY(dkm_jkm_loop_leave(loop, qp.objective));
    }
    if (loop->one)
        DKM_TRY(dkm_onecut_machine(&loop->joint, loop->U));
out:
    return status;
}
