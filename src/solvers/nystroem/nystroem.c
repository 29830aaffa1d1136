/* What the solvers with landmarks share: centers replicated on every rank, their Gram matrix
 * K_nn on the grid, and strips of K_mn, stored or recomputed (Rudi, Carratino and Rosasco 2017,
 * NIPS 30; the file of each solver names its own method).
 *
 * Cost of one pass over K_mn: m n kernel values and 4 m n p flops for both products with p
 * columns over all ranks, an allreduce of n p numbers. Per rank: n centers, and m n / ranks
 * numbers if stored. */
#include "solvers/nystroem/nystroem_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"

#define STORED_MEMORY_FRACTION 8.0   /* K_mn is stored where so many like it would fit */
#define F32_MIN_INPUTS         20000 /* inputs from which kernel values are single precision */
#define LANDMARKS_PER_ROOT                                                                         \
    10.0                     /* landmarks for each root of m, where their number is not given \
                                     */
#define ROUGH_TOLERANCE 1e-6 /* tolerance of the exact system from which they may be */
#define SINGLE_ERROR    1e-5 /* of kernel values of single precision: so much is usual */

static dkm_precision nystroem_precision_of(const dkm_nystroem_settings *settings, dkm_idx m)
{
    int rough = !settings->all_centers || settings->tolerance >= ROUGH_TOLERANCE;

    if (settings->precision == DKM_RIDGE_AUTO)
        return m >= F32_MIN_INPUTS && rough ? DKM_F32 : DKM_F64;
    return settings->precision == DKM_RIDGE_DOUBLE ? DKM_F64 : DKM_F32;
}

dkm_idx dkm_nystroem_count(const dkm_nystroem_settings *settings, dkm_idx m)
{
    dkm_idx n = settings->landmarks > 0 ? settings->landmarks
                                        : (dkm_idx)(LANDMARKS_PER_ROOT * sqrt((double)m));

    return n < m ? n : m;
}

/* K_mn is stored where it takes little of what is free, so that other work is not put at risk. */
static int nystroem_stores(const dkm_nystroem *s, dkm_storage keep)
{
    dkm_idx rows = dkm_slab_count(s->m, dkm_ctx_rank(s->ctx), dkm_ctx_size(s->ctx));
    double bytes = dkm_strips_bytes(&s->strips, rows);

    if (!s->feed->X)
        return 0;
    if (keep != DKM_STORAGE_AUTO)
        return keep == DKM_STORE;
    return dkm_memory_fits(s->ctx, STORED_MEMORY_FRACTION * bytes);
}

/* Matrices of order n: K_nn, the preconditioner and three times that for the sketch. */
static dkm_status nystroem_check_memory(const dkm_nystroem *s, int stored)
{
    double n = (double)s->n, P = dkm_grid_rows(s->grid), Q = dkm_grid_cols(s->grid);

    return dkm_memory_check(
        s->ctx, 5.0 * 8.0 * n * n / (P * Q) + dkm_strips_column_bytes(&s->strips, stored),
        "the landmarks");
}

static dkm_status nystroem_open_strips(dkm_nystroem *s, int stored)
{
    dkm_status status = DKM_OK;
    const dkm_prepared *X = NULL;

    dkm_phase_begin(s->ctx, "strips");
    if (!stored)
        DKM_TRY(dkm_strips_open(&s->strips));
    else {
        DKM_TRY(dkm_input_stream_read_chunk(s->feed, 0, &X));
        DKM_TRY(dkm_strips_store(&s->strips, X));
    }
out:
    dkm_phase_end(s->ctx);
    return status;
}

dkm_status dkm_nystroem_open(dkm_nystroem *s, const dkm_nystroem_problem *parts,
                             const dkm_nystroem_settings *settings)
{
    dkm_status status = DKM_OK;
    int stored;

    *s = (dkm_nystroem){.ctx = parts->feed->ctx,
                        .grid = parts->grid,
                        .kernel = parts->kernel,
                        .C = parts->C,
                        .m = parts->feed->m,
                        .n = dkm_prepared_rows(parts->C),
                        .nb = parts->nb,
                        .feed = parts->feed};
    s->strips = dkm_strips_of(s->C, nystroem_precision_of(settings, s->m));
    s->strips.scale = parts->roots;
    stored = nystroem_stores(s, settings->keep);
    DKM_TRY(nystroem_check_memory(s, stored));
    if (s->strips.precision == DKM_F32)
        dkm_prepared_warn(s->C, DKM_F32, fmax(settings->tolerance, SINGLE_ERROR));
    DKM_TRY(dkm_gram(s->grid, s->kernel, s->C, s->nb, DKM_F64, &s->K));
    DKM_TRY(nystroem_open_strips(s, stored));
out:
    return status;
}

void dkm_nystroem_close(dkm_nystroem *s)
{
    dkm_dmat_destroy(&s->K);
    dkm_strips_close(&s->strips);
}

dkm_status dkm_nystroem_for_each_panel(dkm_nystroem *s, dkm_idx c0, dkm_idx c1,
                                       dkm_strip_visitor *visitor)
{
    dkm_status status = DKM_OK;
    dkm_idx longest = dkm_slab_count(s->m, 0, dkm_ctx_size(s->ctx));
    const dkm_prepared *X = NULL;

    dkm_phase_begin(s->ctx, "strips");
    for (dkm_idx first = 0; first < longest; first += s->feed->each) {
        DKM_TRY(dkm_input_stream_read_chunk(s->feed, first, &X));
        DKM_AGREE(s->ctx, dkm_strips_run(&s->strips, X, first, c0, c1, visitor));
    }
out:
    dkm_phase_end(s->ctx);
    return status;
}

typedef struct work {
    dkm_strip_visitor visitor;
    dkm_nystroem_pass *pass;
    int threads;
    dkm_idx q; /* columns of V, W and U: p of the pass, and zeros */
    double *V, *W, *U, *work;
    double sums[2];
} work;

/* ||U - T||^2 and ||T||^2 of some rows. */
static void nystroem_compare_idx(work *w, dkm_idx rows, const double *T)
{
    dkm_idx p = w->pass->p;

    for (dkm_idx i = 0; i < rows; i++)
        for (dkm_idx k = 0; k < p; k++) {
            double off = w->U[i * w->q + k] - T[i * p + k];
            w->sums[0] += off * off;
            w->sums[1] += T[i * p + k] * T[i * p + k];
        }
}

/* Rows of @p p numbers with zeros after them, and without. They may be in the same place. */
static void nystroem_pad(dkm_idx rows, dkm_idx p, const double *from, dkm_idx q, double *to)
{
    for (dkm_idx i = rows - 1; i >= 0; i--) {
        memmove(to + i * q, from + i * p, (size_t)p * sizeof *to);
        for (dkm_idx k = p; k < q; k++)
            to[i * q + k] = 0.0;
    }
}

static void nystroem_unpad(dkm_idx rows, dkm_idx q, const double *from, dkm_idx p, double *to)
{
    for (dkm_idx i = 0; i < rows; i++)
        memmove(to + i * p, from + i * q, (size_t)p * sizeof *to);
}

static void nystroem_use_panel(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    work *w = (work *)self;
    const dkm_nystroem_pass *pass = w->pass;
    dkm_idx p = pass->p;
    const double *T = pass->T ? pass->T + il * p : NULL;

    if (w->V) {
        memset(w->U, 0, (size_t)(K->na * w->q) * sizeof *w->U);
        dkm_strip_gemm(w->threads, K, w->q, w->V, w->U, w->work);
    } else {
        nystroem_pad(K->na, p, T, w->q, w->U);
    }
    if (w->V && T)
        nystroem_compare_idx(w, K->na, T);
    if (pass->F)
        nystroem_unpad(K->na, w->q, w->U, p, pass->F + il * p);
    if (w->W)
        dkm_strip_gemm_t(w->threads, K, w->q, w->U, w->W, w->work);
}

static dkm_local nystroem_open_work(const dkm_nystroem *s, work *w)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_nystroem_pass *pass = w->pass;

    w->q = dkm_strip_columns(s->strips.precision, pass->p);
    if (pass->V)
        DKM_STEP(dkm_alloc(s->ctx, s->n * w->q, &w->V));
    if (pass->W)
        DKM_STEP(dkm_calloc(s->ctx, s->n * w->q, &w->W));
    DKM_STEP(dkm_alloc(s->ctx, s->strips.rows * w->q, &w->U));
    DKM_STEP(dkm_alloc(s->ctx, DKM_STRIP_WORKSPACE, &w->work));
out:
    return local;
}

dkm_status dkm_nystroem_products(dkm_nystroem *s, dkm_nystroem_pass *pass)
{
    dkm_status status = DKM_OK;
    work w = {.visitor = {nystroem_use_panel}, .pass = pass, .threads = dkm_ctx_threads(s->ctx)};

    DKM_AGREE(s->ctx, nystroem_open_work(s, &w));
    if (pass->V) {
        DKM_TRY(dkm_multivec_allgather(pass->V, s->n, w.V));
        nystroem_pad(s->n, pass->p, w.V, w.q, w.V);
    }
    DKM_TRY(dkm_nystroem_for_each_panel(s, 0, s->n, &w.visitor));
    if (pass->W) {
        pass->W->cols = pass->p;
        nystroem_unpad(s->n, w.q, w.W, pass->p, w.W);
        DKM_TRY(dkm_multivec_reduce_scatter(w.W, s->n, pass->W));
    }
    MPI_Allreduce(MPI_IN_PLACE, w.sums, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
    pass->off = sqrt(w.sums[0]);
    pass->size = sqrt(w.sums[1]);
out:
    DKM_FREE(w.V);
    DKM_FREE(w.W);
    DKM_FREE(w.U);
    DKM_FREE(w.work);
    return status;
}
