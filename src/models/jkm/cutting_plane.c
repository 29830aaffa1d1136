/* Joint kernel maps (Weston, Schoelkopf and Bousquet 2005, IWANN, LNCS 3512:176-191,
 * doi:10.1007/11494669_23) as a structural support vector machine, trained by cutting planes:
 *
 *   minimize    1/2 ||w||^2 + C sum of xi_i
 *   subject to  <w, Phi(x_i, y_i) - Phi(x_i, y)> >= margin - xi_i  for all y
 *
 * n-slack formulation: Tsochantaridis, Joachims, Hofmann and Altun 2005, JMLR 6:1453-1484; 1-slack:
 * Joachims, Finley and Yu 2009, Machine Learning 77(1):27-59 (Cutting-plane training of structural
 * SVMs). Each iteration separates
 * (separation_oracle.c), drops constraints that have been inactive for long, adds the most violated
 * ones and solves the restricted QP (solvers/qp). The working set is a dkm_constraint_set, of
 * either formulation.
 *
 * Cost per iteration: W x of all examples (joint_map.c), one separation per example, inner
 * products of the new constraints with all others, the QP on rank 0. Per rank: its examples' rows
 * of coordinates and their constraints. Replicated: one number of each kind per constraint. */
#include "models/jkm/cutting_plane.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "models/jkm/chain/chain_set.h"

#define SHRINK        0.7 /* of an annealed epsilon, on separability */
#define SHARE         0.1 /* of the largest violation: smaller ones wait for a later iteration */
#define MAX_AGE       20  /* iterations until a constraint without a multiplier is dropped */
#define SHARE_SMALL   0.7 /* the same two, where programs are kept small */
#define MAX_AGE_SMALL 3
#define QP_GAP        0.3 /* of the duality gap: how near to its optimum a QP with slacks is solved */
#define MEANT         1e6  /* times the multiplier of a constraint on its own: more is rounding */
#define ROUNDING      1e-9 /* of the primal: what rounding may make of a duality gap of 0 */

/* Sums and the largest of what was found, over all examples. */
typedef struct separation {
    double slack;     /* sum of xi at the true constraints of w */
    double violation; /* largest, beyond the slack so far where there are slacks */
    double most;      /* largest, slack or not */
} separation;

void dkm_cutting_plane_close(dkm_cutting_plane *loop)
{
    dkm_constraint_set_destroy(&loop->constraints);
    dkm_stabilized_separation_close(&loop->stabilized);
    DKM_FREE(loop->U);
    DKM_FREE(loop->G);
}

static dkm_local allocate(dkm_cutting_plane *l)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx size = l->oracle->n * l->map->r;

    DKM_STEP(dkm_calloc(l->ctx, size, &l->U));
    DKM_STEP(dkm_alloc(l->ctx, size, &l->G));
    DKM_STEP(dkm_stabilized_separation_open(&l->stabilized, l->oracle, l->settings->C));
out:
    return local;
}

static dkm_status open_constraints(dkm_cutting_plane *l)
{
    int one = l->settings->slacks == DKM_JKM_SLACKS_ONE;

    dkm_constraint_set_destroy(&l->constraints);
    if (l->oracle->chain)
        return dkm_chain_set_create(l->map, l->oracle, l->settings, &l->constraints);
    return (one ? dkm_one_slack_create : dkm_n_slack_create)(l->map, l->oracle, l->settings,
                                                             &l->constraints);
}

/* Find the constraints that the current w violates most. */
static dkm_status separate(dkm_cutting_plane *l, separation *found)
{
    dkm_status status = DKM_OK;
    dkm_constraint_set *set = l->constraints;
    dkm_violations v = {0};
    double most[2];

    dkm_phase_begin(l->ctx, "oracle");
    DKM_TRY(set->ops->scores(set, l->U, l->G));
    DKM_TRY(dkm_stabilized_separation_search(&l->stabilized, l->oracle, l->G));
    set->ops->measure(set, l->G, &v);
    most[0] = v.beyond;
    most[1] = v.most;
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(l->ctx));
    DKM_TRY(dkm_twosum_allreduce(l->ctx, 1, &v.slack));
    *found = (separation){v.slack.hi, most[0], most[1]};
out:
    dkm_phase_end(l->ctx);
    return status;
}

static dkm_idx count_positive(dkm_idx n, const double *a)
{
    dkm_idx count = 0;

    for (dkm_idx c = 0; c < n; c++)
        count += a[c] > 0;
    return count;
}

/* The primal objective of w, where square = ||w||^2. Without slacks, and where all right-hand sides
 * are multiples of the margin, it is that of w scaled until it meets all constraints. Other
 * right-hand sides do not scale with w: the largest shortfall h counts with the price sum(a), for
 * which the multipliers a are dual feasible. Neither is below the dual objective. */
static double primal_objective(const dkm_cutting_plane *l, const separation *f, double square)
{
    double met = 1 - f->most / dkm_constraint_set_margin(l->constraints);

    if (l->settings->C > 0)
        return square / 2 + l->settings->C * f->slack;
    if (l->oracle->space->kind == DKM_JKM_FREE || l->oracle->user.find)
        return square / 2 + fmax(0.0, f->most) * dkm_constraint_set_total(l->constraints);
    return met > 0 ? square / 2 / (met * met) : INFINITY;
}

/* Where the loop stands. The dual objective is that of the last QP. */
static void update_info(dkm_cutting_plane *l, const separation *f, double dual)
{
    dkm_jkm_info *info = &l->info;
    const dkm_constraint_set *set = l->constraints;
    double margin = dkm_constraint_set_margin(set);

    info->rounds = l->iteration;
    info->constraints = set->n;
    info->support = count_positive(set->n, set->a);
    info->epsilon = l->oracle->epsilon;
    info->threshold = set->threshold;
    info->spread = set->distributed != NULL;
    info->dual = dual;
    info->slack = l->settings->C > 0 ? f->slack : 0;
    info->violation = fmax(0.0, f->violation) / margin;
    info->primal = primal_objective(l, f, dkm_constraint_set_squared_norm(set, dual));
    info->gap = isinf(info->primal) ? 1
                : info->primal > 0  ? (info->primal - dual) / info->primal
                                    : 0;
    l->least = fmin(l->least, f->most / margin);
}

/* How far the loop is: violations shrink like powers. */
static void report(dkm_cutting_plane *l)
{
    const dkm_jkm_info *info = &l->info;
    double now = l->settings->C > 0 ? info->gap : info->violation, done;
    double seconds = MPI_Wtime() - l->started, tolerance = l->settings->tolerance;

    l->first_gap = fmax(l->first_gap, now);
    done = now <= tolerance ? 1 : log(l->first_gap / now) / log(l->first_gap / tolerance);
    done = isfinite(done) ? fmin(1.0, fmax(done, 0.01)) : 0.01;
    dkm_progress(l->ctx, done, 1);
    dkm_log(l->ctx, seconds > l->reported + 5 ? DKM_INFO : DKM_DEBUG,
            "round %lld: %lld constraints, %lld support vectors, violation %.2g, gap %.2g, about "
            "%.0f s left",
            (long long)info->rounds, (long long)info->constraints, (long long)info->support,
            info->violation, info->gap, seconds * (1 - done) / done);
    if (seconds > l->reported + 5)
        l->reported = seconds;
}

/* With slacks the gap decides, or that no slack is left, or no violation at the optimum of the QP; else
 * violations do. */
static int converged(const dkm_cutting_plane *l, const dkm_qp_info *qp)
{
    double tolerance = l->settings->tolerance;

    if (l->settings->C == 0)
        return l->info.violation <= tolerance;
    if (l->settings->slacks == DKM_JKM_SLACKS_ONE && l->info.slack == 0)
        return 1;
    return qp->exact &&
           ((l->iteration > 0 && l->info.gap <= tolerance) ||
            (l->settings->slacks != DKM_JKM_SLACKS_ONE && l->info.violation <= 1e-3 * tolerance));
}

/* Multipliers grow without bound where no weight vector meets all constraints. Those that are not
 * yet far beyond what a constraint needs on its own say what C would do; larger ones are rounding.
 */
static dkm_local check_separable(dkm_cutting_plane *l, const dkm_qp_info *qp)
{
    double C = qp->unbounded ? dkm_constraint_set_largest_budget(l->constraints) : 0;
    char advice[64] = " (C, for instance 1)";

    if (!qp->unbounded)
        return DKM_LOCAL_OK;
    if (C > 0 && C <= MEANT * qp->alone)
        snprintf(advice, sizeof advice, ", with C of about %.2g", C);
    return dkm_fail(l->ctx, DKM_ERR_NUMERIC,
                    "not separable at epsilon = %g: no machine meets the %lld constraints of round "
                    "%lld. The best one fell short by %.3g of the margin: allow slack%s, or take a "
                    "larger epsilon",
                    l->oracle->epsilon, (long long)l->constraints->n, (long long)l->iteration,
                    l->least, advice);
}

/* By weak duality no dual objective is above a primal one: if the gap is negative by more than
 * rounding and the accuracy of the quadratic program (QP), one of the two is wrong. */
static dkm_local check_gap(const dkm_cutting_plane *l)
{
    double least = -(ROUNDING + DKM_QP_ACCURACY * l->settings->tolerance);

    if (l->info.gap >= least)
        return DKM_LOCAL_OK;
    return dkm_fail(
        l->ctx, DKM_ERR_NUMERIC,
        "internal error: after %lld rounds the duality gap is %.3g, below the %.2g that "
        "rounding can explain (primal objective %.6g, dual objective %.6g): the result "
        "is not an optimum",
        (long long)l->iteration, l->info.gap, least, l->info.primal, l->info.dual);
}

/* Annealing: a smaller epsilon once all constraints are met. Constraints so far hold with its
 * margin as well, right-hand sides scale with it, and so do multipliers, the dual objective with
 * its square. Without slacks that is the solution of the scaled program; multipliers that a budget
 * limits have to be found anew. Constraints of free outputs are about those at a distance of
 * epsilon, and none of them is one of a smaller epsilon: they are dropped. */
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
        qp->objective = 0;
        return open_constraints(l);
    }
    dkm_constraint_set_rescale(l->constraints, ratio);
    if (l->settings->C > 0 && l->constraints->n > 0)
        DKM_TRY(dkm_constraint_set_solve(
            l->constraints, qp->objective > 0 ? qp->objective : l->info.primal, 0, qp));
out:
    return status;
}

/* Whether coordinates of outputs are the same to the last bit on any number of ranks. Those of a kernel on
 * outputs are not, and paths to the optimum part for less: then every QP is solved to the tolerance, which
 * brings them together again. */
static int same_on_any_ranks(const dkm_cutting_plane *l)
{
    return l->oracle->chain || l->oracle->space->classes.classes;
}

/* Whether every example has a slack, and classes as outputs: then an iteration costs little beside
 * the QP, which is kept small. */
static int small_programs(const dkm_cutting_plane *l)
{
    return l->settings->C > 0 && l->settings->slacks == DKM_JKM_SLACKS_EACH &&
           same_on_any_ranks(l) && !l->settings->threshold;
}

/* Violations below a share of the largest one wait for a later iteration. */
static double smallest_violation(const dkm_cutting_plane *l, const separation *f)
{
    double unit = dkm_constraint_set_margin(l->constraints) * l->settings->tolerance;

    return fmax(l->settings->C > 0 ? 1e-3 * unit : unit,
                (small_programs(l) ? SHARE_SMALL : SHARE) * f->violation);
}

static dkm_idx max_age(const dkm_cutting_plane *l)
{
    return small_programs(l) ? MAX_AGE_SMALL : MAX_AGE;
}

/* The first QPs say little about the last one: none is solved much better than its constraints
 * describe the problem. Its dual objective is a bound all the same. The last is solved to the
 * tolerance, so that the weight vector depends little on the way to it. */
static double qp_gap(const dkm_cutting_plane *l)
{
    return l->settings->C > 0 && same_on_any_ranks(l) && l->info.gap > l->settings->tolerance
               ? QP_GAP * (l->info.primal - l->info.dual)
               : 0;
}

static dkm_status open_loop(dkm_cutting_plane *loop, dkm_qp_info *qp)
{
    dkm_status status = DKM_OK;

    loop->started = MPI_Wtime();
    loop->least = INFINITY;
    DKM_TRY(open_constraints(loop));
    DKM_AGREE(loop->ctx, allocate(loop));
    if (loop->settings->anneal > loop->settings->epsilon)
        dkm_separation_oracle_set_epsilon(loop->oracle, loop->settings->anneal);
    DKM_TRY(dkm_cutting_plane_resume(loop, qp));
out:
    return status;
}

dkm_status dkm_cutting_plane_run(dkm_cutting_plane *loop, dkm_joint_map *map,
                                 dkm_separation_oracle *oracle, const dkm_jkm_settings *settings,
                                 uint64_t fingerprint)
{
    dkm_status status = DKM_OK;
    dkm_constraint_set *set;
    dkm_qp_info qp = {.exact = 1}; /* the empty one */
    separation f = {0};

    *loop = (dkm_cutting_plane){.ctx = map->fitted.ctx,
                                .map = map,
                                .oracle = oracle,
                                .settings = settings,
                                .fingerprint = fingerprint};
    DKM_TRY(open_loop(loop, &qp));
    for (;;) {
        DKM_TRY(separate(loop, &f));
        update_info(loop, &f, qp.objective);
        report(loop);
        if (converged(loop, &qp)) {
            DKM_AGREE(loop->ctx, check_gap(loop));
            if (oracle->epsilon <= settings->epsilon)
                break;
            DKM_TRY(anneal(loop, &qp));
            continue;
        }
        if (loop->iteration >= settings->rounds) {
            DKM_AGREE(loop->ctx, check_gap(loop));
            dkm_log(loop->ctx, DKM_WARN,
                    "stopped after %lld rounds with violations of %.3g of the margin and a gap of "
                    "%.3g: give more rounds",
                    (long long)loop->iteration, loop->info.violation, loop->info.gap);
            break;
        }
        set = loop->constraints;
        DKM_TRY(dkm_constraint_set_prune(set, max_age(loop)));
        DKM_TRY(set->ops->add(set, smallest_violation(loop, &f)));
        DKM_TRY(dkm_constraint_set_solve(
            set, loop->info.dual > 0 ? loop->info.dual : loop->info.primal, qp_gap(loop), &qp));
        DKM_AGREE(loop->ctx, check_separable(loop, &qp));
        loop->iteration++;
        DKM_TRY(dkm_cutting_plane_save(loop, &qp));
    }
    set = loop->constraints;
    DKM_TRY(set->ops->weights(set, loop->U));
out:
    return status;
}
