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
#include <dkmap/psd.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "io/archive/checksum.h"
#include "io/checkpoint/checkpoint_dir.h"
#include "io/checkpoint/checkpointer.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/krylov/block_lanczos.h"
#include "solvers/krylov/pcg.h"
#include "solvers/ridge/potrf_checkpoint.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_matrices.h"

#define SETTINGS "--alpha 1\n--beta 2\n"

/* Where the states of a directory are. */
static void name_folder(const char *dir, char folder[FILES_PATH])
{
    files_name(dir, DKM_CHECKPOINT_FOLDER, folder);
}

/* Files beside the marker. */
static int count_states(dkm_ctx *ctx, const char *dir)
{
    char folder[FILES_PATH];

    name_folder(dir, folder);
    return files_count(ctx, folder) - 1;
}

static void close_directory(dkm_ctx *ctx, const char *dir)
{
    char folder[FILES_PATH];

    name_folder(dir, folder);
    files_close(ctx, folder);
    files_close(ctx, dir);
}

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
    s.settings = SETTINGS;
    points_left = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? stop_after : -1;
    return dkm_checkpoint_open(ctx, &s, c);
}

enum { FACTORED = 1300 };

/* Factor a matrix, starting from a state where there is one. */
static dkm_status factor(dkm_ctx *ctx, dkm_grid *grid, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_potrf_checkpoint kept = {.stage = "factor of a test"};
    dkm_idx minor = 0;

    DKM_TRY(dkm_dmat_create(grid, FACTORED, FACTORED, 64, 64, DKM_F32, A));
    dkm_dmat_fill(*A, smooth, NULL);
    kept.A = *A;
    DKM_TRY(dkm_potrf_checkpoint_restore(&kept));
    DKM_TRY(dkm_potrf_checkpoint_factorize(&kept, &minor));
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
    CHECK(count_states(ctx, dir) == 2);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&parts);
    dkm_dmat_destroy(&whole);
    dkm_grid_destroy(&grid);
    close_directory(ctx, dir);
}

static dkm_status times(void *user, const dkm_multivec *Q, dkm_multivec *Y)
{
    dkm_dmat *A = user, *V = NULL, *W = NULL;
    dkm_status status = DKM_OK;
    dkm_multivec packed = {0};

    DKM_AGREE(Q->ctx, dkm_multivec_init(&packed, Q->ctx, A->m, Q->cols));
    dkm_multivec_append(&packed, Q);
    DKM_TRY(dkm_dmat_create_like(A, Q->cols, 8, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create_like(A, Q->cols, 8, DKM_F64, &W));
    DKM_TRY(dkm_dmat_from_rows(V, packed.a));
    dkm_la_gemm('N', 'N', 1.0, A, V, 0.0, W);
    DKM_TRY(dkm_dmat_to_rows(W, packed.a));
    Y->cols = 0;
    dkm_multivec_append(Y, &packed);
out:
    dkm_multivec_free(&packed);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    return status;
}

enum { ORDER = 240, PAIRS = 6 };

static dkm_status leading(dkm_ctx *ctx, dkm_dmat *A, double *values)
{
    dkm_block_lanczos_settings s = {.m = ORDER,
                                    .components = PAIRS,
                                    .block = 4,
                                    .tolerance = 1e-10,
                                    .max_rounds = 100,
                                    .grid = dkm_dmat_grid(A),
                                    .name = "A of a test"};
    const dkm_linop op = {times, A};
    dkm_block_lanczos_outcome o;
    dkm_multivec vectors = {0};
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, dkm_multivec_init(&vectors, ctx, ORDER, PAIRS));
    DKM_TRY(dkm_block_lanczos(ctx, &s, &op, NULL, values, &vectors, &o));
    CHECK(o.converged);
    values[PAIRS] = o.rounds;
    values[PAIRS + 1] = vectors.n > 0 ? vectors.a[0] : 0.0;
out:
    dkm_multivec_free(&vectors);
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
    close_directory(ctx, dir);
}

/* A stage whose state is one number. */
static dkm_status keep_number(dkm_ctx *ctx, const char *stage, double number)
{
    return dkm_checkpointer_save_choice(ctx, stage, (int)number);
}

static int found_number(dkm_ctx *ctx, const char *stage)
{
    int choice = -1, found = 0;

    CHECK_OK(ctx, dkm_checkpointer_load_choice(ctx, stage, &choice, &found));
    return found ? choice : -1;
}

static void damage_sends_back_to_the_state_before(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], folder[FILES_PATH];
    char name[DKM_NAME_LENGTH] = "", stem[DKM_STEM_LENGTH];
    dkm_checkpoint_files files = {folder, stem, ""};
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    for (int k = 1; k <= 3; k++)
        CHECK_OK(ctx, keep_number(ctx, "number", k));
    CHECK_OK(ctx, keep_number(ctx, "another", 9));
    CHECK(count_states(ctx, dir) == 3);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 3 && found_number(ctx, "another") == 9);
    CHECK(found_number(ctx, "nothing") == -1);
    dkm_checkpoint_dir_stem("number layout 2", stem);
    name_folder(dir, folder);
    CHECK(dkm_checkpoint_dir_newest(&files, 1000, name) == 2);
    files_name(folder, name, path);
    files_hurt(ctx, path, 700, 0);
    CHECK(found_number(ctx, "number") == 2);
    files_hurt(ctx, path, 100, 1);
    CHECK(found_number(ctx, "number") == 2);
    dkm_checkpoint_close(&c);
    close_directory(ctx, dir);
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
    CHECK_OK(ctx, dkm_checkpointer_note_data(X));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    dkm_checkpoint_close(&c);
    s.dir = dir;
    s.resume = 1;
    s.settings = "--alpha 1\n--beta 3\n";
    CHECK(dkm_checkpoint_open(ctx, &s, &c) == DKM_ERR_ARG && c == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "there '--beta 2', here '--beta 3'") != NULL);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK_OK(ctx, dkm_checkpointer_note_data(X));
    dkm_checkpoint_close(&c);
    if (dkm_data_local_rows(X) > 0)
        dkm_data_values(X)[0] = 1e-300;
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(dkm_checkpointer_note_data(X) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "other data") != NULL);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx,
             open_at(ctx, dir, 0, -1, &c)); /* anew: the old states go with the first new one */
    CHECK(found_number(ctx, "number") == -1);
    CHECK_OK(ctx, keep_number(ctx, "fresh", 1));
    CHECK(count_states(ctx, dir) == 1);
    dkm_checkpoint_close(&c);
    dkm_data_destroy(&X);
    close_directory(ctx, dir);
}

/* On rank 0; every rank sees it. */
static void write_file(dkm_ctx *ctx, const char *dir, const char *name, const char *text)
{
    char path[FILES_PATH];
    FILE *f;

    files_name(dir, name, path);
    if (dkm_ctx_rank(ctx) == 0) {
        f = fopen(path, "w");
        CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static int is_there(dkm_ctx *ctx, const char *dir, const char *name)
{
    char path[FILES_PATH];
    int there;

    MPI_Barrier(dkm_ctx_comm(ctx));
    files_name(dir, name, path);
    there = access(path, F_OK) == 0;
    MPI_Barrier(dkm_ctx_comm(ctx));
    return there;
}

static void files_of_others_are_left_alone(dkm_ctx *ctx)
{
    const char *beside[] = {"results-20260101.h5", "run-000123.h5", "number-0123abcd-000001.h5"};
    char dir[FILES_PATH], folder[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    name_folder(dir, folder);
    for (int k = 0; k < 3; k++)
        write_file(ctx, dir, beside[k], "precious");
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    dkm_checkpoint_close(&c);
    for (int k = 0; k < 3; k++)
        write_file(ctx, folder, beside[k], "precious");
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, open_at(ctx, dir, turn, -1, &c));
        for (int k = 0; k < 4; k++)
            CHECK_OK(ctx, keep_number(ctx, "number", k));
        dkm_checkpoint_close(&c);
        for (int k = 0; k < 3; k++)
            CHECK(is_there(ctx, dir, beside[k]) && is_there(ctx, folder, beside[k]));
        CHECK(count_states(ctx, dir) == 2 + 3);
    }
    close_directory(ctx, dir);
}

/* A file with the name of a state of this run, but without its seal. */
static void a_file_without_a_seal_stays(dkm_ctx *ctx)
{
    char dir[FILES_PATH], folder[FILES_PATH], run[DKM_RUN_LENGTH], stem[DKM_STEM_LENGTH];
    char name[DKM_NAME_LENGTH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    name_folder(dir, folder);
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    dkm_checkpoint_run(SETTINGS, run);
    dkm_checkpoint_dir_stem("number layout 2", stem);
    snprintf(name, sizeof name, "%s-%s-%06d.h5", stem, run, 0);
    dkm_checkpoint_close(&c);
    write_file(ctx, folder, name, "not a state");
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, open_at(ctx, dir, turn, -1, &c));
        for (int k = 1; k <= 3; k++)
            CHECK_OK(ctx, keep_number(ctx, "number", k));
        dkm_checkpoint_close(&c);
        CHECK(is_there(ctx, folder, name));
        CHECK(count_states(ctx, dir) == 3);
    }
    close_directory(ctx, dir);
}

static void a_folder_that_is_not_ours_is_refused(dkm_ctx *ctx)
{
    char dir[FILES_PATH], folder[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    name_folder(dir, folder);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(mkdir(folder, 0777) == 0);
    write_file(ctx, folder, "thesis.h5", "precious");
    CHECK(open_at(ctx, dir, 0, -1, &c) == DKM_ERR_IO && c == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "marker") != NULL);
    CHECK(files_count(ctx, folder) == 1);
    close_directory(ctx, dir);
}

/* What kill -9 leaves in the midst of a save goes; what another process is writing stays. */
static void temporary_files_of_the_killed_are_removed(dkm_ctx *ctx)
{
    char dir[FILES_PATH], folder[FILES_PATH], run[DKM_RUN_LENGTH];
    char left[2 * DKM_NAME_LENGTH], live[2 * DKM_NAME_LENGTH], other[2 * DKM_NAME_LENGTH];
    dkm_checkpoint *c = NULL;
    long parent = (long)getppid();

    MPI_Bcast(&parent, 1, MPI_LONG, 0, dkm_ctx_comm(ctx));
    files_open(ctx, dir);
    name_folder(dir, folder);
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    dkm_checkpoint_close(&c);
    dkm_checkpoint_run(SETTINGS, run);
    snprintf(left, sizeof left, "gram-00000000-%s-000004.h5.tmp.2147483646-0", run);
    snprintf(live, sizeof live, "gram-00000000-%s-000004.h5.tmp.%ld-0", run, parent);
    snprintf(other, sizeof other, "gram-00000000-ffffffff-000004.h5.tmp.2147483646-0");
    write_file(ctx, folder, left, "half a state");
    write_file(ctx, folder, live, "half a state");
    write_file(ctx, folder, other, "half a state");
    write_file(ctx, dir, left, "precious");
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    dkm_checkpoint_close(&c);
    CHECK(!is_there(ctx, folder, left));
    CHECK(is_there(ctx, folder, live) && is_there(ctx, folder, other) && is_there(ctx, dir, left));
    close_directory(ctx, dir);
}

static dkm_status open_other(dkm_ctx *ctx, const char *dir, int resume, dkm_checkpoint **c)
{
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();

    s.dir = dir;
    s.resume = resume;
    s.settings = "--alpha 1\n--beta 3\n";
    return dkm_checkpoint_open(ctx, &s, c);
}

static void runs_with_other_settings_share_a_directory(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 7));
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_other(ctx, dir, 0, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 8));
    dkm_checkpoint_close(&c);
    CHECK(count_states(ctx, dir) == 2);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 7);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_other(ctx, dir, 1, &c));
    CHECK(found_number(ctx, "number") == 8);
    dkm_checkpoint_close(&c);
    close_directory(ctx, dir);
}

/* Indefinite: the smallest eigenvalue is about -0.2. */
static double indefinite(void *user, dkm_idx ig, dkm_idx jg)
{
    return smooth(user, ig, jg) - (ig == jg ? 0.7 : 0.0);
}

/* Bounds take two Lanczos runs on one matrix, of K and of c I - K: with all their states at hand
 * each takes up its own. */
static void bounds_take_up_the_states_of_their_own_operator(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    double want[4], got[4];
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *B = NULL;
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, smooth, &A));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, indefinite, &B));
    CHECK_OK(ctx, dkm_extremal_eigenvalues(A, &want[0], &want[1]));
    CHECK_OK(ctx, dkm_extremal_eigenvalues(B, &want[2], &want[3]));
    CHECK(want[0] > 0.4 && want[2] < -0.1);
    for (int turn = 0; turn < 3; turn++) {
        CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
        CHECK_OK(ctx, dkm_extremal_eigenvalues(A, &got[0], &got[1]));
        CHECK_OK(ctx, dkm_extremal_eigenvalues(B, &got[2], &got[3]));
        for (int k = 0; k < 4; k++)
            CHECK_CLOSE(got[k], want[k], 1e-9 * want[1]);
        dkm_checkpoint_close(&c);
    }
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
    dkm_grid_destroy(&grid);
    close_directory(ctx, dir);
}

static dkm_status twice(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    const double *diagonal = user;
    dkm_idx first = dkm_slab_first(ORDER, dkm_ctx_rank(in->ctx), dkm_ctx_size(in->ctx));

    out->cols = in->cols;
    for (dkm_idx i = 0; i < in->n; i++)
        for (dkm_idx j = 0; j < in->cols; j++)
            out->a[i * out->ld + j] = diagonal[(first + i) % 7] * in->a[i * in->ld + j];
    return DKM_OK;
}

static dkm_status same(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    (void)user;
    out->cols = 0;
    dkm_multivec_append(out, in);
    return DKM_OK;
}

/* A X = Y with Y a unit vector, so that all right-hand sides have the same norm: the largest
 * element that X is off by. */
static double off_by(dkm_ctx *ctx, dkm_idx unit)
{
    double diagonal[] = {1, 2, 3, 4, 5, 6, 7}, off = 0, all = 0;
    dkm_pcg_settings s = {.tolerance = 1e-12,
                          .max_steps = 50,
                          .A = {twice, diagonal},
                          .M = {same, NULL},
                          .stage = "of a test"};
    dkm_idx first = dkm_slab_first(ORDER, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_pcg_outcome o;
    dkm_multivec X = {0}, Y = {0};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&X, ctx, ORDER, 1)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&Y, ctx, ORDER, 1)));
    Y.cols = 1;
    for (dkm_idx i = 0; i < Y.n; i++)
        Y.a[i] = first + i == unit || first + i == unit + 1 ? 1.0 : 0.0;
    CHECK_OK(ctx, dkm_pcg(&Y, &s, ORDER, &X, &o));
    for (dkm_idx i = 0; i < Y.n; i++)
        off = fmax(off, fabs(X.a[i] - Y.a[i] / diagonal[(first + i) % 7]));
    MPI_Allreduce(&off, &all, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    dkm_multivec_free(&X);
    dkm_multivec_free(&Y);
    return all;
}

static void right_hand_sides_of_one_norm_are_told_apart(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
        CHECK(off_by(ctx, 3) < 1e-9);
        CHECK(off_by(ctx, 5) < 1e-9);
        dkm_checkpoint_close(&c);
    }
    close_directory(ctx, dir);
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
    CHECK_OK(ctx, dkm_checkpointer_save_lower("matrix", A));
    CHECK_OK(ctx, keep_number(ctx, "number", 2));
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    dkm_checkpoint_close(&c);
    CHECK(count_states(ctx, dir) == 2);
    CHECK_OK(ctx, open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 2);
    CHECK_OK(ctx, dkm_checkpointer_load_lower("matrix", A, &found));
    CHECK(!found);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    close_directory(ctx, dir);
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
    CHECK(!dkm_checkpointer_due(ctx, 1e3, 0)); /* young: nothing is due for five minutes */
    CHECK(dkm_checkpointer_due(ctx, 0, 1));    /* what is finished and costs nothing is */
    CHECK(
        dkm_checkpointer_due(ctx, 1e12, 0)); /* saving this would take longer than there is time */
    CHECK(keep_number(ctx, "number", 1) == DKM_OK);
    dkm_checkpoint_close(&c);
    s.started -= 999.99;
    CHECK_OK(ctx, dkm_checkpoint_open(ctx, &s, &c));
    while (MPI_Wtime() - s.started < 1000.01)
        ;
    CHECK(keep_number(ctx, "number", 1) == DKM_ERR_STOPPED);
    CHECK(strstr(dkm_ctx_message(ctx), "in time") != NULL);
    dkm_checkpoint_close(&c);
    close_directory(ctx, dir);
}

static char scene[FILES_PATH];

static dkm_status open_save_find(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_checkpoint *c = NULL;
    int choice, found;

    DKM_TRY(open_at(ctx, scene, 1, -1, &c));
    DKM_TRY(dkm_checkpointer_save_choice(ctx, "number",
                                         1)); /* a state that finds no memory is passed over */
    DKM_TRY(dkm_checkpointer_load_choice(ctx, "number", &choice, &found));
out:
    dkm_checkpoint_close(&c);
    return status;
}

static void brutal(dkm_ctx *ctx)
{
    files_open(ctx, scene);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, open_save_find);
    close_directory(ctx, scene);
}

static const check_case cases[] = {
    CASE(a_factorisation_goes_on_where_it_stopped),
    CASE(an_eigensolve_goes_on_where_it_stopped),
    CASE(damage_sends_back_to_the_state_before),
    CASE(other_settings_and_data_are_refused),
    CASE(files_of_others_are_left_alone),
    CASE(a_file_without_a_seal_stays),
    CASE(a_folder_that_is_not_ours_is_refused),
    CASE(temporary_files_of_the_killed_are_removed),
    CASE(runs_with_other_settings_share_a_directory),
    CASE(bounds_take_up_the_states_of_their_own_operator),
    CASE(right_hand_sides_of_one_norm_are_told_apart),
    CASE(a_disk_that_is_full_does_not_end_the_run),
    CASE(time_that_runs_out_stops_the_run),
    CASE(brutal),
};

CHECK_MAIN(cases)
