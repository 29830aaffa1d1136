/* G = K_nm K_mn, lower triangle. Every rank multiplies its own strips; panels of columns, of
 * bounded size, are added up over the ranks. Strips of single precision are turned into double ones
 * first: the small eigenvalues of G matter, and its large ones would drown them. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "solve/nystroem.h"

#define PANEL_BYTES 268435456.0
#define NARROW      512 /* columns at a time, so that little is done above the diagonal */

typedef struct gram {
    dkm_strip_visitor visitor;
    dkm_idx n, c, width;
    double *panel; /* columns [c, c + width) of rows [c, n) */
    double *strip; /* in double */
} gram;

static void add_strip(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    gram *g = (gram *)self;
    const double *k = g->strip;
    dkm_idx rows = g->n - g->c, ld = K->na;

    (void)il;
    if (K->precision == DKM_F32)
        dkm_tile_widen(K, g->c, rows, g->strip);
    else
        k = dkm_tile_at(K, 0, g->c), ld = K->ld;
    for (dkm_idx j = 0; j < g->width; j += NARROW) {
        dkm_idx w = j + NARROW < g->width ? NARROW : g->width - j;
        dkm_blas_gemm(DKM_F64, 'T', 'N', rows - j, w, K->na, 1.0, k + j * ld, ld, k + j * ld, ld,
                      1.0, g->panel + j + j * rows, rows);
    }
}

static void place_panel(dkm_dmat *G, const gram *g)
{
    dkm_idx rows = g->n - g->c;

    for (dkm_idx jl = 0; jl < G->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(G, jl);
        if (jg < g->c || jg >= g->c + g->width)
            continue;
        for (dkm_idx il = 0; il < G->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(G, il);
            if (ig >= jg)
                G->a.f64[il + jl * G->ld] = g->panel[ig - g->c + (jg - g->c) * rows];
        }
    }
}

static dkm_local open_gram(const dkm_nystroem *N, gram *g, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(N->ctx, g->n * width, &g->panel));
    if (N->strips.precision == DKM_F32)
        DKM_STEP(dkm_alloc(N->ctx, N->strips.rows * g->n, &g->strip));
out:
    return local;
}

static dkm_idx panel_width(dkm_idx n)
{
    double fit = fmin(PANEL_BYTES / sizeof(double), INT_MAX) / (double)(n > 0 ? n : 1);

    return fit < 1 ? 1 : fit > (double)n ? n : (dkm_idx)fit;
}

dkm_status dkm_nystroem_gram(dkm_nystroem *N, dkm_dmat **G)
{
    dkm_status status = DKM_OK;
    gram g = {.visitor = {add_strip}, .n = N->n};
    dkm_idx each = panel_width(N->n);
    dkm_dmat *S = NULL;

    *G = NULL;
    dkm_phase_begin(N->ctx, "moments");
    DKM_TRY(dkm_dmat_create(N->grid, N->n, N->n, N->nb, N->nb, DKM_F64, &S));
    DKM_AGREE(N->ctx, open_gram(N, &g, each));
    for (g.c = 0; g.c < g.n; g.c += each) {
        g.width = g.c + each < g.n ? each : g.n - g.c;
        memset(g.panel, 0, (size_t)((g.n - g.c) * g.width) * sizeof *g.panel);
        DKM_TRY(dkm_nystroem_show(N, 0, g.n, &g.visitor));
        MPI_Allreduce(MPI_IN_PLACE, g.panel, (int)((g.n - g.c) * g.width), MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(N->ctx));
        place_panel(S, &g);
        dkm_progress(N->ctx, (double)(g.c + g.width), (double)g.n);
    }
    *G = S;
    S = NULL;
out:
    dkm_phase_end(N->ctx);
    DKM_FREE(g.panel);
    DKM_FREE(g.strip);
    dkm_dmat_destroy(&S);
    return status;
}
