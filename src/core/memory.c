#include <dkmap/context.h>

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "core/context_impl.h"

int64_t dkm_peak_resident(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

/* Bytes this node can still give, by the kernel's own estimate; negative when it does not tell. */
static double available_on_node(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[256];
    long long kib = -1;

    if (!f)
        return -1.0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1)
            break;
    fclose(f);
    return kib < 0 ? -1.0 : (double)kib * 1024.0;
}

static dkm_local check_node(dkm_ctx *ctx, double mine, double node_total, const char *what)
{
    const double GiB = 1073741824.0;
    double available = available_on_node();

    if (available < 0 || node_total <= available)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_MEMORY,
                    "%s needs %.2f GiB on this rank and %.2f GiB on its node, which has %.2f GiB "
                    "free: use at least %.0f times as many nodes, or a smaller problem",
                    what, mine / GiB, node_total / GiB, available / GiB,
                    ceil(node_total / available));
}

int dkm_memory_fits(dkm_ctx *ctx, double bytes)
{
    double node_total = 0, available = available_on_node();
    int fits, all = 0;

    MPI_Allreduce(&bytes, &node_total, 1, MPI_DOUBLE, MPI_SUM, ctx->node);
    fits = available < 0 || node_total <= available;
    MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN, ctx->comm);
    return all;
}

dkm_status dkm_memory_check(dkm_ctx *ctx, double bytes, const char *what)
{
    double node_total = 0;

    MPI_Allreduce(&bytes, &node_total, 1, MPI_DOUBLE, MPI_SUM, ctx->node);
    return dkm_agree(ctx, check_node(ctx, bytes, node_total, what));
}
