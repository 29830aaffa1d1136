/* Bytes, operations and seconds of the parts that fits are made of. */
#include "models/common/cost_model.h"

#include <limits.h>
#include <math.h>

#include <dkmap/grid.h>

#include "kernels/evaluation/prepare.h"
#include "matrix/dmat_impl.h"
#include "models/common/comm_model.h"
#include "models/common/cost_model_impl.h"
#include "solvers/krylov/rayleigh_ritz.h"

#define MiB           1048576.0
#define PANEL_COLS    (32.0 * MiB) /* a panel of objects for columns may always take this much */
#define PANEL_ROWS    (4.0 * MiB)  /* and one for rows, */
#define PANEL_PART    16.0         /* or such a part of the matrix, */
#define PANEL_LARGE   (64.0 * MiB) /* up to this */
#define PANEL_MOST    16384.0      /* objects */
#define CHUNK         (256.0 * 1024.0) /* of objects on their way */
#define TILE_ROWS     2048.0
#define TILE_COLS     512.0
#define STRIP         512.0        /* columns that a Cholesky factor grows by at a time */
#define ROUND         (16.0 * MiB) /* of rows on their way to another layout, there and back */
#define BASE_UNKNOWN  (80.0 * MiB) /* of a rank before it has done anything */
#define BUFFERS       (8.0 * MiB)  /* of messages */
#define MODEL_BUFFER  (1.0 * MiB)  /* in which rank 0 lays a model file out */
#define NARROW        16.0         /* columns of a block of the eigensolver */
#define COLD          1.15         /* a run of its own beside turns of a calibration */
#define WIDTH         512.0        /* objects that meet a slab of rows at a time */
#define MEMORY_MARGIN 1.1          /* of the matrices of a ridge system, where memory is checked */
#define REFINE_STEPS  5.0          /* of a system in mixed precision, about */

#define WIDE           2048.0       /* columns from which on rows come in windows */
#define WINDOW         (16.0 * MiB) /* of the columns at hand of a panel of objects */
#define WINDOW_COLUMNS 8192.0
#define BLOCK_ROWS     1024.0
#define BLOCK_COLS     2048.0

/* Rows and columns of a matrix on the rank that has most. */
static double local_rows(const dkm_cost_terms *p)
{
    return (double)dkm_cyclic_count(p->work.m, p->work.block, 0, p->work.P);
}

static double local_cols(const dkm_cost_terms *p)
{
    return (double)dkm_cyclic_count(p->work.m, p->work.block, 0, p->work.Q);
}

double dkm_cost_elements(const dkm_cost_terms *p)
{
    return local_rows(p) * local_cols(p);
}

/* Bytes of a matrix whose lower triangle alone is ever written: what lies above takes no memory,
 * but for half a page a column, and what large pages reach of it. */
static double lower(const dkm_cost_terms *p, double size)
{
    return dkm_lower_bytes(local_rows(p), local_cols(p), size);
}

/* Rows of a slab. */
double dkm_cost_slab(const dkm_cost_terms *p)
{
    return ceil((double)p->work.m / p->work.ranks);
}

/* A tile, which kernels of kernels need beside the matrix, and where the others' BLAS has buffers. */
double dkm_cost_tile(const dkm_cost_terms *p)
{
    return 8.0 * fmin(TILE_ROWS, local_rows(p)) * TILE_COLS;
}

/* Chunks of objects that come from one rank and go to another. */
static double chunks(const dkm_cost_terms *p, double bytes)
{
    double stream = dkm_cost_slab(p) * bytes;

    if (p->work.ranks == 1)
        return 0.0;
    return 2.0 * fmin(CHUNK, stream) + (stream > CHUNK ? CHUNK : 0.0);
}

/* A panel each of columns and rows of the matrix, what is on its way to them, and a tile. */
static double panels(const dkm_cost_terms *p, double bytes)
{
    double share = 2.0 * bytes * (double)p->work.m / p->work.ranks;
    double cols = fmin(fmax(share, PANEL_COLS), local_cols(p) * bytes);
    double part = 8.0 * dkm_cost_elements(p) / PANEL_PART;
    double rows = fmin(fmin(fmin(fmax(part, PANEL_ROWS), PANEL_LARGE), PANEL_MOST * bytes),
                       local_rows(p) * bytes);

    return cols + rows + chunks(p, bytes) + dkm_cost_tile(p);
}

/* Windows on the columns of wide rows, on one rank those that are there, and inner products of a
 * block. */
static double windows(const dkm_cost_terms *p, double columns)
{
    double rows = fmin(BLOCK_ROWS, local_rows(p)), cols = fmin(BLOCK_COLS, local_cols(p));
    double width = fmin(fmin(WINDOW / (8.0 * fmax(rows, cols)), WINDOW_COLUMNS), columns);

    return (p->work.ranks > 1 ? 8.0 * width * (rows + cols) : 0.0) +
           8.0 * rows * (cols + 2.0 * fmin(TILE_COLS, cols)) + dkm_cost_tile(p);
}

double dkm_cost_beside_gram(const dkm_cost_terms *p, double bytes, double columns)
{
    if (columns >= WIDE && bytes * local_cols(p) > PANEL_COLS)
        return windows(p, columns);
    return panels(p, bytes);
}

double dkm_cost_eigen_block(double components)
{
    return fmin(ceil((components + fmax(floor(components / 8.0), 4.0)) / 8.0) * 8.0, NARROW);
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
double dkm_cost_slowdown(const dkm_cost_terms *p, const dkm_rates *c)
{
    double then = fmin(c->ranks, c->cores * fmax(c->nodes, 1.0));
    double now = fmin((double)p->work.P * p->work.Q, c->cores * p->work.nodes);

    return COLD * then / now;
}

void dkm_cost_add_phase(dkm_cost *out, const char *name, double bytes, double flops, double seconds)
{
    out->phases[out->count++] =
        (dkm_cost_phase){.name = name, .bytes = bytes, .flops = flops, .seconds = seconds};
}

/* What the phase that was added last allocates and communicates. */
void dkm_cost_note_phase(dkm_cost *out, double allocated, dkm_comm comm)
{
    dkm_cost_phase *f = &out->phases[out->count - 1];

    f->allocated = allocated;
    f->sent = comm.bytes;
    f->messages = comm.messages;
    f->collectives = comm.collectives;
}

double dkm_cost_replicate(dkm_cost *out, const char *name, double bytes)
{
    if (bytes > 0 && out->arrays < DKM_COST_ARRAYS)
        out->replicated[out->arrays++] = (dkm_cost_array){name, bytes};
    return bytes;
}

dkm_comm_grid dkm_cost_grid(const dkm_cost_terms *p)
{
    return (dkm_comm_grid){(double)p->work.m, (double)p->work.block, p->work.P, p->work.Q};
}

/* Bytes of the vectors that a product with k columns takes. */
static double product_vectors(const dkm_cost_terms *p, double k)
{
    return 8.0 * k * (2.0 * (local_rows(p) + local_cols(p)) + fmax(local_rows(p), local_cols(p)));
}

void dkm_cost_add_gram(dkm_cost *out, const dkm_cost_terms *p, const char *name, double held,
                       double bytes, double cols)
{
    const dkm_rates *c = p->rates;
    double half = 0.5 * (double)p->work.m * (double)p->work.m, seconds = NAN;
    double matrix = lower(p, p->recomputed ? 4.0 : 8.0),
           allocated = p->recomputed ? matrix : 8.0 * dkm_cost_elements(p);
    dkm_comm_grid g = dkm_cost_grid(p);

    if (c && cols > 0)
        seconds = dkm_cost_slowdown(p, c) * half * (c->gram_column * cols + c->gram_element);
    dkm_cost_add_phase(out, name, held + matrix + dkm_cost_beside_gram(p, bytes, cols),
                       2.0 * half * cols, seconds);
    dkm_cost_note_phase(out,
                        held + allocated + dkm_cost_beside_gram(p, bytes, cols) - dkm_cost_tile(p),
                        dkm_comm_gram(&g, bytes));
}

void dkm_cost_add_diagonal(dkm_cost *out, const dkm_cost_terms *p, const char *name, double held,
                           double cols)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m;

    dkm_cost_add_phase(out, name, held + 8.0 * m, 2.0 * m * cols,
                       c ? dkm_cost_slowdown(p, c) * m * (c->gram_column * cols + c->gram_element)
                         : NAN);
}

/* Residual and condition of a double factor: a product and a solve with the outputs, and three of
 * each with one vector; the upper triangle keeps the matrix. */
static dkm_comm solve_comm(const dkm_comm_grid *g, double k)
{
    dkm_comm c = dkm_comm_small(50.0);

    dkm_comm_add(&c, 1.0, dkm_comm_symmetrize(g));
    dkm_comm_add(&c, 1.0, dkm_comm_solve(g, k, 8.0));
    dkm_comm_add(&c, 3.0, dkm_comm_solve(g, 1.0, 8.0));
    dkm_comm_add(&c, 1.0, dkm_comm_product(g, k));
    dkm_comm_add(&c, 3.0, dkm_comm_product(g, 1.0));
    dkm_comm_add(&c, 6.0, dkm_comm_rows(g, k));
    return c;
}

/* Steps of conjugate gradients on the double matrix, preconditioned by the single factor, with a
 * probe beside the outputs. */
static dkm_comm refine_comm(const dkm_comm_grid *g, double k)
{
    dkm_comm c = dkm_comm_small(20.0);

    dkm_comm_add(&c, REFINE_STEPS + 1.0, dkm_comm_solve(g, k + 1.0, 4.0));
    dkm_comm_add(&c, REFINE_STEPS, dkm_comm_product(g, k));
    dkm_comm_add(&c, REFINE_STEPS, dkm_comm_small(4.0 + k));
    dkm_comm_add(&c, 2.0, dkm_comm_rows(g, k));
    return c;
}

/* As solvers/ridge/ridge_driver.c decides. */
int dkm_cost_recomputes(const dkm_cost_terms *p)
{
    double ranks = ceil((double)p->work.ranks / fmax(p->work.nodes, 1.0));
    double node = MEMORY_MARGIN * 12.0 * dkm_cost_elements(p) * ranks;

    return p->mixed &&
           ((p->work.memory > 0 && node > p->work.memory) || dkm_cost_elements(p) > INT_MAX);
}

void dkm_cost_add_ridge(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, gram_problem = m * m, cube = gram_problem * m / 3.0,
           k = (double)p->outputs;
    double sides = 8.0 * dkm_cost_slab(p) * k, size = p->mixed ? 4.0 : 8.0,
           s = c ? dkm_cost_slowdown(p, c) : NAN;
    double strips = size * STRIP * (local_rows(p) + local_cols(p));
    double matrices = p->recomputed ? lower(p, 4.0)
                      : p->mixed    ? lower(p, 8.0) + lower(p, 4.0)
                                    : 8.0 * dkm_cost_elements(p),
           allocated = p->recomputed ? matrices : (p->mixed ? 12.0 : 8.0) * dkm_cost_elements(p);
    double columns = (double)p->work.x_cols, again = p->recomputed ? 0.5 * REFINE_STEPS : 0.0,
           tiles = again > 0 ? dkm_cost_beside_gram(p, p->work.x_bytes, columns) : 0.0;
    dkm_comm_grid g = dkm_cost_grid(p);
    dkm_comm comm;

    dkm_cost_add_phase(out, "factor", held + matrices + strips + 2.0 * sides, cube,
                       !c         ? NAN
                       : p->mixed ? s * (c->single_cube * cube + c->single_square * gram_problem)
                                  : s * (c->double_cube * cube + c->double_square * gram_problem));
    comm = dkm_comm_factor(&g, size);
    if (p->mixed)
        dkm_comm_add(&comm, 3.0, dkm_comm_product(&g, 1.0));
    dkm_cost_note_phase(out, held + allocated + dkm_comm_factor_panels(&g, size) + sides, comm);
    dkm_cost_add_phase(out, p->mixed ? "refine" : "solve",
                       held + matrices + tiles + 8.0 * sides + 2.0 * fmin(ROUND, sides),
                       (p->mixed ? 24.0 : 6.0) * gram_problem * k +
                           2.0 * again * gram_problem * columns,
                       !c         ? NAN
                       : p->mixed ? s * gram_problem *
                                        (c->refine_column * k + c->refine_square +
                                         again * (c->gram_column * columns + c->gram_element))
                                  : s * gram_problem * (c->solve_column * k + c->solve_square));
    comm = p->mixed ? refine_comm(&g, k) : solve_comm(&g, k);
    if (p->recomputed)
        dkm_comm_add(&comm, REFINE_STEPS, dkm_comm_gram(&g, p->work.x_bytes));
    dkm_cost_note_phase(out, held + allocated + tiles + 8.0 * sides + product_vectors(p, k), comm);
}

/* The phases of an exact fit, folded into one. */
void dkm_cost_add_comparison(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost exact = {0};
    dkm_comm comm = {0};
    double bytes = 0, allocated = 0, flops = 0, seconds = 0;
    dkm_cost_terms terms = *p;

    terms.mixed = terms.recomputed = 0;
    dkm_cost_add_gram(&exact, &terms, "gram", held, p->work.x_bytes, (double)p->work.x_cols);
    dkm_cost_add_ridge(&exact, &terms, held);
    for (int k = 0; k < exact.count; k++) {
        const dkm_cost_phase *f = &exact.phases[k];
        bytes = fmax(bytes, f->bytes);
        allocated = fmax(allocated, f->allocated);
        flops += f->flops;
        seconds += f->seconds;
        dkm_comm_add(&comm, 1.0, (dkm_comm){f->sent, f->messages, f->collectives});
    }
    dkm_cost_add_phase(out, "compare", bytes, flops, seconds);
    dkm_cost_note_phase(out, allocated, comm);
}

void dkm_cost_add_eigen(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, s = c ? dkm_cost_slowdown(p, c) : NAN, k = (double)p->components;
    double block = dkm_cost_eigen_block(k), rounds, round, basis, ritz;
    dkm_comm_grid g = dkm_cost_grid(p);
    dkm_comm comm = dkm_comm_small(60.0);

    if (eigen_is_full(p)) {
        dkm_cost_add_phase(out, "eigen", held + 4.0 * 8.0 * dkm_cost_elements(p), 9.0 * m * m * m,
                           c ? s * c->full_cube * m * m * m : NAN);
        dkm_cost_note_phase(out, held + 4.0 * 8.0 * dkm_cost_elements(p), dkm_comm_full_eigen(&g));
        return;
    }
    rounds = p->work.iterations > 0 ? (double)p->work.iterations
             : c                    ? c->rounds_base + c->rounds_root * sqrt(k)
                                    : 1.0 + k;
    round = c ? c->round_column * m * m + c->round_basis * m * dkm_cost_eigen_basis(k) : NAN;
    dkm_cost_add_phase(out, "eigen",
                       held + lower(p, 8.0) + 8.0 * dkm_cost_slab(p) * basis_columns(p),
                       2.0 * m * m * block * rounds, s * rounds * block * round);
    basis = dkm_cost_eigen_basis(k);
    ritz = dkm_rayleigh_ritz_bytes((dkm_idx)basis, (dkm_idx)(k + 0.5 * block), p->work.ranks,
                                   DKM_RITZ_LOCAL_MAX);
    dkm_cost_replicate(out, "Ritz vectors and inner products, s (components + 3 b / 2)",
                       8.0 * basis * (k + 1.5 * block));
    dkm_comm_add(&comm, rounds, dkm_comm_product(&g, block));
    dkm_comm_add(&comm, 2.0 * rounds,
                 dkm_comm_allreduce(&g, block * fmin(0.5 * block * (rounds + 1.0), 0.7 * basis)));
    dkm_comm_add(&comm, rounds, dkm_comm_small(10.0));
    dkm_cost_note_phase(out,
                        held + 8.0 * dkm_cost_elements(p) +
                            8.0 * dkm_cost_slab(p) * basis_columns(p) + ritz + 8.0 * basis * block +
                            product_vectors(p, block),
                        comm);
}

/* What a weight vector takes on its way to the ranks that apply it, on each of them. */
static double joint_map_panel(dkm_cost *out, const dkm_cost_terms *p)
{
    double r = (double)p->outputs, d = (double)p->work.x_cols, sums = 8.0 * p->products.rows * r;

    if (p->primal)
        return dkm_cost_replicate(out, "weights of all features, d r", 8.0 * d * r);
    if (p->named)
        return sums + dkm_cost_replicate(out, "classes of a grid column and of a constraint",
                                         8.0 * p->products.cols);
    return sums + dkm_cost_replicate(out, "a panel of coefficients, 256 r",
                                     8.0 * fmin((double)p->work.m, 256.0) * r);
}

/* Both triangles of the Gram matrix are computed where they lie, from panels of the objects of a rank's rows
 * and of some of its columns, with 16 bytes each to ask for them. */
static double add_gram_of_joint_map(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, d = (double)p->work.x_cols, seconds = NAN;
    int cut = p->products.rows > 0;
    double rows = cut ? p->products.rows : dkm_cost_slab(p), cols = cut ? p->products.cols : m;
    double sent =
        cut ? p->products.matrix_sent : (p->work.x_bytes + 16.0) * m * (1.0 - 1.0 / p->work.ranks);
    double bytes = held + 8.0 * rows * cols + (rows + WIDTH) * p->work.x_bytes;

    if (c && d > 0)
        seconds = dkm_cost_slowdown(p, c) * m * m * (c->gram_column * d + c->rows_square);
    dkm_cost_add_phase(out, "gram", bytes, 2.0 * m * m * d, seconds);
    dkm_cost_note_phase(out, bytes,
                        (dkm_comm){sent, log2((double)p->work.ranks), 2.0 * cols / WIDTH});
    return 8.0 * rows * cols;
}

/* Each round applies the joint map to look for constraints and to take them in, or, where scores are kept,
 * to the latter alone; the program is rank 0's. The matrix is held until the model is written. */
void dkm_cost_add_cutting_plane(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, r = (double)p->outputs, n = (double)p->constraints;
    double across = p->primal ? 2.0 * (double)p->work.x_cols : m,
           times = p->kept || p->products.sent > 0 ? 1.0 : 2.0,
           applied = times * (double)p->work.iterations + 1.0;
    dkm_comm comm = dkm_comm_small(30.0 * applied);
    double features = p->products.sent > 0 ? 16.0 * (double)p->work.x_cols * r
                                           : dkm_cost_slab(p) * p->work.x_bytes,
           matrix = p->primal ? features : add_gram_of_joint_map(out, p, held),
           scores = p->kept ? 8.0 * dkm_cost_slab(p) * r * n : 0.0,
           sent = p->products.sent > 0 ? p->products.sent : 8.0 * across * r / p->work.ranks,
           allocated = held + matrix +
                       fmax(MODEL_BUFFER, 8.0 * dkm_cost_slab(p) * 6.0 * r + scores +
                                              8.0 * n * (1.25 * n + r / p->work.ranks) +
                                              joint_map_panel(out, p));

    dkm_cost_add_phase(out, "rounds", allocated, applied * 2.0 * m * across * r,
                       c ? dkm_cost_slowdown(p, c) * applied * m * across *
                               (c->apply_column * r + c->apply_square)
                         : NAN);
    comm.bytes += applied * sent;
    dkm_cost_note_phase(out, allocated, comm);
}

/* Messages of a rank, those inside collectives included, and what the ranks of a node send through
 * its link; on one node the rates have measured them. */
static double network_seconds(const dkm_cost_phase *f, const dkm_workload *w)
{
    double ranks = ceil((double)w->ranks / w->nodes);

    if (w->nodes < 2 || w->bandwidth <= 0)
        return 0.0;
    return w->latency * (f->messages + f->collectives * log2((double)w->ranks)) +
           ranks * f->sent / w->bandwidth;
}

void dkm_cost_sum_up(dkm_cost *out, const dkm_cost_terms *p)
{
    double base = (p->rates ? p->rates->base_bytes : BASE_UNKNOWN) + BUFFERS;

    for (int k = 0; k < out->count; k++) {
        dkm_cost_phase *f = &out->phases[k];
        double network = network_seconds(f, &p->work);
        f->bytes += base;
        f->seconds += network;
        out->peak = fmax(out->peak, f->bytes);
        out->allocated = fmax(out->allocated, f->allocated);
        out->flops += f->flops;
        out->sent += f->sent;
        out->messages += f->messages;
        out->collectives += f->collectives;
        out->network += network;
        out->seconds += f->seconds;
    }
    out->allocated = fmax(out->allocated, MODEL_BUFFER + dkm_cost_data(p));
}

double dkm_cost_data(const dkm_cost_terms *p)
{
    return dkm_cost_slab(p) * (p->work.x_bytes + p->work.y_bytes);
}

double dkm_cost_shifted_rows(const dkm_cost_terms *p, const dkm_kernel *kernel, dkm_type type,
                             dkm_idx cols)
{
    return type == DKM_DENSE
               ? 8.0 * dkm_cost_slab(p) * (double)cols * (double)dkm_kernel_shifted_copies(kernel)
               : 0.0;
}

double dkm_cost_rows(const dkm_cost_terms *p, double bytes)
{
    return dkm_cost_slab(p) * bytes;
}

double dkm_cost_coordinates(const dkm_cost_terms *p)
{
    return 8.0 * dkm_cost_slab(p) * 2.0 * (double)p->components;
}
