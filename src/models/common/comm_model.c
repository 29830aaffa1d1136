/* What the distributed steps send and allocate per rank. P x Q is the grid, m the order; a matrix
 * that lies on it has m^2 / (P Q) numbers on a rank, and a vector m / P of them in a grid row. */
#include "models/common/comm_model.h"

#include <math.h>

#define WORD           8.0
#define OBJECT_EXTRA   14.0     /* bytes of an object on its way, beside its numbers */
#define SEGMENT_BYTES  262144.0 /* of a broadcast along a chain */
#define SEGMENTS       8.0
#define NARROW_COLUMNS 16.0 /* beyond which ScaLAPACK solves */
#define SMALL_BYTES    8.0  /* of an agreement */

static double ranks(const dkm_comm_grid *g)
{
    return g->P * g->Q;
}

/* Share of what is dealt anew that goes to another rank. */
static double moved(const dkm_comm_grid *g)
{
    return 1.0 - 1.0 / ranks(g);
}

/* Of the ranks of a line those that have something to pass on. */
static double passing(double line)
{
    return (line - 1.0) / line;
}

static double lines(const dkm_comm_grid *g)
{
    double a = g->P, b = g->Q;

    while (b > 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return g->P * g->Q / a; /* least common multiple */
}

void dkm_comm_add(dkm_comm *sum, double times, dkm_comm a)
{
    sum->bytes += times * a.bytes;
    sum->messages += times * a.messages;
    sum->collectives += times * a.collectives;
}

dkm_comm dkm_comm_gram(const dkm_comm_grid *g, double bytes)
{
    return (dkm_comm){g->m * (1.0 / g->P + 1.0 / g->Q) * moved(g) * (bytes + OBJECT_EXTRA),
                      2.0 * fmin(ranks(g) - 1.0, g->P + g->Q), 14.0};
}

/* Below the diagonal each block of columns goes along grid rows once by a tree, its transpose along
 * grid columns by a chain, and diagonal blocks down a grid column by a tree. */
dkm_comm dkm_comm_factor(const dkm_comm_grid *g, double width)
{
    double below = 0.5 * g->m * (g->m - g->block), blocks = ceil(g->m / g->block);
    double col = width * below / g->Q / blocks;
    double col_segments = fmax(1.0, fmin(SEGMENTS, floor(col / SEGMENT_BYTES)));

    return (dkm_comm){width * (below / g->P * passing(g->Q) + below / g->Q * passing(g->P) +
                               g->m * g->block * passing(g->P) / g->Q),
                      blocks * (passing(g->Q) + (col_segments + 2.0 / g->Q) * passing(g->P)), 2.0};
}

/* Blocks (i, j) and (j, i) are on one rank where i = j modulo both sides of the grid. */
dkm_comm dkm_comm_symmetrize(const dkm_comm_grid *g)
{
    return (dkm_comm){WORD * 0.5 * g->m * g->m / ranks(g) * (1.0 - 1.0 / lines(g)), 0.0, 2.0};
}

/* Rows travel to their homes, are gathered and reduced within grid rows and columns, and return. */
dkm_comm dkm_comm_product(const dkm_comm_grid *g, double k)
{
    double within = passing(g->Q) / g->P + passing(g->P) / g->Q;

    return (dkm_comm){WORD * g->m * k * (within + (2.0 + 4.0 * moved(g)) / ranks(g)),
                      g->P + g->Q - 2.0 + fmin(10.0, 4.0 * (ranks(g) - 1.0)), 6.0};
}

dkm_comm dkm_comm_solve(const dkm_comm_grid *g, double k, double width)
{
    double blocks = ceil(g->m / g->block), sides = 1.0 / g->P + 1.0 / g->Q;
    double words = g->m * k * (sides + 2.0 / ranks(g));

    if (k > NARROW_COLUMNS) /* p?trsm twice: the factor goes along grid rows or columns */
        return (dkm_comm){width *
                              (g->m * g->m * (passing(g->Q) / g->P + passing(g->P) / g->Q) / 2.0 +
                               g->m * k * sides),
                          2.0 * blocks * sides, 0.0};
    return (dkm_comm){width * words + WORD * 2.0 * g->m * k / ranks(g) * moved(g),
                      fmin(5.0, 2.0 * (ranks(g) - 1.0)), 2.0 * blocks * sides};
}

dkm_comm dkm_comm_cross(const dkm_comm_grid *g, double rows, double bytes)
{
    return (dkm_comm){(rows / g->P + g->m / g->Q) * moved(g) * (bytes + OBJECT_EXTRA),
                      2.0 * fmin(ranks(g) - 1.0, g->P + g->Q), 14.0};
}

dkm_comm dkm_comm_sum_to_owners(const dkm_comm_grid *g)
{
    return (dkm_comm){WORD * 0.5 * g->m * g->m * moved(g), ranks(g) - 1.0, 4.0};
}

dkm_comm dkm_comm_tsqr(const dkm_comm_grid *g)
{
    return (dkm_comm){ranks(g) > 1 ? WORD * g->m * g->m : 0.0, 1.0, 2.0};
}

/* Of three parts of the triangle two go along grid rows, or columns; the solution the other way. */
dkm_comm dkm_comm_trsm(const dkm_comm_grid *g, double k)
{
    double within = passing(g->Q) / g->P + passing(g->P) / g->Q;

    return (dkm_comm){WORD * within * (0.5 * g->m * g->m + 0.35 * g->m * k),
                      ceil(g->m / g->block) * (1.0 / g->P + 1.0 / g->Q), 0.0};
}

/* Measured, as it cannot be told by which of its algorithms PBLAS goes. */
dkm_comm dkm_comm_syrk(const dkm_comm_grid *g)
{
    return (dkm_comm){ranks(g) > 1 ? WORD * 0.8 * g->m * g->m * (1.0 / g->P + 1.0 / g->Q) : 0.0,
                      2.0 * ceil(g->m / g->block), 0.0};
}

/* Reduction to a band or tridiagonal form, and two products back: panels go along both sides. The
 * factors are those of ScaLAPACK's p?syevd. */
dkm_comm dkm_comm_full_eigen(const dkm_comm_grid *g)
{
    return (dkm_comm){ranks(g) > 1 ? WORD * g->m * g->m * (2.4 * (1.0 / g->P + 1.0 / g->Q) + 0.4)
                                   : 0.0,
                      3.0 * ceil(g->m / g->block) * log2(ranks(g) + 1.0), 2.0 * g->m};
}

dkm_comm dkm_comm_rows(const dkm_comm_grid *g, double k)
{
    return (dkm_comm){WORD * g->m * k / ranks(g) * moved(g), 0.0, 4.0};
}

dkm_comm dkm_comm_allreduce(const dkm_comm_grid *g, double n)
{
    return (dkm_comm){WORD * 2.0 * n * moved(g), 2.0 * log2(ranks(g)), 0.0};
}

dkm_comm dkm_comm_small(double collectives)
{
    return (dkm_comm){SMALL_BYTES * collectives, 0.0, collectives};
}

/* Rows, or columns, of the fullest of n ranks in a block-cyclic distribution: those of the first. */
static double fullest_part(const dkm_comm_grid *g, double n)
{
    double blocks = floor(g->m / g->block), rounds = floor(blocks / n);
    double last = blocks > rounds * n ? g->block : g->m - blocks * g->block;

    return rounds * g->block + last;
}

double dkm_comm_factor_panels(const dkm_comm_grid *g, double width)
{
    double m_loc = g->m / g->P, n_loc = g->m / g->Q;
    int wide = ranks(g) < 16 || 4.0 * 256.0 * (m_loc + n_loc) <= m_loc * n_loc;
    double panels = wide ? 2.0 : 3.0, wanted = wide ? 256.0 : 128.0;
    double blocks = fmin(ceil(wanted / g->block), ceil(g->m / g->block));
    double rows = fullest_part(g, g->P), cols = fullest_part(g, g->Q),
           columns = panels * blocks * g->block;

    return width * (columns * (rows + cols) + (g->P > 1 ? 2.0 : 1.0) * cols * g->block +
                    g->block * g->block);
}
