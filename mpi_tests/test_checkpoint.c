#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dkmap/checkpoint.h>
#include <dkmap/grid.h>
#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "check.h"
#include "core/alloc.h"
#include "data/keeper.h"
#include "dmat/dmat_impl.h"
#include "oracle_files.h"
#include "oracle_matrices.h"
#include "scalapack/linalg.h"
#include "solve/kept.h"
#include "solve/krylov.h"
#include "store/bundle_file.h"
#include "store/checkpoint_dir.h"
#include "store/seal.h"

/* Positive definite, with a spectrum that takes a block method several rounds. */
static double smooth(void *user, dkm_idx ig, dkm_idx jg)
{
    double apart = (double)(ig - jg);

    (void)user;
    return exp(-0.01 * apart * apart) + (ig == jg ? 0.5 : 0.0);
}

/* A signal that one rank alone hears, at its n-th safe point. */
static int points_left = -1;

static int asked(void)
{
    return points_left >= 0 && points_left-- == 0;
}

static dkm_status open_at(dkm_ctx *ctx, const char *dir, int resume, int stop_after,
                          dkm_checkpoint **c)
{
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();

    s.dir = dir;
    s.resume = resume;
    s.every = 0;
    s.started = MPI_Wtime();
    s.asked = asked;
    s.settings = "--alpha 1\n--beta 2\n";
    points_left = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? stop_after : -1;
    return dkm_checkpoint_open(ctx, &s, c);
}

enum { FACTORED = 1300 };

/* Factor a matrix, starting from a state where there is one. */
static dkm_status factor(dkm_ctx *ctx, dkm_grid *grid, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_kept kept = {.stage = "factor of a test"};
    dkm_idx minor = 0;

    DKM_TRY(dkm_dmat_create(grid, FACTORED, FACTORED, 64, 64, DKM_F32, A));
    dkm_dmat_fill(*A, smooth, NULL);
    kept.A = *A;
    DKM_TRY(dkm_kept_find(&kept));
    DKM_TRY(dkm_kept_cholesky(&kept, &minor));
    CHECK(minor == 0);
out:
    (void)ctx;
    return status;
}

static void a_factorisation_goes_on_where_it_stopped(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_grid *grid = NULL;
    dkm_dmat *whole = NULL, *parts = NULL;
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, factor(ctx, grid, &whole));
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, open_at(ctx, dir, turn, 0, &c));
        CHECK(factor(ctx, grid, &parts) == DKM_ERR_STOPPED);
        CHECK(strstr(dkm_ctx_message(ctx), "--resume") != NULL);
        dkm_checkpoint_close(&c);
        dkm_dmat_destroy(&parts);
    }
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK_OK(ctx, factor(ctx, grid, &parts));
    CHECK(matrix_gap(whole, parts, 1) == 0);
    CHECK(files_count(ctx, dir) == 2);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&parts);
    dkm_dmat_destroy(&whole);
    dkm_grid_destroy(&grid);
    files_close(ctx, dir);
}

static dkm_status times(void *user, const dkm_slab *Q, dkm_slab *Y)
{
    dkm_dmat *A = user, *V = NULL, *W = NULL;
    dkm_status status = DKM_OK;
    dkm_slab packed = {0};

    DKM_AGREE(Q->ctx, dkm_slab_init(&packed, Q->ctx, A->m, Q->cols));
    dkm_slab_append(&packed, Q);
    DKM_TRY(dkm_dmat_create_beside(A, Q->cols, 8, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create_beside(A, Q->cols, 8, DKM_F64, &W));
    DKM_TRY(dkm_dmat_from_rows(V, packed.a));
    dkm_la_gemm('N', 'N', 1.0, A, V, 0.0, W);
    DKM_TRY(dkm_dmat_to_rows(W, packed.a));
    Y->cols = 0;
    dkm_slab_append(Y, &packed);
out:
    dkm_slab_free(&packed);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    return status;
}

enum { ORDER = 240, PAIRS = 6 };

static dkm_status leading(dkm_ctx *ctx, dkm_dmat *A, double *values)
{
    dkm_krylov_settings s = {ORDER, PAIRS, 4, 1e-10, 100, "A of a test"};
    dkm_krylov_outcome o;
    dkm_slab vectors = {0};
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, dkm_slab_init(&vectors, ctx, ORDER, PAIRS));
    DKM_TRY(dkm_krylov(ctx, &s, times, A, NULL, values, &vectors, &o));
    CHECK(o.converged);
    values[PAIRS] = o.rounds;
    values[PAIRS + 1] = vectors.n > 0 ? vectors.a[0] : 0.0;
out:
    dkm_slab_free(&vectors);
    return status;
}

static void an_eigensolve_goes_on_where_it_stopped(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    double want[PAIRS + 2], got[PAIRS + 2];
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    dkm_checkpoint *c = NULL;
    int stops = 0;
    dkm_status status;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, smooth, &A));
    CHECK_OK(ctx, leading(ctx, A, want));
    do { /* stopped after every other round */
        CHECK_OK(ctx, open_at(ctx, dir, stops > 0, 1, &c));
        status = leading(ctx, A, got);
        dkm_checkpoint_close(&c);
        CHECK(status == DKM_OK || status == DKM_ERR_STOPPED);
    } while (status == DKM_ERR_STOPPED && stops++ < 100);
    CHECK(stops > 1);
    CHECK(memcmp(want, got, sizeof want) == 0);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    files_close(ctx, dir);
}

/* A stage whose state is one number. */
static dkm_status keep_number(dkm_ctx *ctx, const char *stage, double number)
{
    return dkm_keep_choice(ctx, stage, (int)number);
}

static int found_number(dkm_ctx *ctx, const char *stage)
{
    int choice = -1, found = 0;

    CHECK_OK(ctx, dkm_keep_find_choice(ctx, stage, &choice, &found));
    return found ? choice : -1;
}

static void damage_sends_back_to_the_state_before(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], name[DKM_NAME_LENGTH] = "", stem[DKM_STEM_LENGTH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    for (int k = 1; k <= 3; k++)
        CHECK_OK(ctx, keep_number(ctx, "number", k));
    CHECK_OK(ctx, keep_number(ctx, "another", 9));
    dkm_keep_enter(ctx, "fold %d", 3);
    dkm_keep_enter(ctx, "inner");
    CHECK_OK(ctx, keep_number(ctx, "number", 5));
    dkm_keep_leave(ctx);
    dkm_keep_leave(ctx);
    CHECK(files_count(ctx, dir) == 4);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 3 && found_number(ctx, "another") == 9);
    CHECK(found_number(ctx, "nothing") == -1);
    dkm_keep_enter(ctx, "fold %d", 3);
    CHECK(found_number(ctx, "number") == -1);
    dkm_keep_enter(ctx, "inner");
    CHECK(found_number(ctx, "number") == 5);
    dkm_keep_leave(ctx);
    dkm_keep_leave(ctx);
    dkm_checkpoint_stem("number of 0000000000000000", stem);
    CHECK(dkm_checkpoint_newest(dir, stem, 1000, name) == 2);
    files_name(dir, name, path);
    files_hurt(ctx, path, 700, 0);
    CHECK(found_number(ctx, "number") == 2);
    files_hurt(ctx, path, 100, 1);
    CHECK(found_number(ctx, "number") == 2);
    dkm_checkpoint_close(&c);
    files_close(ctx, dir);
}

static void other_settings_and_data_are_refused(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();
    dkm_checkpoint *c = NULL;
    dkm_data *X = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 10, 3, &X));
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, dkm_keep_note(X));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    dkm_checkpoint_close(&c);
    s.dir = dir;
    s.resume = 1;
    s.settings = "--alpha 1\n--beta 3\n";
    CHECK(dkm_checkpoint_open(ctx, &s, &c) == DKM_ERR_ARG && c == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "there '--beta 2', here '--beta 3'") != NULL);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK_OK(ctx, dkm_keep_note(X));
    dkm_checkpoint_close(&c);
    if (dkm_data_local_rows(X) > 0)
        dkm_data_values(X)[0] = 1e-300;
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(dkm_keep_note(X) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "other data") != NULL);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx,
             open_at(ctx, dir, 0, -1, &c)); /* anew: the old states go with the first new one */
    CHECK(found_number(ctx, "number") == -1);
    CHECK_OK(ctx, keep_number(ctx, "fresh", 1));
    CHECK(files_count(ctx, dir) == 1);
    dkm_checkpoint_close(&c);
    dkm_data_destroy(&X);
    files_close(ctx, dir);
}

static void a_disk_that_is_full_does_not_end_the_run(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    struct rlimit old, small;
    dkm_checkpoint *c = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    int found = 0;

    files_open(ctx, dir);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, matrix_make(grid, 300, 300, DKM_F64, matrix_noise, &A));
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = old;
    small.rlim_cur = 100000; /* bytes: a number has room, a matrix has not */
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_OK(ctx, dkm_keep_lower("matrix", A));
    CHECK_OK(ctx, keep_number(ctx, "number", 2));
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    dkm_checkpoint_close(&c);
    CHECK(files_count(ctx, dir) == 2);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 2);
    CHECK_OK(ctx, dkm_keep_find_lower("matrix", A, &found));
    CHECK(!found);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    files_close(ctx, dir);
}

static void time_that_runs_out_stops_the_run(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    s.dir = dir;
    s.started = MPI_Wtime();
    s.max_time = 1000;
    CHECK_OK(ctx, dkm_checkpoint_open(ctx, &s, &c));
    CHECK(!dkm_keep_due(ctx, 1e3, 0)); /* young: nothing is due for five minutes */
    CHECK(dkm_keep_due(ctx, 0, 1));    /* what is finished and costs nothing is */
    CHECK(dkm_keep_due(ctx, 1e12, 0)); /* saving this would take longer than there is time */
    CHECK(keep_number(ctx, "number", 1) == DKM_OK);
    dkm_checkpoint_close(&c);
    s.started -= 999.99;
    CHECK_OK(ctx, dkm_checkpoint_open(ctx, &s, &c));
    while (MPI_Wtime() - s.started < 1000.01)
        ;
    CHECK(keep_number(ctx, "number", 1) == DKM_ERR_STOPPED);
    CHECK(strstr(dkm_ctx_message(ctx), "in time") != NULL);
    dkm_checkpoint_close(&c);
    files_close(ctx, dir);
}

static char scene[FILES_PATH];

static dkm_status open_save_find(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_checkpoint *c = NULL;
    int choice, found;

    DKM_TRY(open_at(ctx, scene, 1, -1, &c));
    DKM_TRY(dkm_keep_choice(ctx, "number", 1)); /* a state that finds no memory is passed over */
    DKM_TRY(dkm_keep_find_choice(ctx, "number", &choice, &found));
out:
    dkm_checkpoint_close(&c);
    return status;
}

static void brutal(dkm_ctx *ctx)
{
    files_open(ctx, scene);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, open_save_find);
    files_close(ctx, scene);
}

static const check_case cases[] = {
    CASE(a_factorisation_goes_on_where_it_stopped),
    CASE(an_eigensolve_goes_on_where_it_stopped),
    CASE(damage_sends_back_to_the_state_before),
    CASE(other_settings_and_data_are_refused),
    CASE(a_disk_that_is_full_does_not_end_the_run),
    CASE(time_that_runs_out_stops_the_run),
    CASE(brutal),
};

CHECK_MAIN(cases)
