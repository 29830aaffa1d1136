#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dkmap/checkpoint.h>
#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "io/archive/checksum.h"
#include "io/checkpoint/checkpoint_dir.h"
#include "io/checkpoint/checkpointer.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"
#include "support/fixture_checkpoint.h"
#include "support/fixture_matrices.h"

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
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    for (int k = 1; k <= 3; k++)
        CHECK_OK(ctx, keep_number(ctx, "number", k));
    CHECK_OK(ctx, keep_number(ctx, "another", 9));
    CHECK(checkpoint_states(ctx, dir) == 3);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 3 && found_number(ctx, "another") == 9);
    CHECK(found_number(ctx, "nothing") == -1);
    dkm_checkpoint_dir_stem("number layout 2", stem);
    checkpoint_folder(dir, folder);
    CHECK(dkm_checkpoint_dir_newest(&files, 1000, name) == 2);
    files_name(folder, name, path);
    files_hurt(ctx, path, 700, 0);
    CHECK(found_number(ctx, "number") == 2);
    files_hurt(ctx, path, 100, 1);
    CHECK(found_number(ctx, "number") == 2);
    dkm_checkpoint_close(&c);
    checkpoint_clear(ctx, dir);
}

static void other_settings_and_data_are_refused(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();
    dkm_checkpoint *c = NULL;
    dkm_data *X = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 10, 3, &X));
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, dkm_checkpointer_note_data(X));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    dkm_checkpoint_close(&c);
    s.dir = dir;
    s.resume = 1;
    s.settings = "--alpha 1\n--beta 3\n";
    CHECK(dkm_checkpoint_open(ctx, &s, &c) == DKM_ERR_ARG && c == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "there '--beta 2', here '--beta 3'") != NULL);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK_OK(ctx, dkm_checkpointer_note_data(X));
    dkm_checkpoint_close(&c);
    if (dkm_data_local_rows(X) > 0)
        dkm_data_values(X)[0] = 1e-300;
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK(dkm_checkpointer_note_data(X) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "other data") != NULL);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1,
                                     &c)); /* anew: the old states go with the first new one */
    CHECK(found_number(ctx, "number") == -1);
    CHECK_OK(ctx, keep_number(ctx, "fresh", 1));
    CHECK(checkpoint_states(ctx, dir) == 1);
    dkm_checkpoint_close(&c);
    dkm_data_destroy(&X);
    checkpoint_clear(ctx, dir);
}

/* All of them, and any two: in a sum of weighted words they would cancel. */
static void signs_that_change_are_other_data(dkm_ctx *ctx)
{
    enum { ROWS = 10 };
    dkm_data *y = NULL;
    uint64_t before, after;

    CHECK_OK(ctx, dkm_data_create_labels(ctx, ROWS, &y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(y); i++)
        dkm_data_values(y)[i] = (dkm_data_local_first(y) + i) % 3 ? 1 : -1;
    before = dkm_data_fingerprint(y);
    for (dkm_idx other = 0; other <= ROWS; other++) { /* 0 and another one; at last all */
        for (int twice = 0; twice < 2; twice++) {
            for (dkm_idx i = 0; i < dkm_data_local_rows(y); i++) {
                dkm_idx at = dkm_data_local_first(y) + i;
                if (other == ROWS || (other > 0 && (at == 0 || at == other)))
                    dkm_data_values(y)[i] *= -1;
            }
            after = dkm_data_fingerprint(y);
            CHECK((after == before) == (other == 0 || twice));
        }
    }
    dkm_data_destroy(&y);
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
    checkpoint_folder(dir, folder);
    for (int k = 0; k < 3; k++)
        write_file(ctx, dir, beside[k], "precious");
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    dkm_checkpoint_close(&c);
    for (int k = 0; k < 3; k++)
        write_file(ctx, folder, beside[k], "precious");
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, turn, -1, &c));
        for (int k = 0; k < 4; k++)
            CHECK_OK(ctx, keep_number(ctx, "number", k));
        dkm_checkpoint_close(&c);
        for (int k = 0; k < 3; k++)
            CHECK(is_there(ctx, dir, beside[k]) && is_there(ctx, folder, beside[k]));
        CHECK(checkpoint_states(ctx, dir) == 2 + 3);
    }
    checkpoint_clear(ctx, dir);
}

/* A file with the name of a state of this run, but without its seal. */
static void a_file_without_a_seal_stays(dkm_ctx *ctx)
{
    char dir[FILES_PATH], folder[FILES_PATH], run[DKM_RUN_LENGTH], stem[DKM_STEM_LENGTH];
    char name[DKM_NAME_LENGTH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    checkpoint_folder(dir, folder);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    dkm_checkpoint_run(CHECKPOINT_SETTINGS, run);
    dkm_checkpoint_dir_stem("number layout 2", stem);
    snprintf(name, sizeof name, "%s-%s-%06d.h5", stem, run, 0);
    dkm_checkpoint_close(&c);
    write_file(ctx, folder, name, "not a state");
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, turn, -1, &c));
        for (int k = 1; k <= 3; k++)
            CHECK_OK(ctx, keep_number(ctx, "number", k));
        dkm_checkpoint_close(&c);
        CHECK(is_there(ctx, folder, name));
        CHECK(checkpoint_states(ctx, dir) == 3);
    }
    checkpoint_clear(ctx, dir);
}

static void a_folder_that_is_not_ours_is_refused(dkm_ctx *ctx)
{
    char dir[FILES_PATH], folder[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    checkpoint_folder(dir, folder);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(mkdir(folder, 0777) == 0);
    write_file(ctx, folder, "thesis.h5", "precious");
    CHECK(checkpoint_open_at(ctx, dir, 0, -1, &c) == DKM_ERR_IO && c == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "marker") != NULL);
    CHECK(files_count(ctx, folder) == 1);
    checkpoint_clear(ctx, dir);
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
    checkpoint_folder(dir, folder);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    dkm_checkpoint_close(&c);
    dkm_checkpoint_run(CHECKPOINT_SETTINGS, run);
    snprintf(left, sizeof left, "gram-00000000-%s-000004.h5.tmp.2147483646-0", run);
    snprintf(live, sizeof live, "gram-00000000-%s-000004.h5.tmp.%ld-0", run, parent);
    snprintf(other, sizeof other, "gram-00000000-ffffffff-000004.h5.tmp.2147483646-0");
    write_file(ctx, folder, left, "half a state");
    write_file(ctx, folder, live, "half a state");
    write_file(ctx, folder, other, "half a state");
    write_file(ctx, dir, left, "precious");
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    dkm_checkpoint_close(&c);
    CHECK(!is_there(ctx, folder, left));
    CHECK(is_there(ctx, folder, live) && is_there(ctx, folder, other) && is_there(ctx, dir, left));
    checkpoint_clear(ctx, dir);
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
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 7));
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_other(ctx, dir, 0, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 8));
    dkm_checkpoint_close(&c);
    CHECK(checkpoint_states(ctx, dir) == 2);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 7);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_other(ctx, dir, 1, &c));
    CHECK(found_number(ctx, "number") == 8);
    dkm_checkpoint_close(&c);
    checkpoint_clear(ctx, dir);
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
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
    CHECK_OK(ctx, keep_number(ctx, "number", 1));
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = old;
    small.rlim_cur = 100000; /* bytes: a number has room, a matrix has not */
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_OK(ctx, dkm_checkpointer_save_lower("matrix", A));
    CHECK_OK(ctx, keep_number(ctx, "number", 2));
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    dkm_checkpoint_close(&c);
    CHECK(checkpoint_states(ctx, dir) == 2);
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK(found_number(ctx, "number") == 2);
    CHECK_OK(ctx, dkm_checkpointer_load_lower("matrix", A, &found));
    CHECK(!found);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    checkpoint_clear(ctx, dir);
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
    checkpoint_clear(ctx, dir);
}

static char scene[FILES_PATH];

static dkm_status open_save_find(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_checkpoint *c = NULL;
    int choice, found;

    DKM_TRY(checkpoint_open_at(ctx, scene, 1, -1, &c));
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
    checkpoint_clear(ctx, scene);
}

static const check_case cases[] = {
    CASE(damage_sends_back_to_the_state_before),
    CASE(other_settings_and_data_are_refused),
    CASE(signs_that_change_are_other_data),
    CASE(files_of_others_are_left_alone),
    CASE(a_file_without_a_seal_stays),
    CASE(a_folder_that_is_not_ours_is_refused),
    CASE(temporary_files_of_the_killed_are_removed),
    CASE(runs_with_other_settings_share_a_directory),
    CASE(a_disk_that_is_full_does_not_end_the_run),
    CASE(time_that_runs_out_stops_the_run),
    CASE(brutal),
};

CHECK_MAIN(cases)
