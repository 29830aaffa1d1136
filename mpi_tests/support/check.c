#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/context_impl.h"

static int failures;

void check_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    int rank = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failures++;
    fprintf(stderr, "[rank %d] %s:%d: ", rank, file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Processor time of this rank, which tells what a case costs on a busy machine too. */
static double cpu_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int run_case(dkm_ctx *ctx, const check_case *c)
{
    int before = failures, mine, all = 0;
    double seconds = cpu_seconds(), total = 0;

    c->run(ctx);
    seconds = cpu_seconds() - seconds;
    dkm_ctx_fail_after(ctx, -1);
    if (dkm_ctx_live_blocks(ctx) != 0)
        check_failed(c->name, 0, "%lld blocks still live", (long long)dkm_ctx_live_blocks(ctx));
    mine = failures - before;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (dkm_ctx_rank(ctx) == 0)
        printf("%s %s (%.2f s)\n", all ? "FAILED" : "ok    ", c->name, total);
    return all != 0;
}

int check_run(int argc, char **argv, int count, const check_case *cases)
{
    dkm_ctx *ctx = NULL;
    int bad = 0;

    MPI_Init(&argc, &argv);
    if (dkm_ctx_create(MPI_COMM_WORLD, &ctx) != DKM_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < count; k++)
        if (argc < 2 || strcmp(argv[1], cases[k].name) == 0)
            bad += run_case(ctx, &cases[k]);
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return bad != 0;
}

/* One attempt that may allocate @p budget times on rank @p victim; budget -1 sets no limit. */
static dkm_status attempt_within(dkm_ctx *ctx, int victim, dkm_idx budget,
                                 dkm_status (*attempt)(dkm_ctx *ctx))
{
    dkm_idx live = dkm_ctx_live_blocks(ctx);
    int depth = ctx->depth; /* of open phases */
    int code, lowest, highest;
    dkm_status status;

    dkm_ctx_fail_after(ctx, dkm_ctx_rank(ctx) == victim ? budget : -1);
    status = attempt(ctx);
    dkm_ctx_fail_after(ctx, -1);
    code = (int)status;
    MPI_Allreduce(&code, &lowest, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(ctx));
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
    CHECK(lowest == highest);
    CHECK(status == DKM_OK || status == DKM_ERR_MEMORY);
    CHECK(dkm_ctx_live_blocks(ctx) == live);
    CHECK(ctx->depth == depth);
    return status;
}

/* The sweep does not depend on the number of ranks, beyond there being others than the one that
 * fails: two counts are enough. Those of the coarse sweep meet different allocations. */
void check_every_allocation(dkm_ctx *ctx, int victim, dkm_status (*attempt)(dkm_ctx *ctx))
{
    const char *sweep = getenv("DKMAP_SWEEP");
    int size = dkm_ctx_size(ctx), every = sweep && strcmp(sweep, "all") == 0;
    dkm_status status = DKM_ERR_MEMORY;

    if (size != 2 && size != 3) {
        CHECK(attempt_within(ctx, victim, -1, attempt) == DKM_OK);
        return;
    }
    for (dkm_idx budget = 0; status == DKM_ERR_MEMORY && budget < 20000;
         budget += every ? 1 : 1 + (budget + size) / 4)
        status = attempt_within(ctx, victim, budget, attempt);
    CHECK(status == DKM_OK);
}
