#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/context_impl.h"
#include "core/parallel.h"
#include "core/uniform.h"
#include "support/check.h"

static void one_bad_rank_fails_them_all(dkm_ctx *ctx)
{
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++) {
        dkm_local local = DKM_LOCAL_OK;
        if (dkm_ctx_rank(ctx) == victim)
            local = dkm_fail(ctx, DKM_ERR_IO, "rank %d says no", victim);
        CHECK(dkm_agree(ctx, local) == DKM_ERR_IO);
        char want[64];
        snprintf(want, sizeof want, "rank %d says no", victim);
        CHECK(strcmp(dkm_ctx_message(ctx), want) == 0);
    }
    CHECK(dkm_agree(ctx, DKM_LOCAL_OK) == DKM_OK);
}

static void the_lowest_failing_rank_is_heard(dkm_ctx *ctx)
{
    dkm_local local = dkm_fail(ctx, DKM_ERR_ARG, "rank %d", dkm_ctx_rank(ctx));

    CHECK(dkm_agree(ctx, local) == DKM_ERR_ARG);
    CHECK(strcmp(dkm_ctx_message(ctx), "rank 0") == 0);
}

static int when_zero(void *user)
{
    int *left = user;

    return (*left)-- == 0;
}

static void an_interrupt_of_one_rank_stops_them_all(dkm_ctx *ctx)
{
    int left = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? 1 : -1; /* the last rank, later */
    dkm_ctx *inner = NULL;

    CHECK(dkm_ctx_create(dkm_ctx_comm(ctx), &inner) == DKM_OK);
    dkm_ctx_set_interrupt(ctx, when_zero, &left);
    CHECK(dkm_agree(ctx, DKM_LOCAL_OK) == DKM_OK);
    CHECK(dkm_agree(inner, DKM_LOCAL_OK) == DKM_ERR_STOPPED);
    CHECK(strcmp(dkm_ctx_message(inner), "interrupted") == 0);
    CHECK(dkm_agree(inner, DKM_LOCAL_OK) == DKM_OK);
    left = 0;
    CHECK(dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_IO, "a failure comes first")) == DKM_ERR_IO);
    dkm_ctx_set_interrupt(ctx, NULL, NULL);
    CHECK(dkm_agree(ctx, DKM_LOCAL_OK) == DKM_OK);
    dkm_ctx_destroy(&inner);
}

static void a_value_that_differs_over_ranks_is_named(dkm_ctx *ctx)
{
    CHECK(dkm_check_uniform_at(ctx, "gamma", 0.25) == DKM_OK);
    if (dkm_ctx_size(ctx) > 1) {
        CHECK(dkm_check_uniform_at(ctx, "gamma", dkm_ctx_rank(ctx)) == DKM_ERR_ARG);
        CHECK(strncmp(dkm_ctx_message(ctx), "gamma differs over the ranks, from 0 to ", 40) == 0);
    }
}

static void blocks_are_counted_aligned_and_freed(dkm_ctx *ctx)
{
    double *a = NULL, *b = NULL;

    CHECK(dkm_alloc(ctx, 10, &a).code == DKM_OK);
    CHECK(dkm_calloc(ctx, 0, &b).code == DKM_OK);
    CHECK((uintptr_t)a % 64 == 0 && b != NULL);
    CHECK(dkm_ctx_live_blocks(ctx) == 2 && dkm_ctx_live_bytes(ctx) == 80);
    a[9] = 3.0;
    CHECK(dkm_realloc(ctx, 1000, &a).code == DKM_OK && a[9] == 3.0);
    CHECK(dkm_ctx_live_blocks(ctx) == 2 && dkm_ctx_live_bytes(ctx) == 8000);
    DKM_FREE(a);
    DKM_FREE(b);
    CHECK(a == NULL && dkm_ctx_live_bytes(ctx) == 0);
}

/* Blocks of a size come again, as zeros where that is asked for; what is kept is not live. */
static void freed_memory_is_kept_where_that_is_asked_for(dkm_ctx *ctx)
{
    enum { MEGA = 1 << 20, LONG = 40 * MEGA };
    char *a = NULL, *first;

    CHECK(dkm_alloc(ctx, LONG, &a).code == DKM_OK); /* more than is kept by default */
    DKM_FREE(a);
    dkm_ctx_reuse_memory(ctx, LONG);
    CHECK(dkm_alloc(ctx, LONG, &a).code == DKM_OK);
    first = a;
    memset(a, 7, LONG);
    DKM_FREE(a);
    CHECK(dkm_ctx_live_bytes(ctx) == 0 && dkm_ctx_live_blocks(ctx) == 0);
    CHECK(dkm_calloc(ctx, LONG - MEGA, &a).code == DKM_OK && a == first);
    CHECK(dkm_ctx_live_bytes(ctx) == LONG - MEGA);
    for (int k = 0; k < LONG - MEGA; k++)
        CHECK(a[k] == 0);
    DKM_FREE(a);
    for (int k = 0; k < 100; k++) { /* the oldest make space */
        CHECK(dkm_alloc(ctx, MEGA + 20000 * k, &a).code == DKM_OK);
        memset(a, k, MEGA);
        DKM_FREE(a);
    }
    dkm_ctx_reuse_memory(ctx, 0);
    CHECK(dkm_ctx_live_bytes(ctx) == 0 && dkm_ctx_live_blocks(ctx) == 0);
}

/* An eighth of the largest sum of live blocks waits to be used again. */
static void little_memory_waits_where_little_was_held(dkm_ctx *ctx)
{
    enum { MEGA = 1 << 20 };
    dkm_ctx *fresh = NULL;
    char *a = NULL;

    (void)ctx;
    CHECK(dkm_ctx_create(MPI_COMM_SELF, &fresh) == DKM_OK);
    CHECK(dkm_alloc(fresh, 2 * MEGA, &a).code == DKM_OK);
    DKM_FREE(a);
    CHECK(fresh->idle_bytes == 0);
    CHECK(dkm_alloc(fresh, 32 * MEGA, &a).code == DKM_OK);
    DKM_FREE(a);
    CHECK(fresh->idle_bytes == 0);
    CHECK(dkm_alloc(fresh, 2 * MEGA, &a).code == DKM_OK);
    DKM_FREE(a);
    CHECK(fresh->idle_bytes >= 2 * MEGA && fresh->idle_bytes <= 4 * MEGA);
    dkm_ctx_destroy(&fresh);
}

static void an_impossible_size_is_refused(dkm_ctx *ctx)
{
    double *a = NULL;

    CHECK(dkm_alloc(ctx, INT64_MAX / 4, &a).code == DKM_ERR_MEMORY && a == NULL);
    CHECK(dkm_alloc(ctx, -1, &a).code == DKM_ERR_MEMORY && a == NULL);
    CHECK(dkm_memory_check(ctx, 1e18, "a test") == DKM_ERR_MEMORY);
    CHECK(strncmp(dkm_ctx_message(ctx), "a test needs", 12) == 0); /* told as to a user */
    CHECK(dkm_memory_check(ctx, 1e3, "a test") == DKM_OK);
}

static void a_limit_counts_what_is_held_already(dkm_ctx *ctx)
{
    double limit = 1e4 * dkm_ctx_size(ctx); /* all ranks are on one node */
    char *a = NULL;

    dkm_ctx_set_memory(ctx, limit);
    CHECK(dkm_memory_fits(ctx, 9e3) && !dkm_memory_fits(ctx, 11e3));
    CHECK(dkm_memory_check(ctx, 11e3, "a test") == DKM_ERR_MEMORY);
    CHECK(dkm_alloc(ctx, 5000, &a).code == DKM_OK);
    CHECK(dkm_memory_fits(ctx, 4e3) && !dkm_memory_fits(ctx, 6e3));
    DKM_FREE(a);
    dkm_ctx_set_memory(ctx, 0);
    CHECK(dkm_memory_fits(ctx, 11e3));
}

static void the_budget_runs_out(dkm_ctx *ctx)
{
    char *a = NULL, *b = NULL;

    dkm_ctx_fail_after(ctx, 1);
    CHECK(dkm_alloc(ctx, 1, &a).code == DKM_OK);
    CHECK(dkm_alloc(ctx, 1, &b).code == DKM_ERR_MEMORY);
    dkm_ctx_fail_after(ctx, -1);
    CHECK(dkm_alloc(ctx, 1, &b).code == DKM_OK);
    DKM_FREE(a);
    DKM_FREE(b);
}

static void random_numbers_have_their_moments(dkm_ctx *ctx)
{
    enum { N = 100000 };
    double mean = 0, square = 0, uniform = 0;

    (void)ctx;
    for (uint64_t i = 0; i < N; i++) {
        double z = dkm_random_normal(1, 2, i, 3);
        mean += z / N;
        square += z * z / N;
        uniform += dkm_random_uniform(1, 2, 3, i) / N;
    }
    /* five standard deviations of each mean */
    CHECK_CLOSE(mean, 0.0, 5.0 / sqrt(N));
    CHECK_CLOSE(square, 1.0, 5.0 * sqrt(2.0 / N));
    CHECK_CLOSE(uniform, 0.5, 5.0 / sqrt(12.0 * N));
    CHECK(dkm_random_bits(1, 2, 3, 4) != dkm_random_bits(1, 2, 4, 3));
    CHECK(dkm_random_bits(1, 2, 3, 4) != dkm_random_bits(2, 1, 3, 4));
    for (uint64_t i = 0; i < 1000; i++) {
        dkm_idx k = dkm_random_below(7, 0, i, 3);
        CHECK(k >= 0 && k < 3);
    }
}

static int heard;

static void count_message(void *user, dkm_level level, const char *text)
{
    (void)user;
    heard += level == DKM_WARN && strcmp(text, "seven 7") == 0;
}

static void only_rank_zero_speaks(dkm_ctx *ctx)
{
    heard = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = count_message});
    dkm_log(ctx, DKM_WARN, "seven %d", 7);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    CHECK(heard == (dkm_ctx_rank(ctx) == 0));
}

typedef struct told {
    char phase[20];
    double fraction, left;
} told;

static void note_progress(void *user, const char *name, double fraction, double left)
{
    told *last = user;

    snprintf(last->phase, sizeof last->phase, "%s", name);
    last->fraction = fraction;
    last->left = left;
}

/* Long enough for the listener to be called again. */
static void wait_a_while(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
}

static void an_outer_phase_speaks_for_those_inside(dkm_ctx *ctx)
{
    int speaks = dkm_ctx_rank(ctx) == 0, at_once;
    told last = {0};
    double begin;

    dkm_ctx_set_listener(ctx, (dkm_listener){.user = &last, .progress = note_progress});
    wait_a_while();
    begin = MPI_Wtime();
    dkm_phase_begin(ctx, "outer");
    dkm_progress(ctx, 10, 20); /* half was done before */
    at_once = MPI_Wtime() - begin < 0.2;
    wait_a_while();
    dkm_progress(ctx, 15, 20); /* as much again is left as was done since */
    CHECK(!speaks || (strcmp(last.phase, "outer") == 0 && last.fraction == 0.75));
    CHECK(!speaks || !at_once || last.left >= 0.25);
    wait_a_while();
    last = (told){0};
    dkm_phase_begin(ctx, "inner");
    dkm_progress(ctx, 1, 10);
    CHECK(!speaks || (strcmp(last.phase, "outer") == 0 && last.fraction == 0.75));
    dkm_phase_end(ctx);
    dkm_phase_end(ctx);
    wait_a_while();
    dkm_phase_begin(ctx, "inner");
    dkm_progress(ctx, 1, 10);
    CHECK(!speaks || (strcmp(last.phase, "inner") == 0 && last.fraction == 0.1));
    wait_a_while();
    dkm_progress(ctx, 11, 10); /* more than was asked for is all of it */
    CHECK(!speaks || (last.fraction == 1 && last.left == 0));
    dkm_phase_end(ctx);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    dkm_phase_clear(ctx);
}

static void phases_add_up(dkm_ctx *ctx)
{
    dkm_phase_summary s[8];
    int count;

    for (int k = 0; k < 3; k++) {
        dkm_phase_begin(ctx, "outer");
        dkm_phase_begin(ctx, "inner");
        dkm_phase_flops(ctx, 10.0);
        dkm_phase_end(ctx);
        dkm_phase_end(ctx);
    }
    count = dkm_phase_summaries(ctx, 8, s);
    CHECK(count == 2 && strcmp(s[0].name, "outer") == 0 && s[0].calls == 3);
    CHECK(s[0].min <= s[0].mean && s[0].mean <= s[0].max && s[1].max <= s[0].max);
    CHECK_CLOSE(s[1].flops, 30.0 * dkm_ctx_size(ctx), 0.0);
    dkm_phase_clear(ctx);
    CHECK(dkm_phase_summaries(ctx, 8, s) == 0);
    dkm_phase_begin(ctx, "inner");
    dkm_phase_end(ctx);
    CHECK(dkm_phase_summaries(ctx, 8, s) == 1 && s[0].calls == 1 && s[0].flops == 0);
    dkm_phase_clear(ctx);
}

/* A byte more each time somebody asks. */
static void count_a_byte(dkm_comm_counts *so_far)
{
    static double asked = 0;

    so_far->bytes = ++asked;
}

/* Asked when phases begin and end: three times between both ends of the first, of which one lies
 * within the second, which is entered alone once more. */
static void bytes_of_inner_phases_are_those_of_outer_ones(dkm_ctx *ctx)
{
    dkm_phase_summary s[8];

    dkm_ctx_set_comm_reader(ctx, count_a_byte);
    dkm_phase_begin(ctx, "outer");
    dkm_phase_begin(ctx, "inner");
    dkm_phase_end(ctx);
    dkm_phase_end(ctx);
    dkm_phase_begin(ctx, "inner");
    dkm_phase_end(ctx);
    dkm_ctx_set_comm_reader(ctx, NULL);
    CHECK(dkm_phase_summaries(ctx, 8, s) == 2);
    CHECK_CLOSE(s[0].comm_mean.bytes, 3.0, 0.0);
    CHECK_CLOSE(s[0].outermost_bytes, 3.0, 0.0);
    CHECK_CLOSE(s[1].comm_mean.bytes, 2.0, 0.0);
    CHECK_CLOSE(s[1].outermost_bytes, 1.0, 0.0);
    dkm_phase_clear(ctx);
}

static void a_fortran_handle_makes_a_context(dkm_ctx *ctx)
{
    dkm_ctx *other = NULL;

    CHECK(dkm_ctx_create_f(MPI_Comm_c2f(dkm_ctx_comm(ctx)), &other) == DKM_OK);
    CHECK(other && dkm_ctx_rank(other) == dkm_ctx_rank(ctx));
    CHECK(other && dkm_ctx_size(other) == dkm_ctx_size(ctx));
    dkm_ctx_destroy(&other);
}

/* What a wavefront has done of each row and column; @p wrong counts blocks that came too early. */
enum { FRONT_ROWS = 300, FRONT_COLS = 41 };

typedef struct front {
    dkm_idx row[FRONT_ROWS], col[FRONT_COLS];
    int wrong[FRONT_ROWS];
} front;

static void note_block(void *user, dkm_idx i, dkm_idx j)
{
    front *f = user;

    f->wrong[i] += f->row[i] != j || f->col[j] != i;
    f->row[i] = j + 1;
    f->col[j] = i + 1;
}

/* More rows than are in flight, and more threads than cores. */
static void a_wavefront_goes_through_rows_and_columns_in_order(dkm_ctx *ctx)
{
    (void)ctx;
    for (int threads = 1; threads <= 5; threads += 2) {
        front f = {{0}, {0}, {0}};
        int wrong = 0;
        dkm_wavefront(threads, FRONT_ROWS, FRONT_COLS, note_block, &f);
        for (dkm_idx i = 0; i < FRONT_ROWS; i++)
            wrong += f.wrong[i] + (f.row[i] != FRONT_COLS);
        for (dkm_idx j = 0; j < FRONT_COLS; j++)
            wrong += f.col[j] != FRONT_ROWS;
        CHECK(wrong == 0);
    }
}

static const check_case cases[] = {
    CASE(one_bad_rank_fails_them_all),
    CASE(the_lowest_failing_rank_is_heard),
    CASE(an_interrupt_of_one_rank_stops_them_all),
    CASE(a_value_that_differs_over_ranks_is_named),
    CASE(blocks_are_counted_aligned_and_freed),
    CASE(freed_memory_is_kept_where_that_is_asked_for),
    CASE(little_memory_waits_where_little_was_held),
    CASE(an_impossible_size_is_refused),
    CASE(a_limit_counts_what_is_held_already),
    CASE(the_budget_runs_out),
    CASE(random_numbers_have_their_moments),
    CASE(only_rank_zero_speaks),
    CASE(an_outer_phase_speaks_for_those_inside),
    CASE(phases_add_up),
    CASE(bytes_of_inner_phases_are_those_of_outer_ones),
    CASE(a_fortran_handle_makes_a_context),
    CASE(a_wavefront_goes_through_rows_and_columns_in_order),
};

CHECK_MAIN(cases)
