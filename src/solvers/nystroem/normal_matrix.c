/* The normal matrix of the Nystroem system, G = K_nm K_mn, lower triangle. Every rank multiplies
 * its own row panels of K_mn; panels of columns of G, of bounded size, are summed over the ranks.
 *
 * Row panels in single precision are converted to double first: the small eigenvalues of G matter,
 * and rounding errors of the size of its large ones would hide them. The alternative takes half the
 * time: the column means m of K_nn, which are close to those of K_mn, are subtracted, E = K_mn - 1
 * m', which removes most of the largest eigenvalue, and E is multiplied in single precision:
 *
 *   G = E'E + (E'1) m' + m (E'1)' + (1'1) m m'
 *
 * with products of a few hundred rows in single precision and everything else in double. The error
 * is estimated with random vectors (a Hutchinson estimate of the Frobenius norm; Hutchinson 1990,
 * Commun. Stat. Simul. Comput. 19(2):433-450, doi:10.1080/03610919008812866).
 *
 * Cost per rank: m n^2 / ranks flops, the kernel values of one pass per panel, n^2 / 2 words
 * of G sent to their owners, in panels of at most 256 MiB per node, of which each rank holds one
 * (matrix/reduce_panel.h). */
#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/backend/blas.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"
#include "matrix/reduce_panel.h"
#include "solvers/nystroem/nystroem_impl.h"

#define NARROW       512 /* columns at a time, so that little is done above the diagonal */
#define ROUGH_ROWS   800 /* whose products are added up in single precision */
#define PROBES       8   /* vectors that errors are measured with */
#define PROBE_STREAM 0x6d6f6d656e7473u

typedef struct normal_ws {
    dkm_strip_visitor visitor;
    dkm_idx n, c, width;
    double *panel; /* columns [c, c + width) of rows [c, n) */
    double *strip; /* in double */
    double *mean;  /* n numbers; NULL: all is done in double */
    double *sums;  /* E'1 of this rank, and how many rows that were */
    dkm_idx rows;
    float *E, *part; /* a strip, and what is to be added to the panel */
    dkm_idx waiting; /* rows in `part` */
} normal_ws;

/* C += A'A for the columns of the panel, in blocks that keep to its lower triangle. */
static void normal_multiply(const normal_ws *g, dkm_precision precision, dkm_idx count,
                            const void *A, dkm_idx ld, void *C)
{
    dkm_idx rows = g->n - g->c, size = precision == DKM_F64 ? 8 : 4;

    for (dkm_idx j = 0; j < g->width; j += NARROW) {
        dkm_idx w = j + NARROW < g->width ? NARROW : g->width - j;
        const char *a = (const char *)A + j * ld * size;
        dkm_blas_gemm(precision, 'T', 'N', rows - j, w, count, 1.0, a, ld, a, ld, 1.0,
                      (char *)C + (j + j * rows) * size, rows);
    }
}

static void normal_add_panel(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    normal_ws *g = (normal_ws *)self;
    const double *k = g->strip;
    dkm_idx ld = K->na;

    (void)il;
    if (K->precision == DKM_F32)
        dkm_tile_widen(K, g->c, g->n - g->c, g->strip);
    else
        k = dkm_tile_at(K, 0, g->c), ld = K->ld;
    normal_multiply(g, DKM_F64, K->na, k, ld, g->panel);
}

/* The panel takes in what was added up in single precision. */
static void normal_flush(normal_ws *g)
{
    dkm_idx rows = g->n - g->c;

    if (g->waiting == 0)
        return;
    for (dkm_idx j = 0; j < g->width; j++) {
        double *restrict to = g->panel + j * rows;
        float *restrict from = g->part + j * rows;
        for (dkm_idx i = j; i < rows; i++) {
            to[i] += (double)from[i];
            from[i] = 0;
        }
    }
    g->waiting = 0;
}

/* Columns [c, n) of a strip less their means, with sums where those are not known yet. */
static void normal_subtract_means(normal_ws *g, const dkm_tile *K)
{
    for (dkm_idx j = g->c; j < g->n; j++) {
        const float *restrict k = dkm_tile_at(K, 0, j);
        float *restrict e = g->E + (j - g->c) * K->na, mean = (float)g->mean[j];
        double sum = 0;
        for (dkm_idx i = 0; i < K->na; i++) {
            e[i] = k[i] - mean;
            sum += (double)e[i];
        }
        if (g->c == 0)
            g->sums[j] += sum;
    }
    if (g->c == 0)
        g->rows += K->na;
}

static void normal_add_f32(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    normal_ws *g = (normal_ws *)self;

    (void)il;
    normal_subtract_means(g, K);
    normal_multiply(g, DKM_F32, K->na, g->E, K->na, g->part);
    g->waiting += K->na;
    if (g->waiting >= ROUGH_ROWS)
        normal_flush(g);
}

/* The means are put back. */
static void normal_restore_means(normal_ws *g)
{
    dkm_idx rows = g->n - g->c;

    normal_flush(g);
    for (dkm_idx j = 0; j < g->width; j++) {
        double m = (float)g->mean[g->c + j], s = g->sums[g->c + j];
        for (dkm_idx i = j; i < rows; i++) {
            double mi = (float)g->mean[g->c + i];
            g->panel[i + j * rows] += g->sums[g->c + i] * m + mi * s + (double)g->rows * mi * m;
        }
    }
}

static const double *normal_panel_column(const void *user, dkm_idx jg, dkm_idx *stride)
{
    const normal_ws *g = user;

    *stride = 1;
    return g->panel + (jg - g->c) * (g->n - g->c);
}

/* The panel, summed over the ranks, in its place in G. */
static dkm_status normal_reduce_panel(dkm_dmat *G, const normal_ws *g)
{
    const dkm_panel_sum sum = {.row = g->c,
                               .col = g->c,
                               .cols = g->width,
                               .lower = 1,
                               .column = normal_panel_column,
                               .user = g};

    return dkm_dmat_reduce_panel(G, &sum);
}

static dkm_local normal_open(const dkm_nystroem *N, normal_ws *g, int f32, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;

    g->visitor.visit = f32 ? normal_add_f32 : normal_add_panel;
    DKM_STEP(dkm_alloc(N->ctx, g->n * width, &g->panel));
    if (N->strips.precision == DKM_F32 && !f32)
        DKM_STEP(dkm_alloc(N->ctx, N->strips.rows * g->n, &g->strip));
    if (!f32)
        return local;
    DKM_STEP(dkm_alloc(N->ctx, N->strips.rows * g->n, &g->E));
    DKM_STEP(dkm_calloc(N->ctx, g->n * width, &g->part));
    DKM_STEP(dkm_alloc(N->ctx, g->n, &g->mean));
    DKM_STEP(dkm_calloc(N->ctx, g->n, &g->sums));
out:
    return local;
}

static void normal_close(normal_ws *g)
{
    DKM_FREE(g->panel);
    DKM_FREE(g->strip);
    DKM_FREE(g->E);
    DKM_FREE(g->part);
    DKM_FREE(g->mean);
    DKM_FREE(g->sums);
}

/* Means of the columns of K_nn, which those of K_mn are near. */
static dkm_status normal_column_means(const dkm_nystroem *N, double *mean)
{
    dkm_status status = DKM_OK;
    dkm_multivec ones = {0};

    DKM_AGREE(N->ctx, dkm_multivec_init(&ones, N->ctx, N->n, 1));
    ones.cols = 1;
    for (dkm_idx i = 0; i < ones.n; i++)
        ones.a[i] = 1.0 / (double)N->n;
    DKM_TRY(dkm_symm_multivec('L', N->K, 1, ones.a));
    DKM_TRY(dkm_multivec_allgather(&ones, N->n, mean));
out:
    dkm_multivec_free(&ones);
    return status;
}

/* Collective. */
static dkm_idx normal_panel_width(const dkm_nystroem *N)
{
    double capacity = (double)dkm_dmat_panel_capacity(N->grid);

    return dkm_idx_clamp(capacity / (double)dkm_idx_max(N->n, 1), N->n);
}

static dkm_status normal_make(dkm_nystroem *N, int f32, dkm_dmat **G)
{
    dkm_status status = DKM_OK;
    normal_ws g = {.n = N->n};
    dkm_idx each = normal_panel_width(N);
    dkm_dmat *S = NULL;

    *G = NULL;
    DKM_TRY(dkm_dmat_create(N->grid, N->n, N->n, N->nb, N->nb, DKM_F64, &S));
    DKM_AGREE(N->ctx, normal_open(N, &g, f32, each));
    if (f32)
        DKM_TRY(normal_column_means(N, g.mean));
    for (g.c = 0; g.c < g.n; g.c += each) {
        g.width = g.c + each < g.n ? each : g.n - g.c;
        memset(g.panel, 0, (size_t)((g.n - g.c) * g.width) * sizeof *g.panel);
        DKM_TRY(dkm_nystroem_for_each_panel(N, 0, g.n, &g.visitor));
        if (f32)
            normal_restore_means(&g);
        DKM_TRY(normal_reduce_panel(S, &g));
        dkm_progress(N->ctx, (double)(g.c + g.width), (double)g.n);
    }
    *G = S;
    S = NULL;
out:
    normal_close(&g);
    dkm_dmat_destroy(&S);
    return status;
}

dkm_status dkm_nystroem_normal_matrix(dkm_nystroem *N, dkm_dmat **G)
{
    dkm_status status;

    dkm_phase_begin(N->ctx, "moments");
    status = normal_make(N, 0, G);
    dkm_phase_end(N->ctx);
    return status;
}

/* The size of G - K_nm K_mn: the root of the mean square of its eigenvalues, from random vectors.
 */
static dkm_status normal_measure_error(dkm_nystroem *N, const dkm_dmat *G, double *off)
{
    dkm_status status = DKM_OK;
    dkm_multivec V = {0}, W = {0};
    dkm_nystroem_pass pass = {.p = PROBES, .V = &V, .W = &W};
    dkm_idx first = dkm_slab_first(N->n, dkm_ctx_rank(N->ctx), dkm_ctx_size(N->ctx));
    double size;

    DKM_AGREE(N->ctx, dkm_multivec_init(&V, N->ctx, N->n, PROBES));
    DKM_AGREE(N->ctx, dkm_multivec_init(&W, N->ctx, N->n, PROBES));
    V.cols = PROBES;
    for (dkm_idx i = 0; i < V.n; i++)
        for (dkm_idx k = 0; k < PROBES; k++)
            V.a[i * PROBES + k] =
                dkm_random_normal(0, PROBE_STREAM, (uint64_t)(first + i), (uint64_t)k);
    size = dkm_multivec_norm(&V);
    DKM_TRY(dkm_nystroem_products(N, &pass));
    DKM_TRY(dkm_symm_multivec('L', G, PROBES, V.a));
    for (dkm_idx i = 0; i < V.n * PROBES; i++)
        W.a[i] -= V.a[i];
    *off = dkm_multivec_norm(&W) / size;
out:
    dkm_multivec_free(&V);
    dkm_multivec_free(&W);
    return status;
}

dkm_status dkm_nystroem_normal_matrix_f32(dkm_nystroem *N, dkm_dmat **G, double *off)
{
    dkm_status status = DKM_OK;

    *off = 0;
    dkm_phase_begin(N->ctx, "moments");
    DKM_TRY(normal_make(N, N->strips.precision == DKM_F32, G));
    if (N->strips.precision == DKM_F32)
        DKM_TRY(normal_measure_error(N, *G, off));
out:
    dkm_phase_end(N->ctx);
    if (status != DKM_OK)
        dkm_dmat_destroy(G);
    return status;
}
