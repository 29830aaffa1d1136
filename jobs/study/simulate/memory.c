/* Blocks of matrices that nobody can hold for thousands of ranks at once.
 *
 * A large block of a listed file is the same memory on every rank, one for each size: it can be read
 * and written, and what it holds means nothing. Its bytes count as held, as those of other blocks.
 * Copies to and from such blocks are left out. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/alloc.h"
#include "core/context_impl.h"
#include "simulate.h"

#undef memcpy

#define ADDRESSES ((size_t)1 << 40)
enum { AREAS = 4096 };

/* Where matrices are allocated, and what goes with parts of them. */
#define MATRICES "matrix/dmat.c"
static const char *const files[] = {MATRICES, "matrix/symmetrize.c",
                                    "linalg/factor/potrf_update.c"};
#define LEAST ((size_t)64 << 10) /* of the latter */

typedef struct area {
    const char *file;
    int line;
    size_t bytes;
    char *at;
} area;

static struct {
    size_t from;
    char *base, *end;
    area areas[AREAS];
    int count;
    dkm_ctx **ctx; /* of each rank */
} shared;

dkm_local __real_dkm_alloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                              void *block);
dkm_local __wrap_dkm_alloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                              void *block);
dkm_local __real_dkm_calloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                               void *block);
dkm_local __wrap_dkm_calloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                               void *block);
void __real_dkm_free_block(void *block);
void __wrap_dkm_free_block(void *block);
void *sim_memcpy(void *to, const void *from, size_t bytes);

void sim_share_from(size_t bytes)
{
    int ranks = 0;

    if (shared.base || bytes == 0)
        return;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    shared.ctx = calloc((size_t)ranks, sizeof *shared.ctx);
    shared.base =
        mmap(NULL, ADDRESSES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!shared.ctx || shared.base == MAP_FAILED) {
        fprintf(stderr, "simulate: no addresses for shared blocks\n");
        exit(1);
    }
    shared.end = shared.base;
    shared.from = bytes;
}

int sim_is_shared(const void *a)
{
    return (const char *)a >= shared.base && (const char *)a < shared.end;
}

static int ends_with(const char *file, const char *end)
{
    size_t length = strlen(file), n = strlen(end);

    return length >= n && strcmp(file + length - n, end) == 0;
}

static int is_listed(const char *file, size_t bytes)
{
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (ends_with(file, files[k]))
            return bytes >= (strcmp(files[k], MATRICES) == 0 ? shared.from : LEAST);
    return 0;
}

/* The block of this place and size, made when there is none yet; zeros at first. */
static area *find_area(const char *file, int line, size_t bytes)
{
    const size_t page = 4096, mapped = (bytes + page - 1) / page * page + page;
    area *a = shared.areas;

    for (; a < shared.areas + shared.count; a++)
        if (a->line == line && a->bytes == bytes && strcmp(a->file, file) == 0)
            return a;
    if (shared.count == AREAS || shared.end + mapped > shared.base + ADDRESSES ||
        mprotect(shared.end, mapped, PROT_READ | PROT_WRITE) != 0) {
        fprintf(stderr, "simulate: too many blocks to share\n");
        exit(1);
    }
    *a = (area){file, line, bytes, shared.end};
    shared.end += mapped;
    shared.count++;
    return a;
}

/* A shared block, where this is one to be shared. */
static int take_shared(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                       void **block)
{
    size_t bytes = (size_t)count * size;

    if (!shared.base || !is_listed(file, bytes))
        return 0;
    *block = find_area(file, line, bytes)->at;
    shared.ctx[sim_rank()] = ctx;
    ctx->live_blocks++;
    ctx->live_bytes += (int64_t)bytes;
    if (ctx->live_bytes > ctx->peak_bytes)
        ctx->peak_bytes = ctx->live_bytes;
    return 1;
}

dkm_local __wrap_dkm_alloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                              void *block)
{
    if (take_shared(ctx, file, line, count, size, block))
        return DKM_LOCAL_OK;
    return __real_dkm_alloc_at(ctx, file, line, count, size, block);
}

dkm_local __wrap_dkm_calloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                               void *block)
{
    if (take_shared(ctx, file, line, count, size, block))
        return DKM_LOCAL_OK;
    return __real_dkm_calloc_at(ctx, file, line, count, size, block);
}

void __wrap_dkm_free_block(void *block)
{
    if (!sim_is_shared(block)) {
        __real_dkm_free_block(block);
        return;
    }
    for (int k = 0; k < shared.count; k++)
        if (shared.areas[k].at == block) {
            dkm_ctx *ctx = shared.ctx[sim_rank()];
            ctx->live_blocks--;
            ctx->live_bytes -= (int64_t)shared.areas[k].bytes;
        }
}

void *sim_memcpy(void *to, const void *from, size_t bytes)
{
    return sim_is_shared(to) || sim_is_shared(from) ? to : memcpy(to, from, bytes);
}
