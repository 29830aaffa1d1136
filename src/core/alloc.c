/* Blocks of MAPPED bytes and more are mappings of their own, which go back to the system when they
 * are freed. The C library's heap would retain them (glibc raises its threshold with the first such
 * block that is freed), and the peak of a rank would be the sum of its phases instead of the largest
 * one. */
#define _DEFAULT_SOURCE /* for madvise() and MAP_ANONYMOUS */
#include "core/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context_impl.h"

#define ALIGNMENT  64
#define MAPPED     ((size_t)256 << 10)
#define LARGE      ((size_t)32 << 20) /* worth large pages */
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

/* Mappings are zeros already, and pages never written to cost nothing. Nor need the system have memory
 * for those that never will be. */
static void *map_memory(size_t bytes, int sparse)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (sparse ? MAP_NORESERVE : 0);
    void *raw = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

    return raw == MAP_FAILED ? NULL : raw;
}

/* @p touched is negative where it is all of them. */
static void *take_memory(dkm_ctx *ctx, size_t bytes, int zeros, int64_t touched)
{
    int64_t counted = touched < 0 || touched > (int64_t)bytes ? (int64_t)bytes : touched;
    size_t padded = bytes + 2 * ALIGNMENT, mapped = padded >= MAPPED ? padded : 0;
    void *raw, *block;

    if (!within_budget(ctx))
        return NULL;
    raw = mapped ? map_memory(mapped, touched >= 0) : zeros ? calloc(1, padded) : malloc(padded);
    if (!raw)
        return NULL;
    if (!zeros) /* those who ask for zeros may never touch most of them */
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
        (void)munmap(h->raw, h->mapped);
    else
        free(h->raw);
}
