/* Sparse sign embedding of K_mn: Y = S K_mn, S of 3 n rows with NNZ_PER_COL = 4 entries +-1/2 per
 * column at hashed rows, and P = Y'Y + gamma K_nn, the preconditioner of the Nystroem system.
 *
 * OSNAP / sparse Johnson-Lindenstrauss (Kane and Nelson 2014, J. ACM 61(1):4, doi:10.1145/2559902;
 * Nelson and Nguyen 2013, FOCS, doi:10.1109/FOCS.2013.21; Martinsson and Tropp 2020, Acta Numerica
 * 29:403-572, doi:10.1017/S0962492920000021, sec. 9); as a preconditioner for restricted kernel
 * ridge regression: KRILL (Diaz, Epperly, Frangella, Tropp and Webber 2023, arXiv:2304.12465). In
 * practice a few dozen iterations suffice, whatever the kernel, the ridge and the landmarks. If
 * m <= 3 n, S is the identity. The four rows of a column are drawn independently, and may coincide;
 * they depend only on the seed and the row number in K_mn. A panel is stored in groups of LANES
 * columns, row by row, so that a row is added to full cache lines, which are prefetched.
 *
 * Cost per rank: 8 m n / ranks flops for Y, 3 n^3 / ranks for Y'Y; the kernel values of one pass;
 * min(3 n, 4 m / ranks) n words of Y sent to their owners, as only rows that some input of the rank
 * goes to are not zero, in panels of at most 256 MiB per node, of which each rank holds one
 * (matrix/reduce_panel.h): 3 n x 128 numbers where inputs are in memory, while wider ones save passes
 * over inputs that are read from their file. */
#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/symm/syrk_t.h"
#include "matrix/dmat_impl.h"
#include "matrix/reduce_panel.h"
#include "solvers/nystroem/nystroem_impl.h"

#define SKETCH_STREAM     0x736b65746368u
#define ROWS_PER_LANDMARK 3 /* rows of the sketch for each landmark */
#define NNZ_PER_COL       4 /* rows of the sketch that a row of K_mn goes to */
#define LANES             8
#define COLS_IN_MEMORY    128 /* of a panel, at most, where a pass reads no file */
#define AHEAD             32  /* copies from asking for a line to using it */

typedef struct sketch {
    dkm_strip_visitor visitor;
    dkm_ctx *ctx;
    dkm_idx first; /* of this rank's slab of inputs */
    dkm_idx d;     /* rows */
    int copies;
    dkm_idx c;     /* first column of the panel */
    char *met;     /* rows that some input of this rank goes to */
    double *panel; /* groups of d x LANES, row-major */
    double *rows;  /* a group of columns of a strip */
    dkm_idx *to;   /* rows that the rows of a strip go to */
    double *sign;
} sketch;

static void hash_rows(sketch *s, dkm_idx il, dkm_idx count)
{
    double size = 1.0 / sqrt((double)s->copies);

    for (dkm_idx i = 0; i < count; i++) {
        dkm_idx ig = s->first + il + i;
        for (int k = 0; k < s->copies; k++) {
            uint64_t bits =
                dkm_random_bits(dkm_ctx_seed(s->ctx), SKETCH_STREAM, (uint64_t)ig, (uint64_t)k);
            s->to[i * s->copies + k] =
                s->copies == 1 ? ig : (dkm_idx)((bits >> 1) % (uint64_t)s->d);
            s->met[s->to[i * s->copies + k]] = 1;
            s->sign[i * s->copies + k] = s->copies == 1 ? 1.0 : bits & 1 ? size : -size;
        }
    }
}

/* Columns from j on of a strip, row by row. */
static void sketch_load_rows(sketch *s, const dkm_tile *K, dkm_idx j)
{
    dkm_idx lanes = j + LANES < K->nb ? LANES : K->nb - j;

    for (dkm_idx l = 0; l < lanes; l++)
        for (dkm_idx i = 0; i < K->na; i++)
            s->rows[i * LANES + l] = dkm_tile_get(K, i, j + l);
    for (dkm_idx l = lanes; l < LANES; l++)
        for (dkm_idx i = 0; i < K->na; i++)
            s->rows[i * LANES + l] = 0;
}

static inline void sketch_add_row(double sign, const double *restrict row, double *restrict sum)
{
    for (int l = 0; l < LANES; l++)
        sum[l] += sign * row[l];
}

static void sketch_add_rows(const sketch *s, dkm_idx count, double *group)
{
    dkm_idx all = count * s->copies, c = 0;

    for (dkm_idx i = 0; i < count; i++)
        for (int k = 0; k < s->copies; k++, c++) {
            if (c + AHEAD < all)
                __builtin_prefetch(group + s->to[c + AHEAD] * LANES, 1);
            sketch_add_row(s->sign[c], s->rows + i * LANES, group + s->to[c] * LANES);
        }
}

static void sketch_add_panel(dkm_strip_visitor *self, dkm_idx il, const dkm_tile *K)
{
    sketch *s = (sketch *)self;

    hash_rows(s, il, K->na);
    for (dkm_idx j = 0; j < K->nb; j += LANES) {
        sketch_load_rows(s, K, j);
        sketch_add_rows(s, K->na, s->panel + j * s->d);
    }
}

static const double *sketch_panel_column(const void *user, dkm_idx jg, dkm_idx *stride)
{
    const sketch *s = user;
    dkm_idx j = jg - s->c;

    *stride = LANES;
    return s->panel + j / LANES * LANES * s->d + j % LANES;
}

/* Columns [c, c + width) of Y: the panels of all ranks, summed. */
static dkm_status sketch_reduce_panel(dkm_dmat *Y, const sketch *s, dkm_idx width)
{
    const dkm_panel_sum sum = {
        .col = s->c, .cols = width, .nonzero = s->met, .column = sketch_panel_column, .user = s};

    return dkm_dmat_reduce_panel(Y, &sum);
}

static dkm_local sketch_open(sketch *s, const dkm_nystroem *N, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(s->ctx, s->d * width, &s->panel));
    DKM_STEP(dkm_calloc(s->ctx, s->d, &s->met));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * LANES, &s->rows));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * s->copies, &s->to));
    DKM_STEP(dkm_alloc(s->ctx, N->strips.rows * s->copies, &s->sign));
out:
    return local;
}

static void sketch_close(sketch *s)
{
    DKM_FREE(s->panel);
    DKM_FREE(s->met);
    DKM_FREE(s->rows);
    DKM_FREE(s->to);
    DKM_FREE(s->sign);
}

static dkm_idx sketch_full_groups(dkm_idx width)
{
    return (width + LANES - 1) / LANES * LANES;
}

/* Columns of a panel: full groups. Collective. */
static dkm_idx sketch_panel_width(const dkm_nystroem *N, dkm_idx d)
{
    dkm_idx fit = dkm_dmat_panel_capacity(N->grid) / (LANES * (d > 0 ? d : 1)) * LANES;

    if (N->feed->X)
        fit = dkm_idx_min(fit, COLS_IN_MEMORY);
    return fit < LANES ? LANES : fit > N->n ? sketch_full_groups(N->n) : fit;
}

/* Y = S K_mn */
static dkm_status sketch_fill(dkm_nystroem *N, sketch *s, dkm_dmat *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx width = sketch_panel_width(N, s->d);

    DKM_AGREE(s->ctx, sketch_open(s, N, width));
    for (dkm_idx c = 0; c < N->n; c += width) {
        dkm_idx w = c + width < N->n ? width : N->n - c;
        dkm_idx count = s->d * sketch_full_groups(w);
        s->c = c;
        memset(s->panel, 0, (size_t)count * sizeof *s->panel);
        DKM_TRY(dkm_nystroem_for_each_panel(N, c, c + w, &s->visitor));
        DKM_TRY(sketch_reduce_panel(Y, s, w));
        dkm_progress(s->ctx, (double)(c + w), (double)N->n);
    }
out:
    sketch_close(s);
    return status;
}

dkm_status dkm_nystroem_sketch(dkm_nystroem *N, double gamma, dkm_dmat **P)
{
    dkm_status status = DKM_OK;
    sketch s = {.visitor = {sketch_add_panel}, .ctx = N->ctx};
    dkm_dmat *Y = NULL, *G = NULL;

    *P = NULL;
    s.first = dkm_slab_first(N->m, dkm_ctx_rank(N->ctx), dkm_ctx_size(N->ctx));
    s.copies = N->m > ROWS_PER_LANDMARK * N->n ? NNZ_PER_COL : 1;
    s.d = N->m > ROWS_PER_LANDMARK * N->n ? ROWS_PER_LANDMARK * N->n : N->m;
    dkm_phase_begin(N->ctx, "sketch");
    DKM_TRY(dkm_dmat_create(N->grid, s.d, N->n, N->nb, N->nb, DKM_F64, &Y));
    DKM_TRY(sketch_fill(N, &s, Y));
    DKM_TRY(dkm_dmat_convert(N->K, DKM_F64, &G));
    DKM_TRY(dkm_la_syrk_t(Y, gamma, G));
    *P = G;
    G = NULL;
out:
    dkm_phase_end(N->ctx);
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&Y);
    return status;
}
