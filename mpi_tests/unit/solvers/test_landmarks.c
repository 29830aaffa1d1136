#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/landmarks.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "reference/reference_linalg.h"
#include "solvers/landmarks/ridge_leverage_scores.h"
#include "solvers/landmarks/weighted_sampling.h"
#include "support/check.h"
#include "support/fixture_problem.h"

enum { STREAM = 77, MOST = 200 };

typedef struct entry {
    double time;
    dkm_idx place;
} entry;

static int earlier(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

static int ascending(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return (x > y) - (x < y);
}

/* Every seventh has no chance, and the others have one that grows with their place. */
static double weight_of(dkm_idx i)
{
    return i % 7 == 3 ? 0.0 : 1.0 + (double)(i % 10);
}

/* The first to come, by sorting all of them. */
static dkm_idx reference_draw(uint64_t seed, uint64_t draw, dkm_idx m, dkm_idx count, int weighted,
                              dkm_idx *places)
{
    entry all[MOST];
    dkm_idx found = 0;

    for (dkm_idx i = 0; i < m; i++) {
        double w = weighted ? weight_of(i) : 1.0;
        double u = dkm_random_uniform(seed, STREAM, draw, (uint64_t)i);
        all[i] = (entry){w > 0 ? -log1p(-u) / w : INFINITY, i};
    }
    qsort(all, (size_t)m, sizeof *all, earlier);
    while (found < count && all[found].time < INFINITY) {
        places[found] = all[found].place;
        found++;
    }
    qsort(places, (size_t)found, sizeof *places, ascending);
    return found;
}

static void check_draw(dkm_ctx *ctx, dkm_idx m, dkm_idx count, int weighted)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double weights[MOST];
    dkm_idx got[MOST], want[MOST], found = count;
    dkm_weighted_sampling lottery = {.ctx = ctx, .m = m, .stream = STREAM, .draw = (uint64_t)count};

    for (dkm_idx i = 0; i < m - first; i++)
        weights[i] = weight_of(first + i);
    lottery.weights = weighted ? weights : NULL;
    CHECK_OK(ctx, dkm_weighted_sampling_draw(&lottery, &found, got));
    CHECK(found == reference_draw(dkm_ctx_seed(ctx), (uint64_t)count, m, count, weighted, want));
    for (dkm_idx k = 0; k < found; k++)
        CHECK(got[k] == want[k]);
}

static void the_first_to_come_are_drawn(dkm_ctx *ctx)
{
    static const dkm_idx sizes[][2] = {{0, 0}, {1, 1}, {1, 0}, {5, 2}, {47, 9}, {200, 200}};

    for (int k = 0; k < 6; k++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_draw(ctx, sizes[k][0], sizes[k][1], weighted);
}

static void no_more_can_be_drawn_than_there_are(dkm_ctx *ctx)
{
    dkm_idx places[4];

    CHECK(dkm_landmarks_uniform(ctx, 3, 4, places) == DKM_ERR_ARG);
    CHECK(dkm_landmarks_uniform(ctx, 3, -1, places) == DKM_ERR_ARG);
}

static void another_seed_draws_others(dkm_ctx *ctx)
{
    dkm_idx a[20], b[20], same = 0;

    CHECK_OK(ctx, dkm_landmarks_uniform(ctx, 1000, 20, a));
    dkm_ctx_set_seed(ctx, 5);
    CHECK_OK(ctx, dkm_landmarks_uniform(ctx, 1000, 20, b));
    dkm_ctx_set_seed(ctx, 0);
    for (int k = 0; k < 20; k++)
        same += a[k] == b[k];
    CHECK(same < 5);
}

/* Rows of three numbers; every row stands twice. */
static double entry_at(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(3, 1, (uint64_t)(i / 2), (uint64_t)j);
}

static void pivots_stop_where_nothing_is_left(dkm_ctx *ctx)
{
    gram_problem p;
    dkm_idx places[20], count = 20;

    CHECK_OK(ctx, gram_problem_open(&p, ctx, 0, 50, 3, entry_at, "linear")); /* of rank 3 */
    CHECK_OK(ctx,
             dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_PIVOTED, 0, &count, places));
    CHECK(count == 3 && places[0] < places[1] && places[1] < places[2]);
    gram_problem_close(&p);
}

/* Each rank chooses by itself as well. */
static void pivots_do_not_depend_on_the_ranks(dkm_ctx *ctx)
{
    enum { MANY = 500, FEW = 60 };
    dkm_idx places[2][FEW], count[2] = {FEW, FEW};
    dkm_ctx *alone = NULL;

    CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
    for (int k = 0; k < 2; k++) {
        dkm_ctx *here = k ? alone : ctx;
        gram_problem p;
        dkm_ctx_set_seed(here, 4);
        CHECK_OK(here, gram_problem_open(&p, here, 0, MANY, 3, entry_at, "rbf(sigma=0.7)"));
        CHECK_OK(here, dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_PIVOTED, 0, &count[k],
                                            places[k]));
        gram_problem_close(&p);
        dkm_ctx_set_seed(here, 0);
    }
    CHECK(count[0] == FEW && count[1] == FEW);
    CHECK(memcmp(places[0], places[1], sizeof places[0]) == 0);
    dkm_ctx_destroy(&alone);
}

static void pivots_never_take_the_same_row_twice(dkm_ctx *ctx)
{
    gram_problem p;
    dkm_idx places[20], count = 20;

    CHECK_OK(ctx, gram_problem_open(&p, ctx, 0, 50, 3, entry_at, "rbf(sigma=0.5)"));
    CHECK_OK(ctx,
             dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_PIVOTED, 0, &count, places));
    CHECK(count == 20);
    for (dkm_idx k = 1; k < count; k++)
        CHECK(places[k] / 2 > places[k - 1] / 2);
    gram_problem_close(&p);
}

static double rbf(dkm_idx a, dkm_idx b)
{
    double gap = 0;

    for (dkm_idx j = 0; j < 3; j++)
        gap += (entry_at(a, j) - entry_at(b, j)) * (entry_at(a, j) - entry_at(b, j));
    return exp(-gap / 2);
}

enum { CHOSEN = 12, OBJECTS = 30 };

/* Randomly pivoted Cholesky, one pivot at a time; counts how often each object is one. */
static void pivot_singly(const double *K, uint64_t seed, double counts[OBJECTS])
{
    double R[OBJECTS][OBJECTS];

    for (dkm_idx i = 0; i < OBJECTS; i++)
        memcpy(R[i], K + i * OBJECTS, sizeof R[i]);
    for (int t = 0; t < CHOSEN; t++) {
        double trace = 0, u = dkm_random_uniform(seed, 99, 0, (uint64_t)t), column[OBJECTS];
        dkm_idx at = -1;
        for (dkm_idx i = 0; i < OBJECTS; i++)
            trace += fmax(R[i][i], 0);
        for (double left = u * trace; left >= 0 && at < OBJECTS - 1;) {
            at++;
            left -= fmax(R[at][at], 0);
        }
        counts[at]++;
        for (dkm_idx i = 0; i < OBJECTS; i++)
            column[i] = R[i][at] / sqrt(R[at][at]);
        for (dkm_idx i = 0; i < OBJECTS; i++)
            for (dkm_idx j = 0; j < OBJECTS; j++)
                R[i][j] = i == at || j == at ? 0 : R[i][j] - column[i] * column[j];
    }
}

/* Pearson's statistic of how often each of 30 objects is chosen: a mean of about 30 and a deviation
 * of about 8 where the distribution is the same. Every row stands twice: neither of a pair is
 * preferred. */
static void pivots_have_the_distribution_of_single_draws(dkm_ctx *ctx)
{
    enum { RUNS = 300, SINGLY = 6000 };
    double counts[OBJECTS] = {0}, wanted[OBJECTS] = {0}, statistic = 0, first = 0;
    double K[OBJECTS * OBJECTS];
    gram_problem p;

    for (dkm_idx k = 0; k < OBJECTS * OBJECTS; k++)
        K[k] = rbf(k / OBJECTS, k % OBJECTS);
    CHECK_OK(ctx, gram_problem_open(&p, ctx, 0, OBJECTS, 3, entry_at, "rbf(sigma=1)"));
    for (uint64_t run = 0; run < RUNS; run++) {
        dkm_idx places[CHOSEN], count = CHOSEN;
        dkm_ctx_set_seed(ctx, run);
        CHECK_OK(ctx, dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_PIVOTED, 0, &count,
                                           places));
        CHECK(count == CHOSEN);
        for (dkm_idx k = 0; k < count; k++)
            counts[places[k]]++;
    }
    dkm_ctx_set_seed(ctx, 0);
    for (uint64_t run = 0; run < SINGLY; run++)
        pivot_singly(K, run, wanted);
    for (dkm_idx i = 0; i < OBJECTS; i++) {
        double share = wanted[i] / SINGLY, off = counts[i] - RUNS * share;
        statistic += off * off / (RUNS * share * (1 - share) * (1 + (double)RUNS / SINGLY));
        first += i % 2 == 0 ? counts[i] : 0;
    }
    CHECK_CLOSE(statistic, OBJECTS, 4 * sqrt(2.0 * OBJECTS));
    CHECK_CLOSE(first / (RUNS * CHOSEN), 0.5, 4 * 0.5 / sqrt(RUNS * CHOSEN));
    gram_problem_close(&p);
}

static void leverage_is_what_the_first_draw_leaves(dkm_ctx *ctx)
{
    enum { COUNT = 6, ALL = 40 };
    static const dkm_idx places[COUNT] = {1, 4, 8, 15, 16, 23};
    gram_problem p;
    double weights[ALL];

    CHECK_OK(ctx, gram_problem_open(&p, ctx, 0, ALL, 3, entry_at, "rbf(sigma=1)"));
    CHECK_OK(ctx, dkm_ridge_leverage_scores(p.grid, p.prepared, COUNT, places, 0.1, weights));
    for (dkm_idx i = 0; i < dkm_data_local_rows(p.X); i++) {
        dkm_idx ig = dkm_data_local_first(p.X) + i;
        double K[COUNT * COUNT], k[COUNT], want = 1.0;
        for (int a = 0; a < COUNT; a++) {
            for (int b = 0; b < COUNT; b++)
                K[a + b * COUNT] = rbf(places[a], places[b]) + (a == b ? 0.1 : 0.0);
            k[a] = rbf(places[a], ig);
        }
        reference_solve(COUNT, 1, K, k);
        for (int a = 0; a < COUNT; a++)
            want -= k[a] * rbf(places[a], ig);
        CHECK_CLOSE(weights[i], want, 1e-12);
    }
    gram_problem_close(&p);
}

static dkm_status attempt_choices(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    gram_problem p;
    dkm_idx places[8], count = 8;

    DKM_TRY(gram_problem_open(&p, ctx, 0, 30, 3, entry_at, "rbf(sigma=1)"));
    DKM_TRY(dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_LEVERAGE, 0.1, &count, places));
    DKM_TRY(dkm_landmarks_choose(p.grid, p.prepared, DKM_LANDMARKS_PIVOTED, 0.1, &count, places));
out:
    gram_problem_close(&p);
    return status;
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_idx places[9];

    return dkm_landmarks_uniform(ctx, 47, 9, places);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
    check_every_allocation(ctx, 0, attempt_choices);
}

static const check_case cases[] = {
    CASE(the_first_to_come_are_drawn),
    CASE(no_more_can_be_drawn_than_there_are),
    CASE(another_seed_draws_others),
    CASE(pivots_stop_where_nothing_is_left),
    CASE(pivots_have_the_distribution_of_single_draws),
    CASE(pivots_do_not_depend_on_the_ranks),
    CASE(pivots_never_take_the_same_row_twice),
    CASE(leverage_is_what_the_first_draw_leaves),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
