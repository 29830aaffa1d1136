#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

#define GiB        (1024.0 * 1024.0 * 1024.0)
#define RANK_BYTES (0.2 * GiB) /* of a rank before it has data: programs and MPI's buffers */

/* A number behind a name in /proc/meminfo, in bytes; 0 where there is none. */
static double meminfo(const char *name)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char word[64];
    double kib = 0, found = 0;

    while (file && found == 0 && fscanf(file, "%63s %lf%*[^\n]", word, &kib) == 2)
        if (strcmp(word, name) == 0)
            found = 1024 * kib;
    if (file)
        fclose(file);
    return found;
}

/* The limit of the job's control group; the memory of the node where there is none. */
static double allowed_memory(void)
{
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    double total = meminfo("MemTotal:"), limit;

    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        FILE *file = fopen(files[k], "r");
        if (file && fscanf(file, "%lf", &limit) == 1 && limit > 0 && limit < total)
            total = limit;
        if (file)
            fclose(file);
    }
    return total;
}

/* A number that stands for the name of this rank's node. */
static double node_number(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    unsigned long long sum = 5381;
    int length;

    MPI_Get_processor_name(name, &length);
    for (const char *c = name; *c; c++)
        sum = (sum * 33 + (unsigned char)*c) % (1ULL << 52);
    return (double)sum;
}

/* How many ranks share a node, and how many nodes there are. Collective. */
static dkm_status count_ranks(doctor *d)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(d->r->ctx), here = 0, first;
    double mine = node_number(), *all = malloc((size_t)size * sizeof *all);
    MPI_Comm comm = dkm_ctx_comm(d->r->ctx);

    DKM_REQUIRE(d->r->ctx, all != NULL, DKM_ERR_MEMORY, "no memory for the names of nodes");
    MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, comm);
    first = 1;
    for (int k = 0; k < size; k++) {
        here += all[k] == mine;
        first &= k >= dkm_ctx_rank(d->r->ctx) || all[k] != mine;
    }
    MPI_Allreduce(&here, &d->ranks_per_node, 1, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(&first, &d->nodes, 1, MPI_INT, MPI_SUM, comm);
out:
    free(all);
    return status;
}

static double least_of_nodes(doctor *d, double mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(d->r->ctx));
    return mine;
}

static void check_cores(doctor *d, int cores)
{
    int threads = dkm_ctx_threads(d->r->ctx);

    report_int(d->r, "ranks", dkm_ctx_size(d->r->ctx));
    report_int(d->r, "nodes", d->nodes);
    report_int(d->r, "ranks_per_node", d->ranks_per_node);
    report_int(d->r, "cores_per_node", cores);
    report_int(d->r, "threads_per_rank", threads);
    if (d->ranks_per_node > cores)
        doctor_doubt(d, "cores", "%d ranks on %d cores of a node: start fewer ranks",
                     d->ranks_per_node, cores);
    else if (d->ranks_per_node * threads > cores)
        doctor_doubt(d, "threads",
                     "%d ranks of %d threads on %d cores of a node: set OMP_NUM_THREADS=%d",
                     d->ranks_per_node, threads, cores, cores / d->ranks_per_node);
}

/* The order of the largest matrix that a ridge fit in double precision has memory for: the matrix
 * itself takes 8 n^2 bytes over all ranks, and a fifth is left for the rest. */
static double largest_order(doctor *d, double memory)
{
    double free_bytes = 0.8 * (memory - d->ranks_per_node * RANK_BYTES);

    return free_bytes > 0 ? floor(sqrt(d->nodes * free_bytes / 8)) : 0;
}

static void check_memory(doctor *d, int cores)
{
    double memory = least_of_nodes(d, allowed_memory()),
           available = least_of_nodes(d, meminfo("MemAvailable:"));
    double fit = floor(fmin(available, memory) / RANK_BYTES);
    char text[120];

    snprintf(text, sizeof text, "%.1f GiB, %.1f GiB of them free", memory / GiB, available / GiB);
    report_text(d->r, "memory_per_node", text);
    report_int(d->r, "ranks_that_fit", (int64_t)fmin(fit, cores));
    report_real(d->r, "largest_n", largest_order(d, fmin(memory, available)));
    if (available > 0 && fit < d->ranks_per_node)
        doctor_bad(d, "memory",
                   "%.1f GiB are free on a node, for %d ranks that take about 0.2 GiB each before "
                   "they have data: start fewer per node, or ask for more memory",
                   available / GiB, d->ranks_per_node);
}

/* Collective. */
static void check_limits(doctor *d)
{
    struct rlimit space = {0}, files = {0};
    double least;

    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_NOFILE, &files);
    least = least_of_nodes(d, space.rlim_cur == RLIM_INFINITY ? INFINITY : (double)space.rlim_cur);
    if (isfinite(least) && least < 4 * GiB)
        doctor_bad(
            d, "limits",
            "a process may have %.1f GiB of address space (ulimit -v), and BLAS and MPI take "
            "more: raise it, with ulimit -v unlimited",
            least / GiB);
    least = least_of_nodes(d, (double)files.rlim_cur);
    if (least < 256)
        doctor_doubt(d, "limits", "a process may open %.0f files (ulimit -n): raise it to 1024",
                     least);
}

dkm_status doctor_check_nodes(doctor *d)
{
    int cores = (int)least_of_nodes(d, (double)sysconf(_SC_NPROCESSORS_ONLN));
    dkm_status status = DKM_OK;

    DKM_TRY(count_ranks(d));
    check_cores(d, cores);
    check_memory(d, cores);
    check_limits(d);
out:
    return status;
}
