#include <dkmap/context.h>

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "core/context_impl.h"
#include "core/ctx_private.h"

int64_t dkm_peak_resident(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

int64_t dkm_peak_private(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0, shared = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssFile: %lld", &kib) == 1 || sscanf(line, "RssShmem: %lld", &kib) == 1)
            shared += kib;
    if (f)
        fclose(f);
    return dkm_peak_resident() - (int64_t)shared * 1024;
}

/* The peak less what is shared now beyond its part: shared pages stay. */
int64_t dkm_peak_proportional(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long long rss = 0, pss = -1, kib;

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "Rss: %lld", &kib) == 1)
            rss = kib;
        else if (sscanf(line, "Pss: %lld", &kib) == 1)
            pss = kib;
    }
    if (f)
        fclose(f);
    return pss < 0 ? 0 : dkm_peak_resident() - (int64_t)(rss - pss) * 1024;
}

/* Bytes this node can still give, by the kernel's own estimate; negative when unknown. */
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

/* What the ranks of a node want and hold together, and what it can give. */
typedef struct node_memory {
    double wanted, held, free;
} node_memory;

static node_memory look_at_node(const dkm_ctx *ctx, double bytes)
{
    double mine[2] = {bytes, (double)ctx->live_bytes}, all[2] = {0, 0};
    node_memory node;

    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, ctx->node);
    node = (node_memory){all[0], all[1], available_on_node()};
    if (ctx->memory > 0 && (node.free < 0 || ctx->memory - node.held < node.free))
        node.free = fmax(ctx->memory - node.held, 0.0);
    return node;
}

static int fits_node(const node_memory *node)
{
    return node->free < 0 || node->wanted <= node->free;
}

static dkm_local check_node(dkm_ctx *ctx, double mine, const node_memory *node, const char *what)
{
    const double GiB = 1073741824.0;

    if (fits_node(node))
        return DKM_LOCAL_OK;
    return dkm_error_user(
        ctx, DKM_ERR_MEMORY,
        "%s needs %.2f GiB on this rank and %.2f GiB on its node, which has %.2f GiB "
        "free: use at least %.0f times as many nodes, or a smaller problem",
        what, mine / GiB, node->wanted / GiB, node->free / GiB,
        ceil(node->wanted / fmax(node->free, 1.0)));
}

int dkm_memory_fits(dkm_ctx *ctx, double bytes)
{
    node_memory node = look_at_node(ctx, bytes);
    int fits = fits_node(&node), all = 0;

    MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN, ctx->comm);
    return all;
}

dkm_status dkm_memory_check(dkm_ctx *ctx, double bytes, const char *what)
{
    node_memory node = look_at_node(ctx, bytes);

    return dkm_agree(ctx, check_node(ctx, bytes, &node, what));
}

int dkm_ctx_node_ranks(const dkm_ctx *ctx)
{
    int ranks = 1;

    MPI_Comm_size(ctx->node, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MAX, ctx->comm);
    return ranks;
}
