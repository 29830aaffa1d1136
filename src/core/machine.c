#define _GNU_SOURCE /* for sched_getaffinity() */
#include <dkmap/machine.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/context_impl.h"
#include "core/simd.h"

enum { LINE = 128 }; /* characters about one rank */

/* Append "a-b" for the run of cores [from, to) to a list. */
static void append_cores(char *list, size_t size, int from, int to)
{
    size_t used = strlen(list);
    const char *comma = used > 0 && list[used - 1] != ' ' ? "," : "";

    if (to - from > 1)
        snprintf(list + used, size - used, "%s%d-%d", comma, from, to - 1);
    else
        snprintf(list + used, size - used, "%s%d", comma, from);
}

/* "rank r: t thread(s) on cores 0-3,8" */
static void describe_rank(const dkm_ctx *ctx, char *line)
{
    cpu_set_t mine;
    int from = -1; /* of a run of cores */

    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    snprintf(line, LINE, "rank %d: %d thread(s) on cores ", ctx->rank, ctx->threads);
    for (size_t c = 0; c <= CPU_SETSIZE; c++) {
        int has = c < CPU_SETSIZE && CPU_ISSET(c, &mine);
        if (has && from < 0)
            from = (int)c;
        if (!has && from >= 0) {
            append_cores(line, LINE, from, (int)c);
            from = -1;
        }
    }
}

static dkm_local check_simd(dkm_ctx *ctx)
{
    const char *refused = dkm_simd_refused();

    if (refused)
        return dkm_error_user(ctx, DKM_ERR_ARG,
                              "DKMAP_SIMD=%s: use baseline, avx2 or avx512; this processor has %s "
                              "at most",
                              refused, dkm_simd_name(dkm_simd_best()));
    return DKM_LOCAL_OK;
}

dkm_status dkm_machine_report(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    int ranks = 1;
    char line[LINE], *lines = NULL;

    DKM_AGREE(ctx, check_simd(ctx));
    MPI_Comm_size(ctx->node, &ranks);
    DKM_AGREE(ctx, dkm_alloc(ctx, (dkm_idx)ranks * LINE, &lines));
    describe_rank(ctx, line);
    MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, ctx->node);
    dkm_log(ctx, DKM_DEBUG, "vector kernels for %s", dkm_simd_name(dkm_simd_current()));
    for (int r = 0; r < ranks && ctx->rank == 0; r++)
        dkm_log(ctx, DKM_DEBUG, "%s", lines + r * LINE);
out:
    DKM_FREE(lines);
    return status;
}
