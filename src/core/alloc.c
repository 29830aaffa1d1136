/* Blocks of MAPPED bytes and more are mappings of their own, which go back to the system when they
 * are freed. The C library's heap would retain them (glibc raises its threshold with the first such
 * block that is freed), and the peak of a rank would be the sum of its phases instead of the largest
 * one.
 *
 * A page costs more when it is touched first than what is then done with it: 0.4 to 2 s per GiB on a
 * virtual machine. So up to IDLE_MOST bytes of freed mappings wait for a block that fits: panels,
 * chunks and batches that come again and again; and no more than 1 / IDLE_PART of what the rank once held,
 * so that they do not outweigh shares that are small because ranks are many. A new mapping that they do not
 * serve has them go first as far as both are more than that, so that large matrices find no idle memory
 * beside them. */
#define _DEFAULT_SOURCE /* for madvise() and MAP_ANONYMOUS */
#include "core/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context_impl.h"

#define ALIGNMENT  64
#define MAPPED     ((size_t)256 << 10)
#define LARGE      ((size_t)8 << 20)  /* worth large pages */
#define IDLE_MOST  ((size_t)16 << 20) /* of freed mappings */
#define IDLE_PART  8                  /* of the largest sum of live blocks */
#define LARGE_PAGE ((uintptr_t)2 << 20)

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Stands in the 64 bytes before each block. */
typedef struct header {
    dkm_ctx *ctx;
    int64_t bytes;
    void *raw;     /* what the system gave */
    size_t mapped; /* bytes of a mapping; 0: raw is from the heap */
} header;

static header *block_header(void *block)
{
    return (header *)(void *)((char *)block - ALIGNMENT);
}

/* Count a block that comes (sign 1) or goes (-1). Threads of a rank allocate at the same time. */
static void block_count(dkm_ctx *ctx, int sign, int64_t bytes)
{
#pragma omp critical(dkm_alloc)
    {
        ctx->live_blocks += sign;
        ctx->live_bytes += sign * bytes;
        if (ctx->live_bytes > ctx->peak_bytes)
            ctx->peak_bytes = ctx->live_bytes;
    }
}

/* Whether one more allocation may succeed: see dkm_ctx_fail_after(). */
static int within_budget(dkm_ctx *ctx)
{
    int within;

#pragma omp critical(dkm_alloc)
    {
        within = ctx->budget != 0;
        if (ctx->budget > 0)
            ctx->budget--;
    }
    return within;
}

/* The first aligned place that leaves space for a header before it. */
static void *block_place(void *raw)
{
    return (void *)(((uintptr_t)raw + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* Large pages are there 512 times as fast as small ones, and found faster ever after. */
void dkm_want_large_pages(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)at + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    uintptr_t to = ((uintptr_t)at + bytes) / LARGE_PAGE * LARGE_PAGE;

    if (bytes >= LARGE && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* a wish: refusal does no harm */
#else
    (void)at;
    (void)bytes;
#endif
}

int dkm_has_large_pages(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[80] = "[never]";

    if (f) {
        (void)!fgets(line, sizeof line, f);
        fclose(f);
    }
    return !strstr(line, "[never]");
}

static idle_block remove_idle(dkm_ctx *ctx, int k)
{
    idle_block block = ctx->idle[k];

    ctx->idle_bytes -= block.mapped;
    ctx->idle_count--;
    memmove(ctx->idle + k, ctx->idle + k + 1, (size_t)(ctx->idle_count - k) * sizeof *ctx->idle);
    return block;
}

static size_t idle_most(const dkm_ctx *ctx)
{
    size_t part = (size_t)ctx->peak_bytes / IDLE_PART;

    return (part < IDLE_MOST ? part : IDLE_MOST) + ctx->idle_more;
}

/* The oldest idle blocks go to the system, until @p bytes more are within bounds. */
static void make_idle_room(dkm_ctx *ctx, size_t bytes)
{
    while (ctx->idle_count > 0 &&
           (ctx->idle_count == DKM_IDLE_BLOCKS || ctx->idle_bytes + bytes > idle_most(ctx))) {
        idle_block oldest = remove_idle(ctx, 0);
        (void)munmap(oldest.raw, oldest.mapped);
    }
}

void dkm_alloc_release_idle(dkm_ctx *ctx)
{
#pragma omp critical(dkm_alloc)
    make_idle_room(ctx, idle_most(ctx));
}

void dkm_ctx_reuse_memory(dkm_ctx *ctx, int64_t more)
{
    ctx->idle_more = (size_t)more;
#pragma omp critical(dkm_alloc)
    make_idle_room(ctx, 0);
}

/* The idle block that fits best, at most twice as long; an empty one where there is none. */
static idle_block take_idle(dkm_ctx *ctx, size_t bytes)
{
    idle_block found = {0};
    int best = -1;

#pragma omp critical(dkm_alloc)
    {
        for (int k = 0; k < ctx->idle_count; k++)
            if (ctx->idle[k].mapped >= bytes && ctx->idle[k].mapped / 2 <= bytes &&
                (best < 0 || ctx->idle[k].mapped < ctx->idle[best].mapped))
                best = k;
        if (best >= 0)
            found = remove_idle(ctx, best);
    }
    return found;
}

/* A mapping waits to be used again, or goes. */
static void retire_mapping(dkm_ctx *ctx, void *raw, size_t mapped)
{
    if (mapped > idle_most(ctx)) {
        (void)munmap(raw, mapped);
        return;
    }
#pragma omp critical(dkm_alloc)
    {
        make_idle_room(ctx, mapped);
        ctx->idle[ctx->idle_count++] = (idle_block){raw, mapped};
        ctx->idle_bytes += mapped;
    }
}

/* Mappings are zeros already, and pages never written to cost nothing. Nor need the system have memory
 * for those that never will be. */
static void *map_memory(dkm_ctx *ctx, size_t bytes, int sparse)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (sparse ? MAP_NORESERVE : 0);
    void *raw;

#pragma omp critical(dkm_alloc)
    make_idle_room(ctx, bytes);
    raw = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return raw == MAP_FAILED ? NULL : raw;
}

/* @p touched is negative where it is all of them. */
static void *take_memory(dkm_ctx *ctx, size_t bytes, int zeros, int64_t touched)
{
    int64_t counted = touched < 0 || touched > (int64_t)bytes ? (int64_t)bytes : touched;
    size_t padded = bytes + 2 * ALIGNMENT, mapped = padded >= MAPPED ? padded : 0;
    idle_block idle = {0};
    void *raw, *block;

    if (!within_budget(ctx))
        return NULL;
    if (mapped && (!zeros || (ctx->idle_more > 0 && touched < 0)))
        idle = take_idle(ctx, mapped);
    if (idle.raw)
        mapped = idle.mapped;
    if (idle.raw && zeros)
        memset(idle.raw, 0, padded);
    raw = idle.raw ? idle.raw
          : mapped ? map_memory(ctx, mapped, touched >= 0)
          : zeros  ? calloc(1, padded)
                   : malloc(padded);
    if (!raw)
        return NULL;
    if (!zeros && !idle.raw) /* those who ask for zeros may never touch most of them */
        dkm_want_large_pages(raw, padded);
    block = block_place(raw);
    *block_header(block) = (header){ctx, counted, raw, mapped};
    block_count(ctx, 1, counted);
    return block;
}

/* Also what the system refuses: elsewhere it might not. */
static void note_wish(dkm_ctx *ctx, int64_t bytes)
{
#pragma omp critical(dkm_alloc)
    if (bytes > ctx->largest)
        ctx->largest = bytes;
}

static dkm_local alloc_block(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                             int zeros, int64_t touched, void *block)
{
    void **out = block;

    *out = NULL;
    if (count >= 0 &&
        (uint64_t)count <= ((uint64_t)INT64_MAX - 4 * ALIGNMENT) / (size ? size : 1)) {
        note_wish(ctx, touched < 0 ? count * (int64_t)size : touched);
        *out = take_memory(ctx, (size_t)count * size, zeros, touched);
    } else {
        note_wish(ctx, INT64_MAX);
    }
    if (!*out)
        return dkm_fail_at(ctx, file, line, DKM_ERR_MEMORY,
                           "cannot allocate %lld x %zu bytes (%.1f MiB held): use more ranks or "
                           "nodes, or a smaller problem",
                           (long long)count, size, (double)ctx->live_bytes / 1048576.0);
    return DKM_LOCAL_OK;
}

dkm_local dkm_alloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                       void *block)
{
    return alloc_block(ctx, file, line, count, size, 0, -1, block);
}

dkm_local dkm_calloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                        void *block)
{
    return alloc_block(ctx, file, line, count, size, 1, -1, block);
}

dkm_local dkm_calloc_sparse_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                               int64_t touched, void *block)
{
    return alloc_block(ctx, file, line, count, size, 1, touched, block);
}

dkm_local dkm_realloc_at(dkm_ctx *ctx, const char *file, int line, dkm_idx count, size_t size,
                         void *block)
{
    void **slot = block, *old = *slot, *grown = NULL;
    dkm_local local = dkm_alloc_at(ctx, file, line, count, size, &grown);

    if (!grown)
        return local;
    if (old) {
        size_t had = (size_t)block_header(old)->bytes, wanted = (size_t)count * size;
        memcpy(grown, old, had < wanted ? had : wanted);
        dkm_free_block(old);
    }
    *slot = grown;
    return local;
}

dkm_local dkm_strdup(dkm_ctx *ctx, const char *text, char **copy)
{
    size_t length = strlen(text) + 1;
    dkm_local local = dkm_alloc(ctx, (dkm_idx)length, copy);

    if (*copy)
        memcpy(*copy, text, length);
    return local;
}

void dkm_free_block(void *block)
{
    header *h;

    if (!block)
        return;
    h = block_header(block);
    block_count(h->ctx, -1, h->bytes);
    if (h->mapped)
        retire_mapping(h->ctx, h->raw, h->mapped);
    else
        free(h->raw);
}
