/* The nearest candidates of many points. Where coordinates have few digits every product is exact,
 * so that the answer is known to the last bit whatever the order of its sums. */
#include <math.h>
#include <stdlib.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "search/topk.h"
#include "support/check.h"

enum { N = 150, C = 2300, P = 7, MOST = 40 };

typedef double (*value_at)(dkm_idx i, dkm_idx k);

/* What is searched: rows of points and candidates, and norms beyond z.z. */
typedef struct problem {
    value_at point, candidate;
    double beyond; /* added to the norm of each candidate */
    dkm_idx points, candidates, p;
} problem;

static double whole(dkm_idx i, dkm_idx k)
{
    return (double)((i * 37 + k * 101 + i * k * k) % 19) - 9.0;
}

static double whole_point(dkm_idx i, dkm_idx k)
{
    return whole(3 * i + 1, k + 2);
}

/* All within 2^-12 of 1, in steps that single precision products cannot tell. */
static double close(dkm_idx i, dkm_idx k)
{
    return 1.0 + ldexp((double)((i * 57 + k * 31 + i * k) % 127), -19);
}

static double close_point(dkm_idx i, dkm_idx k)
{
    return close(5 * i + 2, k);
}

static double alike(dkm_idx i, dkm_idx k)
{
    (void)i;
    return (double)(k % 3) + 0.5;
}

static double normal(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(1, 0, (uint64_t)i, (uint64_t)k);
}

static double normal_point(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(2, 0, (uint64_t)i, (uint64_t)k);
}

static double tiny(dkm_idx i, dkm_idx k)
{
    return ldexp(whole(i, k), -350);
}

static double tiny_point(dkm_idx i, dkm_idx k)
{
    return ldexp(whole_point(i, k), -350);
}

static double huge(dkm_idx i, dkm_idx k)
{
    return ldexp(whole(i, k), 300);
}

static double huge_point(dkm_idx i, dkm_idx k)
{
    return ldexp(whole_point(i, k), 300);
}

/* One row is not a number. */
static double spoilt_point(dkm_idx i, dkm_idx k)
{
    return i == 3 && k == 1 ? NAN : whole_point(i, k);
}

static double norm_of(const problem *t, dkm_idx c)
{
    double sum = t->beyond;

    for (dkm_idx k = 0; k < t->p; k++)
        sum += t->candidate(c, k) * t->candidate(c, k);
    return sum;
}

/* The squared distance, less q.q. */
static double distance_of(const problem *t, dkm_idx q, dkm_idx c)
{
    double sum = 0;

    for (dkm_idx k = 0; k < t->p; k++)
        sum += t->point(q, k) * t->candidate(c, k);
    return norm_of(t, c) - 2.0 * sum;
}

typedef struct listed {
    double distance;
    dkm_idx index;
} listed;

static int nearer(const void *a, const void *b)
{
    const listed *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void make_points(dkm_ctx *ctx, const problem *t, dkm_data **Q)
{
    CHECK_OK(ctx, dkm_data_create_dense(ctx, t->points, t->p, Q));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*Q); i++)
        for (dkm_idx k = 0; k < t->p; k++)
            dkm_data_values(*Q)[i * t->p + k] = t->point(dkm_data_local_first(*Q) + i, k);
}

static dkm_status make_candidates(dkm_ctx *ctx, const problem *t, dkm_candidates *made)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, t->candidates, t->p, &made->Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(made->Z), &made->norms));
    for (dkm_idx i = 0; i < dkm_data_local_rows(made->Z); i++) {
        dkm_idx c = dkm_data_local_first(made->Z) + i;
        for (dkm_idx k = 0; k < t->p; k++)
            dkm_data_values(made->Z)[i * t->p + k] = t->candidate(c, k);
        made->norms[i] = norm_of(t, c);
    }
out:
    return status;
}

/* Search in blocks of @p step candidates a rank, or in one go. */
static void find(dkm_ctx *ctx, const problem *t, dkm_idx top, dkm_idx step, dkm_idx effort[2],
                 dkm_idx *index, double *distance)
{
    dkm_norm_range range = dkm_norm_range_empty();
    dkm_candidates made = {0};
    dkm_topk_search *search = NULL;
    dkm_data *Q = NULL;
    dkm_idx mine;

    make_points(ctx, t, &Q);
    CHECK_OK(ctx, make_candidates(ctx, t, &made));
    mine = dkm_data_local_rows(made.Z);
    dkm_norm_range_add(&range, mine, made.norms);
    dkm_norm_range_combine(ctx, &range);
    CHECK_OK(ctx, dkm_topk_search_open(Q, top, range, &search));
    for (dkm_idx c = 0; search && c < mine; c += step)
        dkm_topk_search_scan(search, dkm_data_local_first(made.Z) + c,
                             mine - c < step ? mine - c : step,
                             dkm_data_values_const(made.Z) + c * t->p, made.norms + c);
    if (search)
        dkm_topk_search_stats(search, &effort[0], &effort[1]);
    CHECK_OK(ctx, dkm_topk_search_finish(search, index, distance));
    MPI_Allreduce(MPI_IN_PLACE, effort, 2, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_topk_search_close(&search);
    dkm_candidates_clear(&made);
    dkm_data_destroy(&Q);
}

/* Hold what was found against all distances in order; @p slack is relative. */
static void compare(const problem *t, dkm_idx q, dkm_idx top, double slack, const dkm_idx *index,
                    const double *distance)
{
    listed *all = malloc((size_t)t->candidates * sizeof *all);
    double self = 0;

    for (dkm_idx c = 0; c < t->candidates; c++)
        all[c] = (listed){distance_of(t, q, c), c};
    for (dkm_idx k = 0; k < t->p; k++)
        self += t->point(q, k) * t->point(q, k);
    qsort(all, (size_t)t->candidates, sizeof *all, nearer);
    for (dkm_idx k = 0; k < top; k++) {
        double want = fmax(0.0, all[k].distance + self);
        CHECK(index[k] == all[k].index);
        CHECK_CLOSE(distance[k], want, slack * (fabs(all[k].distance) + self));
    }
    free(all);
}

/* Find and compare; returns what it took in @p effort. */
static void check_search(dkm_ctx *ctx, const problem *t, dkm_idx top, dkm_idx step, double slack,
                         dkm_idx effort[2])
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(t->points, rank, size);
    dkm_idx n = dkm_slab_count(t->points, rank, size), *index = malloc(sizeof *index * N * MOST);
    double *distance = malloc(sizeof *distance * N * MOST);

    find(ctx, t, top, step, effort, index, distance);
    for (dkm_idx i = 0; i < n; i += 1 + n / 12) /* oracles are slow: a dozen points a rank */
        if (!isnan(t->point(first + i, 1)))
            compare(t, first + i, top, slack, index + i * top, distance + i * top);
    free(distance);
    free(index);
}

static void exact_products_give_the_exact_answer(dkm_ctx *ctx)
{
    static const dkm_idx tops[] = {1, 2, MOST};
    problem t = {whole_point, whole, 0, N, C, P};
    dkm_idx effort[2];

    for (int k = 0; k < 3; k++)
        check_search(ctx, &t, tops[k], C, 0.0, effort);
}

static void blocks_of_any_size_give_the_same(dkm_ctx *ctx)
{
    problem t = {whole_point, whole, 0, N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &t, 3, 1, 0.0, effort);
    check_search(ctx, &t, 3, 37, 0.0, effort);
    check_search(ctx, &t, 3, 1025, 0.0, effort);
}

static void single_precision_leaves_few(dkm_ctx *ctx)
{
    problem t = {normal_point, normal, 0, N, C, 33};
    dkm_idx effort[2];

    check_search(ctx, &t, 1, C, 1e-13, effort);
    CHECK(effort[1] == 0);
    CHECK(effort[0] < N * 16 * dkm_ctx_size(ctx));
}

static void differences_below_single_precision_are_seen(dkm_ctx *ctx)
{
    problem t = {close_point, close, 0, N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &t, 2, C, 0.0, effort);
    CHECK(effort[1] > 0); /* some blocks were done in double */
}

static void of_those_alike_the_first_are_taken(dkm_ctx *ctx)
{
    problem t = {whole_point, alike, 0, N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &t, 1, C, 0.0, effort);
    check_search(ctx, &t, 5, 700, 0.0, effort);
}

/* What all norms have in common says nothing, and must not drown what differs. */
static void large_norms_do_not_hide_small_differences(dkm_ctx *ctx)
{
    problem t = {whole_point, whole, ldexp(1.0, 40), N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &t, 2, C, 0.0, effort);
    CHECK(effort[1] == 0);
}

static void any_scale_will_do(dkm_ctx *ctx)
{
    problem small = {tiny_point, tiny, 0, N, C, P}, large = {huge_point, huge, 0, N, C, P};
    problem mixed = {tiny_point, whole, 0, N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &small, 2, C, 0.0, effort);
    CHECK(effort[1] == 0);
    check_search(ctx, &large, 2, C, 0.0, effort);
    CHECK(effort[1] == 0);
    check_search(ctx, &mixed, 2, C, 1e-13, effort);
}

static void a_point_that_is_no_number_spoils_no_other(dkm_ctx *ctx)
{
    problem t = {spoilt_point, whole, 0, N, C, P};
    dkm_idx effort[2];

    check_search(ctx, &t, 2, C, 0.0, effort);
}

/* Points along single candidates, far below the rounding of the norms, which are equal but for
 * that. */
static void a_faint_point_is_nearest_to_what_it_leans_to(dkm_ctx *ctx)
{
    enum { FEW = 12 };
    dkm_candidates some = {0};
    dkm_idx index[FEW] = {0};
    double distance[FEW] = {0};
    dkm_data *Q = NULL;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, FEW, FEW, &some.Z));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, FEW, FEW, &Q));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, FEW, &some.norms)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Q); i++) {
        dkm_idx c = dkm_data_local_first(Q) + i;
        some.norms[i] = 0.9 + (double)(c * 7 % 5) * 0x1p-53;
        for (dkm_idx k = 0; k < FEW; k++) {
            dkm_data_values(some.Z)[i * FEW + k] = c == k ? 0.9 : -0.1;
            dkm_data_values(Q)[i * FEW + k] = ldexp(c * 5 % FEW == k ? 1.0 : 0.0, -90);
        }
    }
    CHECK_OK(ctx, dkm_topk(Q, &some, 1, index, distance));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Q); i++) {
        CHECK(index[i] == (dkm_data_local_first(Q) + i) * 5 % FEW);
        CHECK_CLOSE(distance[i], 0.9, 1e-14);
    }
    dkm_data_destroy(&Q);
    dkm_candidates_clear(&some);
}

static void few_points_and_candidates(dkm_ctx *ctx)
{
    problem one = {whole_point, whole, 0, 1, 1, P}, few = {whole_point, whole, 0, 2, 5, 1};
    dkm_idx effort[2];

    check_search(ctx, &one, 1, C, 0.0, effort);
    check_search(ctx, &few, 5, C, 0.0, effort);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    problem t = {whole_point, whole, 0, 9, 20, P};
    dkm_status status = DKM_OK;
    dkm_candidates made = {0};
    dkm_idx index[18];
    double distance[18];
    dkm_data *Q = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, t.points, t.p, &Q));
    DKM_TRY(make_candidates(ctx, &t, &made));
    DKM_TRY(dkm_topk(Q, &made, 2, index, distance));
out:
    dkm_candidates_clear(&made);
    dkm_data_destroy(&Q);
    return status;
}

/* A few points of each rank at a time, some ranks with none in the last batch. */
static void batches_of_points_give_the_same(dkm_ctx *ctx)
{
    enum { POINTS = 23, TOP = 3 };
    problem t = {whole_point, whole, 0, POINTS, 40, P};
    dkm_candidates made = {0};
    dkm_idx index[2][POINTS * TOP];
    double distance[2][POINTS * TOP];
    dkm_data *Q = NULL;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, POINTS, P, &Q));
    for (dkm_idx k = 0; k < P * dkm_data_local_rows(Q); k++)
        dkm_data_values(Q)[k] = whole_point(dkm_data_local_first(Q) + k / P, k % P);
    CHECK_OK(ctx, make_candidates(ctx, &t, &made));
    CHECK_OK(ctx, dkm_topk(Q, &made, TOP, index[0], distance[0]));
    for (dkm_idx each = 1; each < POINTS + 1; each += 3) {
        CHECK_OK(ctx, dkm_topk_in_batches(Q, &made, TOP, each, index[1], distance[1]));
        for (dkm_idx k = 0; k < TOP * dkm_data_local_rows(Q); k++) {
            CHECK(index[0][k] == index[1][k]);
            CHECK(distance[0][k] == distance[1][k]);
        }
    }
    dkm_candidates_clear(&made);
    dkm_data_destroy(&Q);
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {CASE(exact_products_give_the_exact_answer),
                                   CASE(blocks_of_any_size_give_the_same),
                                   CASE(batches_of_points_give_the_same),
                                   CASE(single_precision_leaves_few),
                                   CASE(differences_below_single_precision_are_seen),
                                   CASE(of_those_alike_the_first_are_taken),
                                   CASE(large_norms_do_not_hide_small_differences),
                                   CASE(any_scale_will_do),
                                   CASE(a_point_that_is_no_number_spoils_no_other),
                                   CASE(a_faint_point_is_nearest_to_what_it_leans_to),
                                   CASE(few_points_and_candidates),
                                   CASE(every_allocation_may_fail)};

CHECK_MAIN(cases)
