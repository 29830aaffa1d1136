/* A tile in parts of columns, one thread a part: product and map of a part are done by the same
 * thread, which is also the first to touch its memory. A thread goes through its part by a few rows
 * after others, which are in cache still when they are mapped. Cost: that of the tile; nothing is
 * sent. */
#include "kernels/evaluation/tile_parallel.h"

#include "core/minmax.h"
#include "core/parallel.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tn.h"

#define GEMM_COLS 256 /* of a part, so that gemm is efficient */
#define PART_ROWS 256 /* of a part on one thread: it stays in the second cache */
#define FEW_COLS  32  /* of parts of a small tile, and of one whose elements are dear */

typedef struct tile_parts {
    const dkm_node *root;
    const dkm_tile_task *task;
    const dkm_tile *C;
    dkm_idx each;    /* columns of a part */
    dkm_idx scratch; /* tiles that a part needs */
    dkm_status code; /* of the first part that failed */
} tile_parts;

static int runs_on_one_thread(const dkm_node *root)
{
    for (dkm_idx i = 0; i < root->size; i++)
        if (root[i].kind->callback)
            return 1;
    return 0;
}

static int has_gemm(const dkm_node *root, const dkm_panel *A)
{
    for (dkm_idx i = 0; i < root->size; i++)
        if (root[i].slot >= 0 && dkm_panel_objs(A, &root[i])->type == DKM_DENSE)
            return 1;
    return 0;
}

/* Whether products are made by our own kernels, which gain nothing by tiles that leave the cache, and
 * nothing else is computed of objects. */
static int fits_parts(const dkm_node *root, const dkm_panel *A)
{
    if (!dkm_gemm_tn_available() || runs_on_one_thread(root))
        return 0;
    for (dkm_idx i = 0; i < root->size; i++)
        if (root[i].slot >= 0 && dkm_panel_objs(A, &root[i])->type != DKM_DENSE)
            return 0;
    return has_gemm(root, A);
}

/* A tile on one thread, in parts of rows that are in cache still when the next pass comes. */
static dkm_local tile_in_parts(const dkm_node *root, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx each = fits_parts(root, task->A) ? PART_ROWS : dkm_idx_max(C->na, 1);

    for (dkm_idx i = 0; i < C->na; i += each) {
        dkm_tile part = {C->precision, dkm_idx_min(each, C->na - i), C->nb, C->ld,
                         dkm_tile_at(C, i, 0)};
        dkm_tile_task some = *task;
        dkm_tile dots;
        some.a += i;
        if (i > 0)
            some.first = NULL;
        if (task->dots) {
            dots = *task->dots;
            dots.na = part.na;
            dots.c = dkm_tile_at(task->dots, i, 0);
            some.dots = &dots;
        }
        DKM_STEP(dkm_node_tile(root, &some, &part));
    }
out:
    return local;
}

static dkm_idx columns_of_part(const tile_parts *p, int threads)
{
    dkm_idx share = (p->C->nb + threads - 1) / threads;

    return dkm_idx_min(has_gemm(p->root, p->task->A) ? GEMM_COLS : FEW_COLS,
                       dkm_idx_max(share, FEW_COLS));
}

static void evaluate_part(void *user, dkm_idx k, int thread)
{
    tile_parts *p = user;
    const dkm_tile *C = p->C;
    dkm_idx j = k * p->each;
    dkm_tile part = {C->precision, C->na, dkm_idx_min(p->each, C->nb - j), C->ld, NULL};
    dkm_tile scratch = {C->precision, C->na, C->nb, C->na, p->task->scratch};
    dkm_tile_task task = *p->task;
    dkm_tile dots;
    dkm_local local;

    part.c = dkm_tile_at(C, 0, j);
    task.b += j;
    task.thread = thread;
    if (task.first)
        task.first += j;
    if (task.scratch)
        task.scratch = dkm_tile_at(&scratch, 0, j * p->scratch);
    if (task.dots) {
        dots = *task.dots;
        dots.c = dkm_tile_at(task.dots, 0, j);
        dots.nb = part.nb;
        task.dots = &dots;
    }
    local = tile_in_parts(p->root, &task, &part);
    if (local.code != DKM_OK)
#pragma omp critical(dkm_tile_part)
        p->code = local.code;
}

dkm_local dkm_node_tile_parallel(const dkm_node *root, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_ctx *ctx = task->A->of->ctx;
    int threads = (int)dkm_idx_min(dkm_ctx_threads(ctx), task->A->threads);
    tile_parts p = {.root = root, .task = task, .C = C, .code = DKM_OK};

    if (threads <= 1 || C->nb <= FEW_COLS || runs_on_one_thread(root))
        return tile_in_parts(root, task, C);
    p.each = columns_of_part(&p, threads);
    p.scratch = dkm_node_scratch(root);
    dkm_blas_use_one_thread();
    dkm_parallel_for(threads, (C->nb + p.each - 1) / p.each, evaluate_part, &p);
    dkm_blas_use_threads(ctx);
    return (dkm_local){p.code};
}
