/* Bytes, operations and seconds of the parts that fits are made of. */
#include "models/common/cost_model.h"

#include <limits.h>
#include <math.h>

#include <dkmap/grid.h>

#include "kernels/evaluation/prepare.h"
#include "matrix/dmat_impl.h"
#include "models/common/comm_model.h"
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
#define SKETCH_ROWS   3.0          /* of the sketch of landmarks, for each of them */
#define SKETCH_COLS   128.0        /* of a panel of it */
#define SKETCH_HITS   4.0          /* rows of it that an input is added to */
#define STRIP_COLS    512.0 /* landmarks on a rank at a time while kernel values are stored */
#define STRIP_GROUP   (16.0 * MiB) /* bytes of them, at most */
#define PCG_STEPS     20.0         /* where nothing is known */

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

static double elements(const dkm_cost_terms *p)
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
static double slab(const dkm_cost_terms *p)
{
    return ceil((double)p->work.m / p->work.ranks);
}

/* A tile, which kernels of kernels need beside the matrix, and where the others' BLAS has buffers. */
static double tile(const dkm_cost_terms *p)
{
    return 8.0 * fmin(TILE_ROWS, local_rows(p)) * TILE_COLS;
}

/* Chunks of objects that come from one rank and go to another. */
static double chunks(const dkm_cost_terms *p, double bytes)
{
    double stream = slab(p) * bytes;

    if (p->work.ranks == 1)
        return 0.0;
    return 2.0 * fmin(CHUNK, stream) + (stream > CHUNK ? CHUNK : 0.0);
}

/* A panel each of columns and rows of the matrix, what is on its way to them, and a tile. */
static double panels(const dkm_cost_terms *p, double bytes)
{
    double share = 2.0 * bytes * (double)p->work.m / p->work.ranks;
    double cols = fmin(fmax(share, PANEL_COLS), local_cols(p) * bytes);
    double part = 8.0 * elements(p) / PANEL_PART;
    double rows = fmin(fmin(fmin(fmax(part, PANEL_ROWS), PANEL_LARGE), PANEL_MOST * bytes),
                       local_rows(p) * bytes);

    return cols + rows + chunks(p, bytes) + tile(p);
}

/* Windows on the columns of wide rows, on one rank those that are there, and inner products of a
 * block. */
static double windows(const dkm_cost_terms *p, double columns)
{
    double rows = fmin(BLOCK_ROWS, local_rows(p)), cols = fmin(BLOCK_COLS, local_cols(p));
    double width = fmin(fmin(WINDOW / (8.0 * fmax(rows, cols)), WINDOW_COLUMNS), columns);

    return (p->work.ranks > 1 ? 8.0 * width * (rows + cols) : 0.0) +
           8.0 * rows * (cols + 2.0 * fmin(TILE_COLS, cols)) + tile(p);
}

static double beside_gram(const dkm_cost_terms *p, double bytes, double columns)
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
static double slowdown(const dkm_cost_terms *p, const dkm_rates *c)
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
static void note_phase(dkm_cost *out, double allocated, dkm_comm comm)
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

static dkm_comm_grid grid_of(const dkm_cost_terms *p)
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
           allocated = p->recomputed ? matrix : 8.0 * elements(p);
    dkm_comm_grid g = grid_of(p);

    if (c && cols > 0)
        seconds = slowdown(p, c) * half * (c->gram_column * cols + c->gram_element);
    dkm_cost_add_phase(out, name, held + matrix + beside_gram(p, bytes, cols), 2.0 * half * cols,
                       seconds);
    note_phase(out, held + allocated + beside_gram(p, bytes, cols) - tile(p),
               dkm_comm_gram(&g, bytes));
}

void dkm_cost_add_diagonal(dkm_cost *out, const dkm_cost_terms *p, const char *name, double held,
                           double cols)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m;

    dkm_cost_add_phase(out, name, held + 8.0 * m, 2.0 * m * cols,
                       c ? slowdown(p, c) * m * (c->gram_column * cols + c->gram_element) : NAN);
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
    double node = MEMORY_MARGIN * 12.0 * elements(p) * ranks;

    return p->mixed && ((p->work.memory > 0 && node > p->work.memory) || elements(p) > INT_MAX);
}

void dkm_cost_add_ridge(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, gram_problem = m * m, cube = gram_problem * m / 3.0,
           k = (double)p->outputs;
    double sides = 8.0 * slab(p) * k, size = p->mixed ? 4.0 : 8.0, s = c ? slowdown(p, c) : NAN;
    double strips = size * STRIP * (local_rows(p) + local_cols(p));
    double matrices = p->recomputed ? lower(p, 4.0)
                      : p->mixed    ? lower(p, 8.0) + lower(p, 4.0)
                                    : 8.0 * elements(p),
           allocated = p->recomputed ? matrices : (p->mixed ? 12.0 : 8.0) * elements(p);
    double columns = (double)p->work.x_cols, again = p->recomputed ? 0.5 * REFINE_STEPS : 0.0,
           tiles = again > 0 ? beside_gram(p, p->work.x_bytes, columns) : 0.0;
    dkm_comm_grid g = grid_of(p);
    dkm_comm comm;

    dkm_cost_add_phase(out, "factor", held + matrices + strips + 2.0 * sides, cube,
                       !c         ? NAN
                       : p->mixed ? s * (c->single_cube * cube + c->single_square * gram_problem)
                                  : s * (c->double_cube * cube + c->double_square * gram_problem));
    comm = dkm_comm_factor(&g, size);
    if (p->mixed)
        dkm_comm_add(&comm, 3.0, dkm_comm_product(&g, 1.0));
    note_phase(out, held + allocated + dkm_comm_factor_panels(&g, size) + sides, comm);
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
    note_phase(out, held + allocated + tiles + 8.0 * sides + product_vectors(p, k), comm);
}

/* Inputs and landmarks: the landmarks pass by all ranks in groups, their Gram matrix and what
 * preconditions are on the grid. Kernel values of all inputs are stored. */
void dkm_cost_add_pcg(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, n = (double)p->landmarks, k = (double)p->outputs,
           d = (double)p->work.x_cols, ranks = p->work.ranks;
    double steps = p->work.iterations > 0 ? (double)p->work.iterations : PCG_STEPS;
    double sketched = m > SKETCH_ROWS * n ? SKETCH_ROWS * n : m, share = m / ranks,
           hit = m > SKETCH_ROWS * n ? sketched * (1.0 - exp(-SKETCH_HITS * share / sketched))
                                     : share;
    double s = c ? slowdown(p, c) : NAN, values = m * n;
    dkm_cost_terms small = *p;
    dkm_comm_grid g;
    dkm_comm comm;
    double matrices, stored = 8.0 * slab(p) * n,
                     landmarks = fmin(fmin(n, STRIP_COLS) * p->work.x_bytes, STRIP_GROUP), panel;

    small.work.m = p->landmarks;
    small.work.block = dkm_shape_block(p->work.P, p->work.Q, p->landmarks);
    g = grid_of(&small);
    matrices = 8.0 * elements(&small);
    panel = 8.0 * sketched * fmin(n, SKETCH_COLS);
    dkm_cost_replicate(out, "a group of landmarks on their way, 512 d numbers", landmarks);
    dkm_cost_replicate(out, "a panel of the sketch, 3 n x 128", panel);
    dkm_cost_replicate(out, "coefficients on their way, 2 n k", 16.0 * n * k);

    comm = dkm_comm_gram(&g, p->work.x_bytes);
    comm.bytes += 8.0 * n * hit * (1.0 - 1.0 / ranks);
    comm.messages += ranks - 1.0;
    dkm_comm_add(&comm, 1.0, dkm_comm_small(100.0));
    comm.bytes += 8.0 * sketched * n *
                  ((1.0 - 1.0 / p->work.Q) / p->work.P + (1.0 - 1.0 / p->work.P) / p->work.Q);
    dkm_cost_add_phase(out, "sketch", held + stored + fmax(landmarks, panel) + 8.0 * matrices,
                       2.0 * values * d + sketched * n * n,
                       c && d > 0 ? s * (values * (c->gram_column * d + c->gram_element) +
                                         c->double_cube * sketched * n * n)
                                  : NAN);
    note_phase(out,
               held + stored +
                   fmax(landmarks, panel * (1.0 + 2.0 / ranks) + (1.0 + SKETCH_ROWS) * matrices) +
                   matrices,
               comm);

    comm = dkm_comm_factor(&g, 8.0);
    dkm_comm_add(&comm, 1.0, dkm_comm_symmetrize(&g));
    dkm_comm_add(&comm, 3.0, dkm_comm_product(&g, 1.0));
    dkm_cost_add_phase(out, "factor", held + stored + 3.0 * matrices, n * n * n / 3.0,
                       c ? s * (c->double_cube * n * n * n / 3.0 + c->double_square * n * n) : NAN);
    note_phase(out, held + stored + 2.0 * matrices + dkm_comm_factor_panels(&g, 8.0), comm);

    comm = dkm_comm_small(10.0);
    dkm_comm_add(&comm, 1.0, dkm_comm_product(&g, k));
    dkm_comm_add(&comm, 1.0, dkm_comm_solve(&g, k, 8.0));
    comm.bytes += 8.0 * n * k * (1.0 + 1.0 / ranks);
    comm.collectives += 8.0;
    dkm_cost_add_phase(
        out, "iterate", held + stored + 2.0 * matrices, 4.0 * values * k * (steps + 2.0),
        c ? s * (steps + 2.0) * values * (c->solve_column * k + c->solve_square) : NAN);
    note_phase(out, held + stored + 2.0 * matrices,
               (dkm_comm){(steps + 2.0) * comm.bytes, (steps + 2.0) * comm.messages,
                          (steps + 2.0) * comm.collectives});
}

/* Reduction to a band or tridiagonal form, and two products back: panels go along both sides. */
static dkm_comm full_eigen_comm(const dkm_comm_grid *g)
{
    return (dkm_comm){8.0 * 3.0 * g->m * g->m * (1.0 / g->P + 1.0 / g->Q) / 2.0,
                      3.0 * ceil(g->m / g->block) * log2(g->P * g->Q + 1.0), 2.0 * g->m};
}

void dkm_cost_add_eigen(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, s = c ? slowdown(p, c) : NAN, k = (double)p->components;
    double block = dkm_cost_eigen_block(k), rounds, round, basis, ritz;
    dkm_comm_grid g = grid_of(p);
    dkm_comm comm = dkm_comm_small(60.0);

    if (eigen_is_full(p)) {
        dkm_cost_add_phase(out, "eigen", held + 4.0 * 8.0 * elements(p), 9.0 * m * m * m,
                           c ? s * c->full_cube * m * m * m : NAN);
        note_phase(out, held + 4.0 * 8.0 * elements(p), full_eigen_comm(&g));
        return;
    }
    rounds = p->work.iterations > 0 ? (double)p->work.iterations
             : c                    ? c->rounds_base + c->rounds_root * sqrt(k)
                                    : 1.0 + k;
    round = c ? c->round_column * m * m + c->round_basis * m * dkm_cost_eigen_basis(k) : NAN;
    dkm_cost_add_phase(out, "eigen", held + lower(p, 8.0) + 8.0 * slab(p) * basis_columns(p),
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
    note_phase(out,
               held + 8.0 * elements(p) + 8.0 * slab(p) * basis_columns(p) + ritz +
                   8.0 * basis * block + product_vectors(p, block),
               comm);
}

/* What a weight vector takes on its way to the ranks that apply it, on each of them. */
static double joint_map_panel(dkm_cost *out, const dkm_cost_terms *p)
{
    double m = (double)p->work.m, r = (double)p->outputs, d = (double)p->work.x_cols;

    if (p->primal)
        return dkm_cost_replicate(out, "weights of all features, d r", 8.0 * d * r);
    if (p->named)
        return dkm_cost_replicate(out, "classes of all examples and of a constraint", 8.0 * m);
    return dkm_cost_replicate(out, "a panel of coefficients, 256 r", 8.0 * fmin(m, 256.0) * r);
}

/* Rows of the Gram matrix are computed as they lie, in slabs, both triangles of it, from panels of
 * a rank's own rows and of some columns: all objects, with 16 bytes each to ask for them, meet all
 * ranks. Each round applies the joint map to look for constraints and to take them in, or, where
 * scores are kept, to the latter alone; the program is rank 0's. The matrix is held until the model
 * is written. */
void dkm_cost_add_cutting_plane(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    double m = (double)p->work.m, r = (double)p->outputs, n = (double)p->constraints;
    double across = p->primal ? 2.0 * (double)p->work.x_cols : m,
           applied = (p->kept ? 1.0 : 2.0) * (double)p->work.iterations + 1.0;
    double rows = p->primal ? slab(p) * p->work.x_bytes : 8.0 * slab(p) * m,
           d = (double)p->work.x_cols, scores = p->kept ? 8.0 * slab(p) * r * n : 0.0,
           travels = p->named ? 4.0 * m : 8.0 * across * r,
           allocated = held + rows +
                       fmax(MODEL_BUFFER, 8.0 * slab(p) * 6.0 * r + scores +
                                              8.0 * n * (1.25 * n + r / p->work.ranks) +
                                              joint_map_panel(out, p));

    if (!p->primal)
        dkm_cost_add_phase(
            out, "gram", held + rows + (slab(p) + WIDTH) * p->work.x_bytes, 2.0 * m * m * d,
            c && d > 0 ? slowdown(p, c) * m * m * (c->gram_column * d + c->rows_square) : NAN);
    if (!p->primal)
        note_phase(out, held + rows + (slab(p) + WIDTH) * p->work.x_bytes,
                   (dkm_comm){(p->work.x_bytes + 16.0) * m * (1.0 - 1.0 / p->work.ranks),
                              log2((double)p->work.ranks), 2.0 * m / WIDTH});
    dkm_cost_add_phase(
        out, "rounds", allocated, applied * 2.0 * m * across * r,
        c ? slowdown(p, c) * applied * m * across * (c->apply_column * r + c->apply_square) : NAN);
    note_phase(out, allocated, (dkm_comm){applied * travels / p->work.ranks, 0.0, 30.0 * applied});
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
