#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/path.h"
#include "io/stream/spool.h"
#include "io/stream/stdout_file.h"
#include "support/check.h"
#include "support/fixture_files.h"

enum { BYTES = 3 * (1 << 20) + 17, TURNS = 3, STEP = 700001 };

/* Byte k of what goes through. */
static char byte_of(long k)
{
    return (char)('a' + k * 7 % 25 + (k >> 16) % 3);
}

static int is_right(int fd, long count)
{
    static char buffer[1 << 16];
    long at = 0;
    ssize_t got;

    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t k = 0; k < got; k++)
            if (buffer[k] != byte_of(at++))
                return 0;
    return at == count;
}

/* Rank 0 has standard output in a file meanwhile. */
static int divert_stdout(dkm_ctx *ctx, const char *path)
{
    int kept = -1, fd;

    if (dkm_ctx_rank(ctx) == 0) {
        fflush(stdout);
        kept = dup(STDOUT_FILENO);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK(kept >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
        close(fd);
    }
    return kept;
}

static void restore_stdout(int kept)
{
    if (kept >= 0) {
        CHECK(dup2(kept, STDOUT_FILENO) >= 0);
        close(kept);
    }
}

/* All bytes in steps that go round the ranks, each step in two writes, the last of them first. */
static dkm_local write_steps(dkm_ctx *ctx, dkm_atomic_file *out, const char *bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    long step = 0;

    for (long at = 0; at < BYTES; at += STEP, step++) {
        long count = BYTES - at < STEP ? BYTES - at : STEP, half = count / 2;
        if (step % dkm_ctx_size(ctx) != dkm_ctx_rank(ctx))
            continue;
        DKM_STEP(dkm_atomic_file_write(out, at + half, bytes + at + half, count - half));
        DKM_STEP(dkm_atomic_file_write(out, at, bytes + at, half));
    }
out:
    return local;
}

static char output_path[FILES_PATH], *all_bytes;

static dkm_status print_all(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_atomic_file out = {0};
    int kept = divert_stdout(ctx, output_path);

    DKM_TRY(dkm_atomic_file_open(&out, ctx, "-"));
    DKM_AGREE(ctx, write_steps(ctx, &out, all_bytes));
    DKM_TRY(dkm_atomic_file_commit(&out));
out:
    dkm_atomic_file_close(&out);
    restore_stdout(kept);
    return status;
}

static int printed_right(dkm_ctx *ctx)
{
    int right = 1, fd;

    if (dkm_ctx_rank(ctx) == 0) {
        fd = open(output_path, O_RDONLY);
        right = fd >= 0 && is_right(fd, BYTES);
        close(fd);
    }
    MPI_Bcast(&right, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    return right;
}

static void parts_are_printed_in_order(dkm_ctx *ctx)
{
    char dir[FILES_PATH];

    files_open(ctx, dir);
    files_name(dir, "out", output_path);
    all_bytes = malloc(BYTES);
    for (long k = 0; k < BYTES; k++)
        all_bytes[k] = byte_of(k);
    CHECK_OK(ctx, print_all(ctx));
    CHECK(printed_right(ctx));
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, print_all);
    CHECK(printed_right(ctx));
    free(all_bytes);
    files_close(ctx, dir);
}

static void what_is_not_committed_is_not_printed(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_atomic_file out = {0};
    int kept;

    files_open(ctx, dir);
    kept = divert_stdout(ctx, files_name(dir, "out", output_path));
    CHECK_OK(ctx, dkm_atomic_file_open(&out, ctx, "-.npy"));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_atomic_file_write(&out, dkm_ctx_rank(ctx), "x", 1)));
    dkm_atomic_file_close(&out);
    restore_stdout(kept);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(dkm_path_open(output_path, O_RDONLY, 0) >= 0);
    CHECK(dkm_agree(ctx, dkm_path_readable(ctx, output_path, NULL)) == DKM_ERR_FORMAT);
    files_close(ctx, dir);
}

/* A named pipe that a child of rank 0 fills. */
static char pipe_path[FILES_PATH];

static void fill_pipe(dkm_ctx *ctx, long count)
{
    int fd;

    if (dkm_ctx_rank(ctx) != 0 || fork() != 0)
        return;
    fd = open(pipe_path, O_WRONLY);
    for (long k = 0; fd >= 0 && k < count; k++) {
        static char piece[1000];
        piece[k % 1000] = byte_of(k);
        if ((k % 1000 == 999 || k == count - 1) && write(fd, piece, (size_t)(k % 1000 + 1)) < 0)
            break;
    }
    _exit(0);
}

static void all_ranks_read_what_came_through_a_pipe(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_idx bytes = 0;

    files_open(ctx, dir);
    files_name(dir, "pipe", pipe_path);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(mkfifo(pipe_path, 0600) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK(dkm_spool_path(pipe_path) == pipe_path);
    fill_pipe(ctx, BYTES);
    CHECK_OK(ctx, dkm_spool(ctx, pipe_path));
    for (int turn = 0; turn < TURNS; turn++) { /* again and again: it is a file now */
        int fd = dkm_path_open(pipe_path, O_RDONLY, 0);
        CHECK_OK(ctx, dkm_spool(ctx, pipe_path));
        CHECK(fd >= 0 && is_right(fd, BYTES));
        close(fd);
    }
    CHECK_OK(ctx, dkm_agree(ctx, dkm_path_readable(ctx, pipe_path, &bytes)));
    CHECK(bytes == BYTES);
    files_close(ctx, dir);
}

static void names_of_standard_streams(dkm_ctx *ctx)
{
    (void)ctx;
    CHECK(dkm_path_is_standard("-") && dkm_path_is_standard("-.npy") &&
          dkm_path_is_standard("-[0:3]"));
    CHECK(!dkm_path_is_standard("./-") && !dkm_path_is_standard("-x.csv") &&
          !dkm_path_is_standard("x-"));
}

static void contents_are_recognized(dkm_ctx *ctx)
{
    static const struct {
        const char *text, *ending;
    } all[] = {{"\x93NUMPY", ".npy"},
               {"%%MatrixMarket matrix", ".mtx"},
               {"% a remark\n@RELATION x\n", ".arff"},
               {"1.5 3:2.5 7:1\n", ".svm"},
               {"3,4 3:2.5 7:1\n", ".svm"},
               {"# a remark\n1\t2\n", ".tsv"},
               {"a,b\n1,2\n", ".csv"},
               {"1\n", ".csv"}};
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        files_put(ctx, dir, "file", all[k].text, strlen(all[k].text), path);
        CHECK(strcmp(dkm_spool_ending(path), all[k].ending) == 0);
        MPI_Barrier(dkm_ctx_comm(ctx));
    }
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(names_of_standard_streams),
    CASE(contents_are_recognized),
    CASE(parts_are_printed_in_order),
    CASE(what_is_not_committed_is_not_printed),
    CASE(all_ranks_read_what_came_through_a_pipe),
};
CHECK_MAIN(cases)
