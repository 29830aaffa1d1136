#include <math.h>

#include <dkmap/random.h>

#include "solvers/qp/qp.h"
#include "support/check.h"

enum { N = 30, D = 12 };

static double feature(dkm_idx c, dkm_idx k)
{
    return dkm_random_normal(5, 0, (uint64_t)c, (uint64_t)k) + (k == 0 ? 2.0 : 0.0);
}

/* Constraints <w, d_c> >= 1 in D dimensions, added from @p first on. */
static dkm_local add(dkm_qp *qp, dkm_idx count)
{
    dkm_idx first = qp->n;
    dkm_local local = dkm_qp_grow(qp, count);

    for (dkm_idx c = first; local.code == DKM_OK && c < first + count; c++) {
        qp->b[c] = 1;
        qp->group[c] = c % 7;
        for (dkm_idx d = 0; d <= c; d++) {
            double g = 0;
            for (dkm_idx k = 0; k < D; k++)
                g += feature(c, k) * feature(d, k);
            qp->G[c * qp->capacity + d] = qp->G[d * qp->capacity + c] = g;
        }
    }
    return local;
}

static double gradient(const dkm_qp *qp, dkm_idx c)
{
    double sum = qp->b[c];

    for (dkm_idx d = 0; d < qp->n; d++)
        sum -= qp->G[c * qp->capacity + d] * qp->a[d];
    return sum;
}

static void hard_margins_end_at_their_optimum(dkm_ctx *ctx)
{
    dkm_qp qp = dkm_qp_empty(ctx);
    dkm_qp_info info = {0};

    for (int turn = 0; turn < 3; turn++) {
        CHECK_OK(ctx, dkm_agree(ctx, add(&qp, N / 3)));
        CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_active_set(&qp, 1e-10, &info)));
        CHECK(!info.unbounded);
        for (dkm_idx c = 0; c < qp.n; c++) {
            CHECK(qp.a[c] >= 0);
            CHECK(gradient(&qp, c) <= 1e-9);
            CHECK_CLOSE(qp.a[c] * gradient(&qp, c), 0, 1e-9);
        }
    }
    dkm_qp_clear(&qp);
}

static void budgets_are_kept_and_used(dkm_ctx *ctx)
{
    dkm_qp qp = dkm_qp_empty(ctx);
    dkm_qp_info info = {0};
    const double C = 0.02;

    for (int turn = 0; turn < 3; turn++) {
        CHECK_OK(ctx, dkm_agree(ctx, add(&qp, N / 3)));
        CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_smo(&qp, C, (dkm_qp_target){1e-10, 0}, &info)));
        for (dkm_idx g = 0; g < 7; g++) {
            double spent = 0, best = 0;
            for (dkm_idx c = g; c < qp.n; c += 7) {
                spent += qp.a[c];
                best = fmax(best, gradient(&qp, c));
            }
            CHECK(spent <= C * (1 + 1e-12));
            CHECK(spent > C * (1 - 1e-9) || best <= 1e-9);
            for (dkm_idx c = g; c < qp.n; c += 7)
                CHECK(qp.a[c] < 1e-14 || gradient(&qp, c) >= best - 1e-9);
        }
    }
    dkm_qp_clear(&qp);
}

/* Stopped at a duality gap, the objective is that far from the optimum at most, and within budgets. */
static void a_gap_bounds_what_is_left_to_gain(dkm_ctx *ctx)
{
    dkm_qp best = dkm_qp_empty(ctx);
    dkm_qp_info optimum = {0}, info = {0};
    const double C = 0.02, gaps[] = {0.1, 1e-3, 1e-6};

    CHECK_OK(ctx, dkm_agree(ctx, add(&best, N)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_smo(&best, C, (dkm_qp_target){1e-12, 0}, &optimum)));
    CHECK(optimum.exact);
    for (int k = 0; k < 3; k++) {
        dkm_qp qp = dkm_qp_empty(ctx);
        dkm_qp_target target = {1e-12, gaps[k] * optimum.objective};
        CHECK_OK(ctx, dkm_agree(ctx, add(&qp, N)));
        CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_smo(&qp, C, target, &info)));
        CHECK(!info.exact && info.steps < optimum.steps);
        CHECK(info.objective <= optimum.objective * (1 + 1e-12));
        CHECK(info.objective >= (1 - gaps[k]) * optimum.objective);
        for (dkm_idx g = 0; g < 7; g++) {
            double spent = 0;
            for (dkm_idx c = g; c < qp.n; c += 7)
                spent += qp.a[c];
            CHECK(spent <= C * (1 + 1e-12));
        }
        dkm_qp_clear(&qp);
    }
    dkm_qp_clear(&best);
}

/* With a budget that nobody exhausts both ways must end at one place. */
static void large_budgets_are_hard_margins(dkm_ctx *ctx)
{
    dkm_qp free = dkm_qp_empty(ctx), budget = dkm_qp_empty(ctx);
    dkm_qp_info a = {0}, b = {0};

    CHECK_OK(ctx, dkm_agree(ctx, add(&free, N)));
    CHECK_OK(ctx, dkm_agree(ctx, add(&budget, N)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_active_set(&free, 1e-12, &a)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_smo(&budget, 1e6, (dkm_qp_target){1e-9, 0}, &b)));
    CHECK_CLOSE(a.objective, b.objective, 1e-7);
    dkm_qp_clear(&free);
    dkm_qp_clear(&budget);
}

static void what_cannot_be_met_is_noticed(dkm_ctx *ctx)
{
    dkm_qp qp = dkm_qp_empty(ctx);
    dkm_qp_info info = {0};
    const double d[3] = {1, 0.5, -2}; /* <w, 1> >= 1 and <w, -2> >= 1 */

    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_grow(&qp, 3)));
    for (int c = 0; c < 3; c++) {
        qp.b[c] = 1;
        for (int e = 0; e < 3; e++)
            qp.G[c * qp.capacity + e] = d[c] * d[e];
    }
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_active_set(&qp, 1e-10, &info)));
    CHECK(info.unbounded);
    dkm_qp_clear(&qp);
}

static void dropping_idle_constraints_changes_nothing(dkm_ctx *ctx)
{
    dkm_qp qp = dkm_qp_empty(ctx);
    dkm_qp_info info = {0};
    double before;
    char keep[N];

    CHECK_OK(ctx, dkm_agree(ctx, add(&qp, N)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_active_set(&qp, 1e-12, &info)));
    before = info.objective;
    for (dkm_idx c = 0; c < N; c++)
        keep[c] = qp.a[c] > 0 || c % 4 == 0;
    dkm_qp_keep(&qp, keep);
    CHECK(qp.n < N);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_qp_active_set(&qp, 1e-12, &info)));
    CHECK_CLOSE(info.objective, before, 1e-10);
    dkm_qp_clear(&qp);
}

static dkm_status solve_both(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_qp qp = dkm_qp_empty(ctx);
    dkm_qp_info info;

    for (int turn = 0; turn < 2; turn++) {
        DKM_AGREE(ctx, add(&qp, N / 2));
        DKM_AGREE(ctx, dkm_qp_active_set(&qp, 1e-6, &info));
        DKM_AGREE(ctx, dkm_qp_smo(&qp, 1, (dkm_qp_target){1e-6, 0}, &info));
    }
out:
    dkm_qp_clear(&qp);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, solve_both);
}

static const check_case cases[] = {
    CASE(hard_margins_end_at_their_optimum), CASE(budgets_are_kept_and_used),
    CASE(a_gap_bounds_what_is_left_to_gain), CASE(large_budgets_are_hard_margins),
    CASE(what_cannot_be_met_is_noticed),     CASE(dropping_idle_constraints_changes_nothing),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
