/* Leave-one-out errors through the eigenvectors: they are made of V diag(w) Z and the diagonal of
 * V diag(w) V', for one or two functions w a gamma. In the primal X V takes the place of V, a chunk
 * of rows at a time, and both are taken from what they are without a fit.
 *
 * Cost per rank and gamma: 2 k^2 (p + 1) / ranks flops, in the primal 2 m k (p + 1) / ranks; an
 * allreduce of a few sums (loo.c). */
#include "core/alloc.h"
#include "linalg/linalg.h"
#include "solvers/operators/spectral_filter.h"
#include "solvers/ridge_path/path_eigen_impl.h"

/* Leave-one-out results of some rows for a group of gammas: one column per gamma and part. */
typedef struct loo_chunk {
    const dkm_dmat *M; /* V, or rows of X V */
    dkm_idx g, count;  /* the group */
    dkm_idx row, rows; /* of this rank's slab */
    dkm_idx filters;
    double *p, *u, *b;
} loo_chunk;

static dkm_local chunk_open(const dkm_path_eigen *s, loo_chunk *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->run->ctx;
    dkm_idx rows = dkm_path_eigen_chunk(s->run);

    DKM_STEP(dkm_alloc(ctx, rows * t->filters, &t->p));
    if (s->one.a)
        DKM_STEP(dkm_alloc(ctx, rows * t->filters, &t->u));
    DKM_STEP(dkm_alloc(ctx, rows * t->filters * s->cols, &t->b));
out:
    return local;
}

static void chunk_close(loo_chunk *t)
{
    DKM_FREE(t->b);
    DKM_FREE(t->u);
    DKM_FREE(t->p);
}

static void path_eigen_add_pieces(const dkm_path_eigen *s, const loo_chunk *t, dkm_idx c,
                                  dkm_idx cols)
{
    for (dkm_idx g = 0; g < t->count; g++) {
        dkm_loo_piece piece = {t->g + g, t->row, t->rows, c, cols, s->parts, {{0}}};
        for (int k = 0; k < s->parts; k++) {
            dkm_idx f = g * s->parts + k;
            piece.part[k] = (dkm_loo_part){t->b + f * cols, t->filters * cols,
                                           t->u ? t->u + f : NULL, t->p + f, t->filters};
        }
        if (s->run->X)
            dkm_path_complement(s->run, &piece, t->b + g * cols);
        dkm_loo_add(&s->run->loo, &piece);
    }
}

static dkm_status path_eigen_add_rows(const dkm_path_eigen *s, loo_chunk *t)
{
    dkm_status status = DKM_OK;
    dkm_idx all = s->Z.cols;

    DKM_AGREE(s->run->ctx, chunk_open(s, t));
    DKM_TRY(dkm_spectral_filter_diagonal(t->M, t->filters, s->w, t->p));
    if (t->u)
        DKM_TRY(dkm_spectral_filter_apply(t->M, t->filters, s->w, 1, s->one.a, 1, t->u));
    for (dkm_idx i = 0; i < t->rows * t->filters && s->run->X; i++) {
        t->p[i] = 1.0 - t->p[i];
        if (t->u)
            t->u[i] = dkm_path_one(s->run, t->row + i / t->filters) - t->u[i];
    }
    for (dkm_idx c = 0; c < all; c += s->cols) {
        dkm_idx cols = c + s->cols < all ? s->cols : all - c;
        DKM_TRY(dkm_spectral_filter_apply(t->M, t->filters, s->w, cols, s->Z.a + c, s->Z.ld, t->b));
        path_eigen_add_pieces(s, t, c, cols);
    }
out:
    chunk_close(t);
    return status;
}

/* Rows of X V from the chunk of inputs that begins at a row of each rank's slab. */
static dkm_status path_eigen_add_chunk(const dkm_path_eigen *s, loo_chunk *t, dkm_idx first)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_idx left = run->T.n - first, chunk = dkm_path_chunk(run);
    dkm_dmat *E = NULL, *M = NULL;

    DKM_TRY(dkm_path_inputs(run, first, &E));
    DKM_TRY(dkm_dmat_create_like(E, run->k, run->nb, DKM_F64, &M));
    dkm_la_gemm('N', 'N', 1.0, E, s->V, 0.0, M);
    t->M = M;
    t->row = first;
    t->rows = left < 0 ? 0 : left < chunk ? left : chunk;
    DKM_TRY(path_eigen_add_rows(s, t));
out:
    dkm_dmat_destroy(&M);
    dkm_dmat_destroy(&E);
    return status;
}

static dkm_status path_eigen_add_group(dkm_path_eigen *s, dkm_idx g, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    loo_chunk t = {
        .M = s->V, .g = g, .count = count, .rows = run->T.n, .filters = count * s->parts};
    dkm_idx most = dkm_slab_count(run->m, 0, dkm_ctx_size(run->ctx));

    for (dkm_idx k = 0; k < count; k++)
        dkm_path_eigen_weights(s, g + k, s->w + k * s->parts * run->k);
    if (!run->X)
        return path_eigen_add_rows(s, &t);
    for (dkm_idx first = 0; first < most; first += dkm_path_chunk(run))
        DKM_TRY(path_eigen_add_chunk(s, &t, first));
out:
    return status;
}

dkm_status dkm_path_eigen_loo(dkm_path_eigen *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_idx count = run->settings->count;

    dkm_phase_begin(run->ctx, "errors");
    if (s->one.a)
        DKM_TRY(dkm_path_eigen_project(s, &run->one, &s->one));
    for (dkm_idx g = 0; g < count; g += s->group) {
        DKM_TRY(path_eigen_add_group(s, g, g + s->group < count ? s->group : count - g));
        dkm_progress(run->ctx, (double)(g + s->group), (double)count);
    }
    dkm_loo_finish(&run->loo, 0, count, run->points);
out:
    dkm_phase_end(run->ctx);
    return status;
}
