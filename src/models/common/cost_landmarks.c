/* Bytes, operations and seconds of fits on n landmarks: by conjugate gradients, under the Nystroem
 * kernel, and of its principal components. Matrices of order n lie on the grid; kernel values
 * K_mn of all inputs are in slabs, stored unless they are said to be computed anew. */
#include <math.h>
#include <stdio.h>

#include "core/minmax.h"
#include "models/common/cost_model_impl.h"

#define MiB           1048576.0
#define SKETCH_ROWS   3.0   /* of the sketch of landmarks, for each of them */
#define SKETCH_COLS   128.0 /* of a panel of it */
#define SYRK_ROWS     512   /* and of its rows whose products are added up at a time */
#define SKETCH_HITS   4.0   /* rows of it that an input is added to */
#define STRIP_COLS    512.0 /* landmarks on a rank at a time while kernel values are stored */
#define STRIP_ROWS    512.0 /* of a strip that is not stored */
#define STRIP_BYTES   (4.0 * MiB)
#define STRIP_GROUP   (16.0 * MiB) /* bytes of landmarks on a rank at a time, at most */
#define PANEL_BYTES   (16.0 * MiB) /* of a panel of a normal matrix, at least */
#define PATH_PANEL    (32.0 * MiB) /* of one of a ridge path, at most ... */
#define PATH_COLS     256.0        /* ... and its columns */
#define ROUND         (16.0 * MiB) /* of rows on their way to another layout */
#define PCG_STEPS     20.0         /* where nothing is known; */
#define EXACT_STEPS   60.0         /* with all inputs as basis */
#define SINGLE_FROM   20000        /* inputs from which kernel values are single precision */
#define NARROW_TILE   128.0        /* columns of a tile that crosses the diagonal */
#define STORED_SPARE  1.1          /* of tiles that store a triangle */
#define BLOCK_PIVOTED 96.0         /* proposals of a round of random pivoting, */
#define TAKEN_PIVOTED 75.0         /* of which so many are taken */
#define PILOT_MOST    2000.0       /* of the pilot sample of leverage scores */
#define BOUND_ROUNDS  22.0         /* of block Lanczos for both ends of a spectrum, ... */
#define BOUND_BLOCK   8.0
#define BOUND_SUMS    750.0 /* ... and numbers that each sums over all ranks */
#define SMALL_SVD     22.0  /* n^3 operations of a singular value decomposition of order n */
#define SLOW_SVD      4.0   /* times longer than a product of as many */
#define EIGEN_CUBE    20.0  /* an eigendecomposition, in factors of the same order */

/* The landmarks as if they were all examples. */
static dkm_cost_terms of_landmarks(const dkm_cost_terms *p)
{
    dkm_cost_terms small = *p;

    small.work.m = p->landmarks;
    small.work.block = dkm_shape_block(p->work.P, p->work.Q, p->landmarks);
    return small;
}

static double others(const dkm_cost_terms *p)
{
    return 1.0 - 1.0 / p->work.ranks;
}

/* Bytes of a kernel value to a landmark. */
static double value_bytes(const dkm_cost_terms *p)
{
    return p->single ? 4.0 : 8.0;
}

/* Bytes of K_mn on a rank: of all of it, or of the strip at hand and all landmarks. */
static double kept_values(const dkm_cost_terms *p, double width)
{
    double n = (double)p->landmarks, rows = fmin(STRIP_ROWS, fmax(32.0, STRIP_BYTES / width / n));

    return p->values_recomputed ? width * rows * n + n * p->work.x_bytes
                                : width * dkm_cost_slab(p) * n;
}

/* A group of the landmarks on its way to all ranks. */
static double landmark_group(const dkm_cost_terms *p)
{
    return p->values_recomputed
               ? 0.0
               : fmin(fmin((double)p->landmarks, STRIP_COLS) * p->work.x_bytes, STRIP_GROUP);
}

/* Seconds of kernel values to all landmarks. */
static double value_seconds(const dkm_cost_terms *p)
{
    const dkm_rates *c = p->rates;
    double d = (double)p->work.x_cols;

    return c && d > 0 ? dkm_cost_slowdown(p, c) * (double)p->work.m * (double)p->landmarks *
                            (c->gram_column * d + c->gram_element)
                      : NAN;
}

/* Seconds of so many operations of all ranks in products and factors. */
static double cube_seconds(const dkm_cost_terms *p, double flops)
{
    return p->rates ? dkm_cost_slowdown(p, p->rates) * p->rates->double_cube * flops : NAN;
}

/* Seconds of a pass of @p k columns over stored kernel values. */
static double pass_seconds(const dkm_cost_terms *p, double values, double k)
{
    const dkm_rates *c = p->rates;

    return c ? dkm_cost_slowdown(p, c) * values * (c->solve_column * k + c->solve_square) : NAN;
}

/* Rows of m x n numbers to the grid, or back. */
static dkm_comm rows_comm(const dkm_cost_terms *p, double numbers)
{
    return (dkm_comm){8.0 * numbers / p->work.ranks * others(p), 0.0, 4.0};
}

/* How the landmarks are chosen: solvers/landmarks. Uniform ones travel to their owners alone. */
void dkm_cost_add_landmark_choice(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    double n = (double)p->landmarks, rows = dkm_cost_slab(p), m = (double)p->work.m,
           d = (double)p->work.x_cols, blocks = ceil(n / TAKEN_PIVOTED),
           pilot = fmin(n / 2.0, PILOT_MOST), sides = 1.0 / p->work.P + 1.0 / p->work.Q,
           bytes = p->work.x_bytes * n / p->work.ranks, allocated = held, flops = 0.0;
    dkm_comm comm = dkm_comm_small(100.0);

    if (p->work.ranks == 1)
        comm = (dkm_comm){0.0, 0.0, 0.0};
    else if (p->choice == DKM_LANDMARKS_PIVOTED)
        bytes = 8.0 * BLOCK_PIVOTED * blocks *
                (BLOCK_PIVOTED + 0.5 * (BLOCK_PIVOTED - 11.0) * (blocks - 1.0));
    else if (p->choice == DKM_LANDMARKS_LEVERAGE)
        bytes = pilot * p->work.x_bytes + 8.0 * pilot * pilot * (1.0 + 0.55 * sides);
    else if (p->choice == DKM_LANDMARKS_FARTHEST || p->choice == DKM_LANDMARKS_CHOLESKY)
        bytes = 1.6 * n * p->work.x_bytes;
    if (p->choice == DKM_LANDMARKS_PIVOTED) {
        allocated +=
            8.0 * rows * (n + BLOCK_PIVOTED) + 8.0 * BLOCK_PIVOTED * (n + 2.0 * BLOCK_PIVOTED);
        flops = 2.0 * m * n * d + m * n * n;
    } else if (p->choice == DKM_LANDMARKS_CHOLESKY) {
        allocated += 8.0 * rows * n;
        flops = 2.0 * m * n * d + m * n * n;
    } else if (p->choice == DKM_LANDMARKS_LEVERAGE) {
        allocated += 8.0 * pilot * pilot;
        flops = 2.0 * m * pilot * d + 2.0 * m * pilot * pilot;
    }
    comm.bytes += bytes;
    dkm_cost_add_phase(out, "landmarks", allocated, flops, p->rates ? cube_seconds(p, flops) : NAN);
    dkm_cost_note_phase(out, allocated, comm);
}

/* Inputs and landmarks: the landmarks pass by all ranks in groups, their Gram matrix and what
 * preconditions are on the grid. Rows of the sketch that no input of a rank goes to are not sent. */
static void add_sketch(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double m = (double)p->work.m, n = (double)p->landmarks, ranks = p->work.ranks,
           sketched = fmin(m, SKETCH_ROWS * n), share = m / ranks,
           hit = m > SKETCH_ROWS * n ? sketched * (1.0 - exp(-SKETCH_HITS * share / sketched))
                                     : share,
           matrices = 8.0 * dkm_cost_elements(&small), group = landmark_group(p),
           panel = 8.0 * sketched * fmin(n, SKETCH_COLS), flops = sketched * n * n,
           products =
               ranks > 1 ? 16.0 * fmin(sketched, SYRK_ROWS) * (n / p->work.P + n / p->work.Q) : 0.0;
    dkm_comm comm = dkm_comm_gram(&g, p->work.x_bytes);

    if (p->values_recomputed)
        dkm_cost_replicate(out, "landmarks, n d numbers", n * p->work.x_bytes);
    else
        dkm_cost_replicate(out, "a group of landmarks on their way, 512 d numbers", group);
    dkm_cost_replicate(out, "a panel of the sketch, 3 n x 128", panel);
    comm.bytes += 8.0 * n * hit * others(p);
    comm.messages += ranks - 1.0;
    dkm_comm_add(&comm, 1.0, dkm_comm_small(100.0));
    comm.bytes += 8.0 * sketched * n *
                  ((1.0 - 1.0 / p->work.Q) / p->work.P + (1.0 - 1.0 / p->work.P) / p->work.Q);
    dkm_cost_add_phase(out, "sketch", held + fmax(fmax(group, panel), products) + 8.0 * matrices,
                       2.0 * m * n * (double)p->work.x_cols + flops,
                       value_seconds(p) + cube_seconds(p, flops));
    dkm_cost_note_phase(out,
                        held +
                            fmax(group, fmax(panel * (1.0 + 2.0 / ranks), products) +
                                            (1.0 + SKETCH_ROWS) * matrices) +
                            matrices,
                        comm);
}

/* G = K_nm K_mn: sums of panels go to their owners. */
static void add_moments(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double m = (double)p->work.m, n = (double)p->landmarks,
           matrices = 8.0 * dkm_cost_elements(&small), panel = fmin(8.0 * n * n, PANEL_BYTES),
           group = landmark_group(p), flops = m * n * n;
    dkm_comm comm = dkm_comm_gram(&g, p->work.x_bytes);

    dkm_comm_add(&comm, 1.0, dkm_comm_sum_to_owners(&g));
    comm.bytes += n * p->work.x_bytes;
    dkm_comm_add(&comm, 1.0, dkm_comm_small(60.0));
    dkm_cost_replicate(out, "a panel of the normal matrix, n x n or 16 MiB", panel);
    dkm_cost_add_phase(
        out, "moments", held + fmax(group, panel * (1.0 + 4.0 / p->work.ranks)) + 2.0 * matrices,
        2.0 * m * n * (double)p->work.x_cols + flops, value_seconds(p) + cube_seconds(p, flops));
    dkm_cost_note_phase(
        out, held + fmax(group, panel * (1.0 + 4.0 / p->work.ranks)) + 2.0 * matrices, comm);
}

/* The factor of what preconditions, and where @p twice that of K_nn. */
static void add_small_factor(dkm_cost *out, const dkm_cost_terms *p, int times, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double n = (double)p->landmarks, matrices = 8.0 * dkm_cost_elements(&small),
           flops = times * n * n * n / 3.0;
    dkm_comm comm = dkm_comm_small(10.0);

    dkm_comm_add(&comm, times, dkm_comm_factor(&g, 8.0));
    dkm_comm_add(&comm, 1.0, dkm_comm_symmetrize(&g));
    dkm_comm_add(&comm, 3.0, dkm_comm_product(&g, 1.0));
    dkm_cost_add_phase(out, "factor", held + 3.0 * matrices, flops,
                       p->rates ? cube_seconds(p, flops) + dkm_cost_slowdown(p, p->rates) *
                                                               p->rates->double_square * n * n
                                : NAN);
    dkm_cost_note_phase(out, held + 2.0 * matrices + dkm_comm_factor_panels(&g, 8.0), comm);
}

/* What a step sends for landmarks: n k numbers gathered and reduced, and a small solve. */
static dkm_comm step_comm(const dkm_cost_terms *p, const dkm_comm_grid *g)
{
    double k = (double)p->outputs;
    dkm_comm comm = dkm_comm_small(10.0);

    dkm_comm_add(&comm, 1.0, dkm_comm_product(g, k));
    dkm_comm_add(&comm, 1.0, dkm_comm_solve(g, k, 8.0));
    comm.bytes += 8.0 * g->m * k * (1.0 + 1.0 / p->work.ranks);
    comm.collectives += 8.0;
    return comm;
}

/* Steps with landmarks as basis: two passes over K_mn each. */
static void add_landmark_steps(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double k = (double)p->outputs, values = (double)p->work.m * (double)p->landmarks,
           steps = 2.0 + (p->work.iterations > 0 ? (double)p->work.iterations : PCG_STEPS);
    dkm_comm comm = {0}, each = step_comm(p, &g);

    held += 16.0 * dkm_cost_elements(&small);
    dkm_comm_add(&comm, steps, each);
    dkm_cost_add_phase(
        out, "iterate", held, 4.0 * values * k * steps,
        steps * (pass_seconds(p, values, k) + (p->values_recomputed ? value_seconds(p) : 0.0)));
    dkm_cost_note_phase(out, held, comm);
}

/* The kernel matrix of all inputs: its lower triangle is stored, or it is computed in every step. */
static void add_all_steps(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small), all = dkm_cost_grid(p);
    double m = (double)p->work.m, k = (double)p->outputs, d = (double)p->work.x_cols,
           values = m * m / 2.0,
           steps = 1.0 + (p->work.iterations > 0 ? (double)p->work.iterations : EXACT_STEPS),
           gram = c && d > 0
                      ? dkm_cost_slowdown(p, c) * values * (c->gram_column * d + c->gram_element)
                      : NAN,
           beside = dkm_cost_beside_gram(p, p->work.x_bytes, d);
    dkm_comm comm = {0}, each = step_comm(p, &g);

    held += 16.0 * dkm_cost_elements(&small) + beside + 5.0 * 8.0 * dkm_cost_slab(p) * k;
    if (!p->values_recomputed)
        held += 8.0 * fmin(m, NARROW_TILE) * ceil(m / p->work.P) +
                STORED_SPARE * value_bytes(p) * m * m / 2.0 / (p->work.P * p->work.Q);
    dkm_comm_add(&each, 1.0, dkm_comm_product(&all, k));
    dkm_comm_add(&comm, steps, each);
    dkm_comm_add(&comm, p->values_recomputed ? steps : 1.0, dkm_comm_gram(&all, p->work.x_bytes));
    dkm_cost_add_phase(
        out, "iterate", held,
        (p->values_recomputed ? steps : 1.0) * 2.0 * values * d + 4.0 * values * k * steps,
        (p->values_recomputed ? steps : 1.0) * gram +
            steps * (2.0 * pass_seconds(p, values, k) + pass_seconds(p, m * g.m, k)));
    dkm_cost_note_phase(out, held, comm);
}

void dkm_cost_add_pcg(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_add_landmark_choice(out, p, held);
    held += kept_values(p, value_bytes(p));
    if (p->all_centers) {
        add_moments(out, p, held);
        add_small_factor(out, p, 2, held);
        add_all_steps(out, p, held);
    } else {
        add_sketch(out, p, held);
        add_small_factor(out, p, 1, held);
        add_landmark_steps(out, p, held);
    }
    dkm_cost_replicate(out, "coefficients on their way, 2 n k",
                       16.0 * (double)p->landmarks * (double)p->outputs);
}

/* Both ends of the spectrum of K_nn, its square root by two tall-skinny QR of its columns, a factor
 * and a third, and what that leaves of K_nn (solvers/extrapolate). */
static void add_root(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    const dkm_rates *c = p->rates;
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double n = (double)p->landmarks, ranks = p->work.ranks, square = 8.0 * n * n,
           serial = 3.0 * SMALL_SVD * n * n * n, flops = (3.0 * 2.0 + 3.0) * n * n * n;
    dkm_comm comm = dkm_comm_small(100.0);

    dkm_comm_add(&comm, BOUND_ROUNDS, dkm_comm_product(&g, BOUND_BLOCK));
    dkm_comm_add(&comm, BOUND_ROUNDS, dkm_comm_allreduce(&g, BOUND_SUMS));
    dkm_comm_add(&comm, 3.0, dkm_comm_tsqr(&g));
    comm.bytes += 3.0 * square / ranks * (ranks > 1 ? 1.0 : 0.0);
    dkm_comm_add(&comm, 1.0, dkm_comm_factor(&g, 8.0));
    dkm_comm_add(&comm, 1.0, dkm_comm_trsm(&g, n));
    dkm_comm_add(&comm, 3.0, rows_comm(p, n * n));
    dkm_comm_add(&comm, 2.0, dkm_comm_symmetrize(&g));
    dkm_comm_add(&comm, 1.0, dkm_comm_syrk(&g));
    held += square * (9.0 + 3.0 / ranks);
    dkm_cost_replicate(out, "triangles and vectors of the square root of K_nn, 5 n^2",
                       5.0 * square);
    dkm_cost_add_phase(out, "extrapolate", held, flops + serial,
                       c ? cube_seconds(p, flops) + SLOW_SVD * serial / c->rank_gemm_double : NAN);
    dkm_cost_note_phase(out, held, comm);
}

/* K_mn on the grid, and from there to coordinates in slabs. */
static void add_coordinates(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double m = (double)p->work.m, n = (double)p->landmarks, rows = 8.0 * dkm_cost_slab(p) * n,
           flops = 2.0 * m * n * n;
    dkm_comm comm = dkm_comm_cross(&g, m, p->work.x_bytes);

    dkm_comm_add(&comm, 1.0, rows_comm(p, m * n));
    held += 2.0 * rows + 2.0 * fmin(rows, ROUND);
    dkm_cost_add_phase(out, "coordinates", held, 2.0 * m * n * (double)p->work.x_cols + flops,
                       value_seconds(p) + cube_seconds(p, flops));
    dkm_cost_note_phase(out, held, comm);
}

/* Whether one eigendecomposition serves all gammas better than a factor for each, as
 * solvers/ridge_path takes it to be. */
static int takes_eigen(const dkm_cost_terms *p, double order)
{
    double rows = 3.0 * (double)p->work.m * order * order, cube = order * order * order;

    if (p->gammas < 2 || p->solver != DKM_PATH_AUTO)
        return p->solver == DKM_PATH_EIGEN || p->solver == DKM_PATH_BAND;
    return EIGEN_CUBE * cube + 2.0 * rows < (double)p->gammas * (cube + rows);
}

/* Errors of all gammas: the inputs on the grid times L^-T for each, or times the eigenvectors once.
 */
static dkm_comm errors_comm(const dkm_cost_terms *p, const dkm_comm_grid *g, int eigen)
{
    double m = (double)p->work.m;
    dkm_comm comm = rows_comm(p, m * g->m);

    comm.bytes += 8.0 * m * g->m / g->P * (1.0 - 1.0 / g->Q);
    if (eigen)
        dkm_comm_add(&comm, 1.0, dkm_comm_full_eigen(g));
    comm.messages += 4.0 * ceil(g->m / g->block);
    return comm;
}

void dkm_cost_add_primal(dkm_cost *out, const dkm_cost_terms *p, double columns, double held)
{
    dkm_cost_terms small = *p;
    dkm_comm_grid g;
    double m = (double)p->work.m, k = columns, count = fmax(1.0, (double)p->gammas),
           panel = fmin(fmin(8.0 * k * k, PATH_PANEL), 8.0 * k * PATH_COLS), matrices, flops,
           rows = 8.0 * dkm_cost_slab(p) * k, spread;
    int eigen = takes_eigen(p, k);
    dkm_comm comm;

    small.work.m = (dkm_idx)k;
    small.work.block = dkm_shape_block(p->work.P, p->work.Q, small.work.m);
    g = dkm_cost_grid(&small);
    matrices = 8.0 * dkm_cost_elements(&small);
    spread = 8.0 * (double)dkm_cyclic_count(p->work.m, small.work.block, 0, p->work.P) *
             (double)dkm_cyclic_count(small.work.m, small.work.block, 0, p->work.Q);
    comm = dkm_comm_sum_to_owners(&g);
    comm.bytes += 8.0 * k * (double)p->outputs;
    dkm_cost_add_phase(out, "moments", held + panel * (1.0 + 4.0 / p->work.ranks) + matrices,
                       m * k * k, cube_seconds(p, m * k * k));
    dkm_cost_note_phase(out, held + panel * (1.0 + 4.0 / p->work.ranks) + matrices, comm);
    comm = dkm_comm_small(30.0);
    for (int g_ = 0; g_ < (eigen ? 1 : (int)count); g_++) {
        dkm_comm_add(&comm, 1.0, eigen ? dkm_comm_full_eigen(&g) : dkm_comm_factor(&g, 8.0));
        dkm_comm_add(&comm, 0.7, dkm_comm_trsm(&g, k));
        if (p->errors)
            dkm_comm_add(&comm, 1.0, errors_comm(p, &g, 0));
    }
    flops = eigen ? EIGEN_CUBE * k * k * k / 3.0 : count * k * k * k / 3.0;
    flops += p->errors ? (eigen ? 2.0 : count) * m * k * k : 0.0;
    held += 3.0 * matrices + dkm_comm_factor_panels(&g, 8.0) +
            (p->errors ? 2.0 * rows + (eigen ? 3.0 : 2.0) * spread : 0.0);
    dkm_cost_add_phase(out, "solve", held, flops, cube_seconds(p, flops));
    dkm_cost_note_phase(out, held, comm);
}

void dkm_cost_add_nystroem(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double n = (double)p->landmarks, square = 8.0 * n * n;
    dkm_comm comm = dkm_comm_gram(&g, p->work.x_bytes);

    dkm_cost_add_landmark_choice(out, p, held);
    dkm_comm_add(&comm, 1.0, dkm_comm_symmetrize(&g));
    dkm_comm_add(&comm, 2.0, rows_comm(p, n * n));
    held += 8.0 * dkm_cost_elements(&small);
    dkm_cost_add_phase(out, "gram", held + 3.0 * square / p->work.ranks,
                       n * n * (double)p->work.x_cols, cube_seconds(p, n * n));
    dkm_cost_note_phase(out, held + 3.0 * square / p->work.ranks, comm);
    add_root(out, p, held);
    held += dkm_cost_replicate(out, "square root of K_nn, n^2", square);
    add_coordinates(out, p, held);
    held += 8.0 * dkm_cost_slab(p) * n;
    dkm_cost_add_primal(out, p, n, held);
}

/* L^-1 G L^-T, and its eigenpairs. */
static void add_whitening(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    dkm_comm_grid g = dkm_cost_grid(&small);
    double n = (double)p->landmarks, flops = 2.0 * n * n * n;
    dkm_comm comm = dkm_comm_symmetrize(&g);

    dkm_comm_add(&comm, 2.0, dkm_comm_trsm(&g, n));
    dkm_comm_add(&comm, 1.0, dkm_comm_trsm(&g, (double)p->components));
    dkm_cost_add_phase(out, "whiten", held, flops, cube_seconds(p, flops));
    dkm_cost_note_phase(out, held, comm);
}

void dkm_cost_add_landmark_components(dkm_cost *out, const dkm_cost_terms *p, double held)
{
    dkm_cost_terms small = of_landmarks(p);
    double matrices = 8.0 * dkm_cost_elements(&small);

    held += kept_values(p, 8.0); /* in double, whatever the precision of a system */
    add_moments(out, p, held);
    held += 2.0 * matrices;
    add_small_factor(out, p, 1, held - matrices);
    add_whitening(out, p, held + 2.0 * matrices);
    dkm_cost_add_eigen(out, &small, held);
    dkm_cost_replicate(out, "means of the kernel values of landmarks, 2 n",
                       16.0 * (double)p->landmarks);
}

int dkm_cost_single_values(dkm_ridge_precision precision, dkm_idx m)
{
    return precision == DKM_RIDGE_AUTO ? m >= SINGLE_FROM : precision != DKM_RIDGE_DOUBLE;
}
