#define _GNU_SOURCE
#include <dkmap/context.h>

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/context_impl.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "core/simd.h"
#include "core/svm_base.h"

/* The first number of OMP_NUM_THREADS; a large one where it is not set. */
static int allowed_threads(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    long threads = text ? strtol(text, NULL, 10) : 0;

    return threads > 0 && threads < INT_MAX ? (int)threads : INT_MAX;
}

/* The cores that the ranks of a node may use, divided among them; a rank that is bound to some
 * takes no more threads than those, or than OMP_NUM_THREADS. At least one. Collective on @p node. */
static int fair_threads(MPI_Comm node)
{
    cpu_set_t mine, all;
    int sharers = 1, share;

    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, node);
    MPI_Comm_size(node, &sharers);
    share = CPU_COUNT(&all) / sharers;
    share = share < CPU_COUNT(&mine) ? share : CPU_COUNT(&mine);
    share = share < allowed_threads() ? share : allowed_threads();
    return share > 1 ? share : 1;
}

static void free_context(dkm_ctx *c)
{
    if (!c)
        return;
    if (c->node != MPI_COMM_NULL)
        MPI_Comm_free(&c->node);
    if (c->comm != MPI_COMM_NULL)
        MPI_Comm_free(&c->comm);
    dkm_mpi_unwatch(c);
    free(c);
}

/* All ranks use the vector kernels of the one that has the least of them. */
static void agree_on_simd(const dkm_ctx *c)
{
    int level = (int)dkm_simd_current();

    MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, c->comm);
    dkm_simd_use((dkm_simd_level)level);
}

/* The communicators of a context and what follows from them. */
static int open_communicators(dkm_ctx *c, MPI_Comm comm)
{
    int code = dkm_mpi_duplicate(c, comm);

    if (code != MPI_SUCCESS)
        return code;
    if (c->outer)
        c->factor = c->outer->factor;
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    dkm_mpi_split_node(c, &c->node);
    if (c->mpi_error == MPI_SUCCESS)
        c->threads = c->fair_threads = fair_threads(c->node);
    if (c->mpi_error == MPI_SUCCESS)
        agree_on_simd(c);
    return c->mpi_error;
}

dkm_status dkm_ctx_create(MPI_Comm comm, dkm_ctx **ctx)
{
    dkm_ctx *c = calloc(1, sizeof *c);
    int mine = c != NULL, all = 0;

    *ctx = NULL;
    if (c)
        *c = (dkm_ctx){.comm = MPI_COMM_NULL,
                       .node = MPI_COMM_NULL,
                       .callers_handler = MPI_ERRHANDLER_NULL,
                       .mpi_error = MPI_SUCCESS,
                       .svm_base = {DKM_SVM_BASE_AUTO, DKM_SVM_BASE_AUTO},
                       .budget = -1,
                       .attached = -1};
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !all) {
        free_context(c);
        return all ? DKM_ERR_MPI : DKM_ERR_MEMORY;
    }
    mine = open_communicators(c, comm) == MPI_SUCCESS;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !all) {
        free_context(c);
        return DKM_ERR_MPI;
    }
    *ctx = c;
    return DKM_OK;
}

dkm_status dkm_ctx_create_f(MPI_Fint comm, dkm_ctx **ctx)
{
    return dkm_ctx_create(MPI_Comm_f2c(comm), ctx);
}

const char *dkm_version(void)
{
    return DKMAP_VERSION;
}

int dkm_version_number(void)
{
    return DKM_VERSION_NUMBER;
}

void dkm_ctx_set_listener(dkm_ctx *ctx, dkm_listener listener)
{
    ctx->listener = listener;
}

void dkm_ctx_set_interrupt(dkm_ctx *ctx, int (*asked)(void *user), void *user)
{
    ctx->asked = asked;
    ctx->asked_user = user;
}

void dkm_ctx_set_memory(dkm_ctx *ctx, double bytes)
{
    ctx->memory = bytes;
}

void dkm_ctx_set_seed(dkm_ctx *ctx, uint64_t seed)
{
    ctx->seed = seed;
}

void dkm_ctx_set_threads(dkm_ctx *ctx, int threads)
{
    ctx->threads = threads > 0 ? threads : ctx->fair_threads;
}

void dkm_ctx_set_factor(dkm_ctx *ctx, dkm_factor factor)
{
    ctx->factor = factor;
}

dkm_factor dkm_ctx_factor(const dkm_ctx *ctx)
{
    return ctx->factor;
}

void dkm_ctx_set_svm_base(dkm_ctx *ctx, int base)
{
    ctx->svm_base[0] = ctx->svm_base[1] = base == 0 || base == 1 ? base : DKM_SVM_BASE_AUTO;
}

int dkm_ctx_svm_base(const dkm_ctx *ctx)
{
    return ctx->svm_base[0];
}

int dkm_svm_base_of(const dkm_ctx *ctx, int outputs)
{
    return ctx->svm_base[outputs];
}

void dkm_svm_base_decide(dkm_ctx *ctx, int outputs, int base)
{
    ctx->svm_base[outputs] = base;
}

int dkm_ctx_rank(const dkm_ctx *ctx)
{
    return ctx->rank;
}

int dkm_ctx_size(const dkm_ctx *ctx)
{
    return ctx->size;
}

MPI_Comm dkm_ctx_comm(const dkm_ctx *ctx)
{
    return ctx->comm;
}

uint64_t dkm_ctx_seed(const dkm_ctx *ctx)
{
    return ctx->seed;
}

int dkm_ctx_threads(const dkm_ctx *ctx)
{
    return ctx->threads;
}

int dkm_ctx_blas_serial(const dkm_ctx *ctx)
{
    return ctx->blas_serial;
}

void dkm_ctx_set_blas_serial(dkm_ctx *ctx, int serial)
{
    ctx->blas_serial = serial;
}

const char *dkm_ctx_message(const dkm_ctx *ctx)
{
    return ctx->message;
}

dkm_idx dkm_ctx_live_blocks(const dkm_ctx *ctx)
{
    return ctx->live_blocks;
}

int64_t dkm_ctx_live_bytes(const dkm_ctx *ctx)
{
    return ctx->live_bytes;
}

int64_t dkm_ctx_peak_bytes(const dkm_ctx *ctx)
{
    return ctx->peak_bytes;
}

int64_t dkm_ctx_take_largest(dkm_ctx *ctx)
{
    int64_t largest = ctx->largest;

    ctx->largest = 0;
    return largest;
}

void dkm_ctx_fail_after(dkm_ctx *ctx, dkm_idx budget)
{
    ctx->budget = budget;
}

int dkm_ctx_attached(const dkm_ctx *ctx)
{
    return ctx->attached;
}

void *dkm_ctx_kernels(const dkm_ctx *ctx)
{
    return ctx->kernels;
}

void dkm_ctx_set_kernels(dkm_ctx *ctx, void *kernels, void (*release)(void *))
{
    ctx->kernels = kernels;
    ctx->kernels_release = release;
}

const void *dkm_ctx_lent(const dkm_ctx *ctx, dkm_lent which)
{
    return ctx->lent[which];
}

void dkm_ctx_lend(dkm_ctx *ctx, dkm_lent which, const void *what)
{
    ctx->lent[which] = what;
}

void dkm_ctx_attach(dkm_ctx *ctx, int handle, void (*release)(int))
{
    ctx->attached = handle;
    ctx->attached_release = release;
}

void dkm_ctx_set_comm_reader(dkm_ctx *ctx, dkm_comm_reader reader)
{
    ctx->comm_reader = reader;
}

dkm_comm_reader dkm_ctx_comm_reader(const dkm_ctx *ctx)
{
    return ctx->comm_reader;
}

void *dkm_ctx_checkpointer(const dkm_ctx *ctx)
{
    return ctx->checkpointer;
}

void dkm_ctx_set_checkpointer(dkm_ctx *ctx, void *checkpointer)
{
    ctx->checkpointer = checkpointer;
}

void dkm_ctx_destroy(dkm_ctx **ctx)
{
    dkm_ctx *c = *ctx;

    if (!c)
        return;
    if (c->outer && c->outer->live_bytes + c->peak_bytes > c->outer->peak_bytes)
        c->outer->peak_bytes = c->outer->live_bytes + c->peak_bytes;
    if (c->attached_release)
        c->attached_release(c->attached);
    if (c->kernels_release)
        c->kernels_release(c->kernels);
    dkm_alloc_release_idle(c);
    free_context(c);
    *ctx = NULL;
}
