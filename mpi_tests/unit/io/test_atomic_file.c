#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <dkmap/data.h>

#include "io/atomic_file.h"
#include "io/path.h"
#include "support/check.h"
#include "support/fixture_files.h"

enum { EACH = 100000 };

/* Every rank writes EACH bytes of its own letter, the last rank first in the file. */
static dkm_status write_letters(dkm_ctx *ctx, dkm_atomic_file *out)
{
    static char letters[EACH];
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    memset(letters, 'a' + rank, sizeof letters);
    DKM_AGREE(ctx, dkm_atomic_file_write(out, (dkm_idx)(size - 1 - rank) * EACH, letters, EACH));
out:
    return status;
}

static int letters_are_there(dkm_ctx *ctx, const char *path)
{
    int size = dkm_ctx_size(ctx), same = 1;
    FILE *file = fopen(path, "rb");

    for (int k = 0; file && k < size * EACH; k++)
        same &= getc(file) == 'a' + size - 1 - k / EACH;
    same &= file && getc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}

static void a_file_appears_when_committed(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_atomic_file out = {0};
    struct stat about;
    mode_t mask = umask(0);

    umask(mask);
    files_open(ctx, dir);
    files_name(dir, "letters", path);
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, path));
        CHECK_OK(ctx, write_letters(ctx, &out));
        CHECK(files_exist(ctx, path) == again);
        CHECK_OK(ctx, dkm_atomic_file_commit(&out));
        dkm_atomic_file_close(&out);
        CHECK(letters_are_there(ctx, path) && files_count(ctx, dir) == 1);
        CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == (0666 & ~mask));
    }
    files_close(ctx, dir);
}

static void a_file_given_up_leaves_nothing(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_atomic_file out = {0};

    files_open(ctx, dir);
    files_name(dir, "letters", path);
    CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, path));
    CHECK_OK(ctx, write_letters(ctx, &out));
    CHECK(files_count(ctx, dir) == 1);
    dkm_atomic_file_close(&out);
    CHECK(files_count(ctx, dir) == 0);
    files_close(ctx, dir);
}

static void expect_refusal(dkm_ctx *ctx, const char *where, const char *word)
{
    CHECK(dkm_file_check_writable(ctx, where) == DKM_ERR_IO);
    if (!strstr(dkm_ctx_message(ctx), word))
        check_failed(__FILE__, __LINE__, "no '%s' in: %s", word, dkm_ctx_message(ctx));
}

static void a_path_that_cannot_be_written_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    expect_refusal(ctx, dir, "is a directory");
    expect_refusal(ctx, files_name(dir, "missing/out.npy", path), "make its directory first");
    expect_refusal(ctx, files_name(dir, "missing/out.h5:/a", path), "missing/out.h5: cannot write");
    files_put(ctx, dir, "plain", "x", 1, path);
    expect_refusal(ctx, files_name(dir, "plain/out.npy", path), "Not a directory");
    expect_refusal(ctx, "/dev/null", "no plain file");
    expect_refusal(ctx, "", "empty");
    CHECK_OK(ctx, dkm_file_check_writable(ctx, files_name(dir, "plain", path)));
    CHECK_OK(ctx, dkm_file_check_writable(ctx, files_name(dir, "new.h5:/group/set", path)));
    CHECK(files_count(ctx, dir) == 1);
    files_close(ctx, dir);
}

static void a_directory_closed_to_us_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(chmod(dir, 0555) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    if (geteuid() != 0)
        expect_refusal(ctx, files_name(dir, "out.npy", path), "Permission denied");
    else
        expect_refusal(ctx, "/proc/out.npy", "cannot write");
    MPI_Barrier(dkm_ctx_comm(ctx));
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(chmod(dir, 0755) == 0);
    files_close(ctx, dir);
}

/* /dev/full says that the disk is full on every write; here one rank alone meets it. */
static void a_full_disk_on_one_rank_is_told_on_all(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    int victim = dkm_ctx_size(ctx) - 1, full = open("/dev/full", O_WRONLY);
    dkm_atomic_file out = {0};

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, files_name(dir, "letters", path)));
    if (dkm_ctx_rank(ctx) == victim)
        CHECK(full >= 0 && dup2(full, out.fd) >= 0);
    CHECK(write_letters(ctx, &out) == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "letters: cannot write: No space left on device") != NULL);
    dkm_atomic_file_close(&out);
    CHECK(files_count(ctx, dir) == 0);
    files_close(ctx, dir);
    close(full);
}

/* A process that was killed leaves its temporary file; others of the name are not touched. */
static void files_of_killed_runs_are_removed(dkm_ctx *ctx)
{
    static const char *const names[] = {"letters.tmp.999999999-0", "letters.tmp.x-0",
                                        "letters.tmp.999999999-0.h5", "other.tmp.999999999-0"};
    char dir[FILES_PATH], path[FILES_PATH], name[FILES_PATH];
    dkm_atomic_file out = {0};

    files_open(ctx, dir);
    for (int k = 0; dkm_ctx_rank(ctx) == 0 && k < 4; k++) {
        files_name(dir, names[k], name);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    CHECK(files_count(ctx, dir) == 4);
    files_name(dir, "letters", path);
    CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, path));
    CHECK_OK(ctx, write_letters(ctx, &out));
    CHECK_OK(ctx, dkm_atomic_file_commit(&out));
    dkm_atomic_file_close(&out);
    files_name(dir, names[0], name);
    CHECK(letters_are_there(ctx, path) && !files_exist(ctx, name));
    CHECK(files_count(ctx, dir) == 4);
    files_close(ctx, dir);
}

static char brutal_path[FILES_PATH];

static dkm_status write_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_atomic_file out = {0};

    DKM_TRY(dkm_file_check_writable(ctx, brutal_path));
    DKM_TRY(dkm_atomic_file_open(&out, ctx, brutal_path));
    DKM_TRY(write_letters(ctx, &out));
    DKM_TRY(dkm_atomic_file_commit(&out));
out:
    dkm_atomic_file_close(&out);
    return status;
}

static void every_allocation_of_a_write_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH];

    files_open(ctx, dir);
    files_name(dir, "letters", brutal_path);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, write_under_pressure);
    CHECK(letters_are_there(ctx, brutal_path) && files_count(ctx, dir) == 1);
    files_close(ctx, dir);
}

static void a_file_that_is_replaced_keeps_its_mode(dkm_ctx *ctx)
{
    const mode_t modes[] = {0600, 0640, 0444, 0666};
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_atomic_file out = {0};
    struct stat about;

    files_open(ctx, dir);
    files_put(ctx, dir, "letters", "x", 1, path);
    for (int k = 0; k < 4; k++) {
        if (dkm_ctx_rank(ctx) == 0)
            CHECK(chmod(path, modes[k]) == 0);
        CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, path));
        CHECK(stat(out.temp, &about) == 0 && (about.st_mode & 0777) == 0600);
        CHECK_OK(ctx, write_letters(ctx, &out));
        CHECK_OK(ctx, dkm_atomic_file_commit(&out));
        dkm_atomic_file_close(&out);
        CHECK(letters_are_there(ctx, path) && files_count(ctx, dir) == 1);
        CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == modes[k]);
        MPI_Barrier(dkm_ctx_comm(ctx));
    }
    files_close(ctx, dir);
}

static char pipe_path[FILES_PATH];
static volatile sig_atomic_t alarms;
static volatile int writer = -1;

/* The third signal gives the pipe its other end. */
static void on_alarm(int number)
{
    (void)number;
    if (++alarms == 3)
        writer = open(pipe_path, O_RDWR);
}

static void an_open_that_a_signal_interrupts_is_tried_again(dkm_ctx *ctx)
{
    struct sigaction action = {.sa_handler = on_alarm}, before;
    struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    char dir[FILES_PATH];
    int fd;

    files_open(ctx, dir);
    files_name(dir, "pipe", pipe_path);
    if (dkm_ctx_rank(ctx) == 0) {
        CHECK(mkfifo(pipe_path, 0600) == 0);
        sigaction(SIGALRM, &action, &before);
        setitimer(ITIMER_REAL, &often, NULL);
        fd = dkm_path_open(pipe_path, O_RDONLY, 0);
        setitimer(ITIMER_REAL, &never, NULL);
        sigaction(SIGALRM, &before, NULL);
        CHECK(fd >= 0 && alarms >= 3);
        close(fd);
        close(writer);
    }
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(a_file_that_is_replaced_keeps_its_mode),
    CASE(an_open_that_a_signal_interrupts_is_tried_again),
    CASE(a_file_appears_when_committed),
    CASE(a_file_given_up_leaves_nothing),
    CASE(files_of_killed_runs_are_removed),
    CASE(a_path_that_cannot_be_written_is_told),
    CASE(a_directory_closed_to_us_is_told),
    CASE(a_full_disk_on_one_rank_is_told_on_all),
    CASE(every_allocation_of_a_write_may_fail),
};

CHECK_MAIN(cases)
