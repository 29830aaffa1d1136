/* Bytes, operations and seconds of the parts that fits are made of. */
#include "models/common/cost_model.h"

#include <math.h>

#include <dkmap/grid.h>

#include "kernels/evaluation/prepare.h"

#define MiB          1048576.0
#define PANEL_COLS   (32.0 * MiB) /* a panel of objects for columns may always take this much */
#define PANEL_ROWS   (16.0 * MiB)
#define TILE_ROWS    2048.0
#define TILE_COLS    512.0
#define PAGE         4096.0
#define STRIP        512.0        /* columns that a Cholesky factor grows by at a time */
#define ROUND        (16.0 * MiB) /* of rows on their way to another layout, there and back */
#define BASE_UNKNOWN (80.0 * MiB) /* of a rank before it has done anything */
#define BUFFERS      (8.0 * MiB)  /* of messages */
#define NARROW       16.0         /* columns of a block of the eigensolver */
#define COLD         1.15         /* a run of its own beside turns of a calibration */
#define WIDTH        512.0        /* objects that meet a slab of rows at a time */

#define WIDE           2048.0       /* columns from which on rows come in windows */
#define WINDOW         (16.0 * MiB) /* of the columns at hand of a panel of objects */
#define WINDOW_COLUMNS 8192.0
#define BLOCK_ROWS     1024.0
#define BLOCK_COLS     2048.0

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Rows and columns of a matrix on the rank that has most. */
static double local_rows(const dkm_cost_terms *p)
{
    return (double)dkm_cyclic_count(p->work.m, p->work.block, 0, p->work.P);
}

static double local_cols(const dkm_cost_terms *p)
{
    return (double)dkm_cyclic_count(p->work.m, p->work.block, 0, p->work.Q);
}

static double elements(const dkm_cost_terms *p)
{
    return local_rows(p) * local_cols(p);
}

/* Bytes of a matrix whose lower triangle alone is ever written: what lies above takes no memory,
 * but for half a page a column. */
static double lower(const dkm_cost_terms *p, double size)
{
    return 0.5 * size * elements(p) + 0.5 * PAGE * local_cols(p);
}

/* Rows of a slab. */
static double slab(const dkm_cost_terms *p)
{
    return ceil((double)p->work.m / p->work.ranks);
}

/* A panel each of columns and rows of the matrix, and a tile. */
static double panels(const dkm_cost_terms *p, double bytes)
{
    double share = 2.0 * bytes * (double)p->work.m / p->work.ranks;
    double cols = least(most(share, PANEL_COLS), local_cols(p) * bytes);
    double rows = least(least(PANEL_ROWS, TILE_ROWS * bytes), local_rows(p) * bytes);

    return cols + rows + 8.0 * least(TILE_ROWS, local_rows(p)) * TILE_COLS;
}

/* Windows on the columns of wide rows, on one rank those that are there, and inner products of a
 * block. */
static double windows(const dkm_cost_terms *p, double columns)
{
    double rows = least(BLOCK_ROWS, local_rows(p)), cols = least(BLOCK_COLS, local_cols(p));
    double width = least(least(WINDOW / (8.0 * most(rows, cols)), WINDOW_COLUMNS), columns);

    return (p->work.ranks > 1 ? 8.0 * width * (rows + cols) : 0.0) +
           8.0 * rows * (cols + 2.0 * least(TILE_COLS, cols));
}

static double beside_gram(const dkm_cost_terms *p, double bytes, double columns)
{
    if (columns >= WIDE && bytes * local_cols(p) > PANEL_COLS)
        return windows(p, columns);
    return panels(p, bytes);
}

double dkm_cost_eigen_block(double components)
{
    return least(ceil((components + most(floor(components / 8.0), 4.0)) / 8.0) * 8.0, NARROW);
}

double dkm_cost_eigen_basis(double components)
{
    double block = dkm_cost_eigen_block(components);

    return block > components ? 8.0 * block : 6.0 * components + 4.0 * block;
}

/* Columns of the eigensolver's basis, its products and what goes with them. */
static double basis_columns(const dkm_cost_terms *p)
{
    double c = (double)p->components;

    return 2.0 * dkm_cost_eigen_basis(c) + 3.0 * c + 4.0 * dkm_cost_eigen_block(c);
}

static int eigen_is_full(const dkm_cost_terms *p)
{
    return p->components == 0 || basis_columns(p) > (double)p->work.m;
}

/* How much more of its machine the calibration put to use than the planned ranks do, and how much
 * faster work goes there, in a process that has its memory and its caches warm. */
static double slowdown(const dkm_cost_terms *p, const dkm_rates *c)
{
    double then = least(c->ranks, c->cores * most(c->nodes, 1.0));
    double now = least((double)p->work.P * p->work.Q, c->cores * p->work.nodes);

    return COLD * then / now;
}

void dkm_cost_add_phase(dkm_cost *out, const char *name, double bytes, double flops, double seconds)
{
    out->phases[out->count++] = (dkm_cost_phase){name, bytes, flops, seconds};
}

void dkm_cost_add_gram(dkm_cost *out, const dkm_cost_terms *p, const char *name, double held,
                       double bytes, double cols)
{
    const dkm_rates *c = p->rates;
    double half = 0.5 * (double)p->work.m * (double)p->work.m, seconds = NAN;

    if (c && cols > 0)
        seconds = slowdown(p, c) * half * (c->gram_column * cols + c->gram_element);
    dkm_cost_add_phase(out, name, held + lower(p, 8.0) + beside_gram(p, bytes, cols),
                       2.0 * half * cols, seconds);
}

void dkm_cost_add_diagonal(dkm_cost *out, const dkm_cost_terms *p, const char *name, double held,
                           double cols)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m;

    dkm_cost_add_phase(out, name, held + 8.0 * m, 2.0 * m * cols,
                       c ? slowdown(p, c) * m * (c->gram_column * cols + c->gram_element) : NAN);
}

void dkm_cost_add_ridge(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, gram_problem = m * m, cube = gram_problem * m / 3.0,
           k = (double)p->outputs;
    double sides = 8.0 * slab(p) * k, size = p->mixed ? 4.0 : 8.0, s = c ? slowdown(p, c) : NAN;
    double strips = size * STRIP * (local_rows(p) + local_cols(p));
    double matrices = p->mixed ? lower(p, 8.0) + lower(p, 4.0) : 8.0 * elements(p);

    dkm_cost_add_phase(out, "factor", held + matrices + strips + 2.0 * sides, cube,
                       !c         ? NAN
                       : p->mixed ? s * (c->single_cube * cube + c->single_square * gram_problem)
                                  : s * (c->double_cube * cube + c->double_square * gram_problem));
    dkm_cost_add_phase(out, p->mixed ? "refine" : "solve",
                       held + matrices + 8.0 * sides + 2.0 * least(ROUND, sides),
                       (p->mixed ? 24.0 : 6.0) * gram_problem * k,
                       !c         ? NAN
                       : p->mixed ? s * gram_problem * (c->refine_column * k + c->refine_square)
                                  : s * gram_problem * (c->solve_column * k + c->solve_square));
}

void dkm_cost_add_eigen(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, s = c ? slowdown(p, c) : NAN, k = (double)p->components;
    double block = dkm_cost_eigen_block(k), rounds, round;

    if (eigen_is_full(p)) {
        dkm_cost_add_phase(out, "eigen", held + 4.0 * 8.0 * elements(p), 9.0 * m * m * m,
                           c ? s * c->full_cube * m * m * m : NAN);
        return;
    }
    rounds = p->work.iterations > 0 ? (double)p->work.iterations
             : c                    ? c->rounds_base + c->rounds_root * sqrt(k)
                                    : 1.0 + k;
    round = c ? c->round_column * m * m + c->round_basis * m * dkm_cost_eigen_basis(k) : NAN;
    dkm_cost_add_phase(out, "eigen", held + lower(p, 8.0) + 8.0 * slab(p) * basis_columns(p),
                       2.0 * m * m * block * rounds, s * rounds * block * round);
}

/* Rows of the Gram matrix are computed as they lie, in slabs, both triangles of it, from panels of
 * a rank's own rows and of some columns. Each round applies the machine twice, to look for
 * constraints and to take them in; the program is rank 0's. */
void dkm_cost_add_cutting_plane(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, r = (double)p->outputs, n = (double)p->constraints;
    double across = p->primal ? 2.0 * (double)p->work.x_cols : m,
           applied = 2.0 * (double)p->work.iterations + 1.0;
    double rows = p->primal ? slab(p) * p->work.x_bytes : 8.0 * slab(p) * m,
           d = (double)p->work.x_cols;

    if (!p->primal)
        dkm_cost_add_phase(
            out, "gram", held + rows + (slab(p) + WIDTH) * p->work.x_bytes, 2.0 * m * m * d,
            c && d > 0 ? slowdown(p, c) * m * m * (c->gram_column * d + c->rows_square) : NAN);
    dkm_cost_add_phase(
        out, "rounds",
        held + rows + 8.0 * slab(p) * 6.0 * r + 8.0 * n * (1.25 * n + r / p->work.ranks),
        applied * 2.0 * m * across * r,
        c ? slowdown(p, c) * applied * m * across * (c->apply_column * r + c->apply_square) : NAN);
}

void dkm_cost_sum_up(dkm_cost *out, const dkm_rates *c)
{
    double base = (c ? c->base_bytes : BASE_UNKNOWN) + BUFFERS;

    for (int k = 0; k < out->count; k++) {
        dkm_cost_phase *f = &out->phases[k];
        f->bytes += base;
        out->peak = most(out->peak, f->bytes);
        out->flops += f->flops;
        out->seconds += f->seconds;
    }
}

double dkm_cost_data(const dkm_cost_terms *p)
{
    return slab(p) * (p->work.x_bytes + p->work.y_bytes);
}

double dkm_cost_shifted_rows(const dkm_cost_terms *p, const dkm_kernel *kernel, dkm_type type,
                             dkm_idx cols)
{
    return type == DKM_DENSE
               ? 8.0 * slab(p) * (double)cols * (double)dkm_kernel_shifted_copies(kernel)
               : 0.0;
}

double dkm_cost_rows(const dkm_cost_terms *p, double bytes)
{
    return slab(p) * bytes;
}

double dkm_cost_coordinates(const dkm_cost_terms *p)
{
    return 8.0 * slab(p) * 2.0 * (double)p->components;
}
