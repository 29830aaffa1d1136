/* A sketch of the tall matrix K_mn: each of its rows is added, with a random sign, to a few rows of
 * a matrix of 3 n rows. Its Gram matrix is near enough to K_nm K_mn for conjugate gradients to need
 * a few dozen steps whatever the kernel, the ridge and the landmarks are. Where m is not above 3 n
 * rows are taken as they are. Columns go in panels of bounded size, which are added up over the
 * ranks.
 *
 * The sketch is larger than the caches, so neighbouring rows of K_mn go to the same stretches of
 * it: rows are in groups, and the k-th copies of a group fall into one window, placed at random.
 * Where a row goes depends on its number alone. A panel is stored in bundles of LANES columns, row
 * by row, so that a copy is added to whole cache lines. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/linalg.h"
#include "solve/nystroem.h"

#define SKETCH_STREAM 0x736b65746368u
#define TIMES         3 /* rows of the sketch for each landmark */
#define COPIES        4 /* rows of the sketch that a row of K_mn goes to */
#define LANES         8
#define AHEAD         32 /* copies from asking for a line to using it */
#define PANEL_BYTES   268435456.0

typedef struct sketch {
    dkm_strip_visitor visitor;
    dkm_ctx *ctx;
    dkm_idx first; /* of this rank's slab of inputs */
    dkm_idx d;     /* rows */
    int copies;
    double *panel; /* bundles of d x LANES, row-major */
    double *rows;  /* a bundle of a strip */
    dkm_idx *to;   /* rows that the rows of a strip go to */
    double *sign;
} sketch;

static void aim_rows(sketch *s, dkm_idx il, dkm_idx count)
{
    double size = 1.0 / sqrt((double)s->copies);

    for (dkm_idx i = 0; i < count; i++) {
        dkm_idx ig = s->first + il + i;
        for (int k = 0; k < s->copies; k++) {
            uint64_t bits =
                dkm_random_bits(dkm_ctx_seed(s->ctx), SKETCH_STREAM, (uint64_t)ig, (uint64_t)k);
            s->to[i * s->copies + k] =
                s->copies == 1 ? ig : (dkm_idx)((bits >> 1) % (uint64_t)s->d);
            s->sign[i * s->copies + k] = s->copies == 1 ? 1.0 : bits & 1 ? size : -size;
        }
    }
}

/* Columns from j on of a strip, row by row. */
static void take_bundle(sketch *s, const dkm_tile *K, dkm_idx j)
{
    dkm_idx lanes = j + LANES < K->nb ? LANES : K->nb - j;

    for (dkm_idx l = 0; l < lanes; l++)
        for (dkm_idx i = 0; i < K->na; i++)
            s->rows[i * LANES + l] = dkm_tile_get(K, i, j + l);
    for (dkm_idx l = lanes; l < LANES; l++)
        for (dkm_idx i = 0; i < K->na; i++)
            s->rows[i * LANES + l] = 0;
}

static inline void add_line(double sign, const double *restrict row, double *restrict sum)
{
    for (int l = 0; l < LANES; l++)
        sum[l] += sign * row[l];
}

static void add_bundle(const sketch *s, dkm_idx count, double *bundle)
{
    dkm_idx all = count * s->copies, c = 0;

    for (dkm_idx i = 0; i < count; i++)
        for (int k = 0; k < s->copies; k++, c++) {
            if (c + AHEAD < all)
                __builtin_prefetch(bundle + s->to[c + AHEAD] * LANES, 1);
            add_line(s->sign[c], s->rows + i * LANES, bundle + s->to[c] * LANES);
        }
}

static void add_strip(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    sketch *s = (sketch *)self;

    aim_rows(s, il, K->na);
    for (dkm_idx j = 0; j < K->nb; j += LANES) {
        take_bundle(s, K, j);
        add_bundle(s, K->na, s->panel + j * s->d);
    }
}

/* Columns [c, c + width) of Y from a panel that is the same on every rank. */
static void place_panel(dkm_dmat *Y, dkm_idx c, dkm_idx width, const double *panel)
{
    for (dkm_idx jl = 0; jl < Y->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(Y, jl);
        if (jg < c || jg >= c + width)
            continue;
        const double *lane = panel + (jg - c) / LANES * LANES * Y->m + (jg - c) % LANES;
        for (dkm_idx il = 0; il < Y->m_loc; il++)
            Y->a.f64[il + jl * Y->ld] = lane[dkm_dmat_global_row(Y, il) * LANES];
    }
}

static dkm_local open_sketch(sketch *s, const dkm_nystroem *N, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(s->ctx, s->d * width, &s->panel));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * LANES, &s->rows));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * s->copies, &s->to));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * s->copies, &s->sign));
out:
    return local;
}

static void close_sketch(sketch *s)
{
    DKM_FREE(s->panel);
    DKM_FREE(s->rows);
    DKM_FREE(s->to);
    DKM_FREE(s->sign);
}

static dkm_idx whole_bundles(dkm_idx width)
{
    return (width + LANES - 1) / LANES * LANES;
}

/* Columns of a panel: whole bundles. */
static dkm_idx panel_width(const dkm_nystroem *N, dkm_idx d)
{
    double column = LANES * (double)(d > 0 ? d : 1);
    double fit = LANES * floor(fmin(PANEL_BYTES / sizeof(double), INT_MAX) / column);

    return fit < LANES ? LANES : fit > (double)N->n ? whole_bundles(N->n) : (dkm_idx)fit;
}

/* Y = S K_mn */
static dkm_status fill(dkm_nystroem *N, sketch *s, dkm_dmat *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx width = panel_width(N, s->d);

    DKM_AGREE(s->ctx, open_sketch(s, N, width));
    for (dkm_idx c = 0; c < N->n; c += width) {
        dkm_idx w = c + width < N->n ? width : N->n - c;
        dkm_idx count = s->d * whole_bundles(w);
        memset(s->panel, 0, (size_t)count * sizeof *s->panel);
        DKM_TRY(dkm_nystroem_show(N, c, c + w, &s->visitor));
        MPI_Allreduce(MPI_IN_PLACE, s->panel, (int)count, MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(s->ctx));
        place_panel(Y, c, w, s->panel);
        dkm_progress(s->ctx, (double)(c + w), (double)N->n);
    }
out:
    close_sketch(s);
    return status;
}

dkm_status dkm_nystroem_sketch(dkm_nystroem *N, double gamma, dkm_dmat **P)
{
    dkm_status status = DKM_OK;
    sketch s = {.visitor = {add_strip}, .ctx = N->ctx};
    dkm_dmat *Y = NULL, *G = NULL;

    *P = NULL;
    s.first = dkm_slab_first(N->m, dkm_ctx_rank(N->ctx), dkm_ctx_size(N->ctx));
    s.copies = N->m > TIMES * N->n ? COPIES : 1;
    s.d = N->m > TIMES * N->n ? TIMES * N->n : N->m;
    dkm_phase_begin(N->ctx, "sketch");
    DKM_TRY(dkm_dmat_create(N->grid, s.d, N->n, N->nb, N->nb, DKM_F64, &Y));
    DKM_TRY(fill(N, &s, Y));
    DKM_TRY(dkm_dmat_convert(N->K, DKM_F64, &G));
    dkm_la_syrk('T', 1.0, Y, gamma, G);
    *P = G;
    G = NULL;
out:
    dkm_phase_end(N->ctx);
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&Y);
    return status;
}
