/** @file comm_model.h  What the distributed steps send and allocate, by the formulas of their files.
 *
 *  Bytes and messages are the mean of a rank, as --count-comm counts them: what is given to MPI.
 */
#ifndef DKMAP_MODELS_COMMON_COMM_MODEL_H
#define DKMAP_MODELS_COMMON_COMM_MODEL_H

#include <dkmap/estimate.h>

/** A square matrix of order m on a grid of P x Q ranks. */
typedef struct dkm_comm_grid {
    double m, block, P, Q;
} dkm_comm_grid;

typedef struct dkm_comm {
    double bytes, messages, collectives;
} dkm_comm;

/** @p times a, added to @p sum. */
void dkm_comm_add(dkm_comm *sum, double times, dkm_comm a);

/** Objects of @p bytes to the ranks whose rows and columns they are (kernels/gram). */
dkm_comm dkm_comm_gram(const dkm_comm_grid *g, double bytes);
/** A Cholesky factor of numbers of @p width bytes (linalg/factor/potrf.c). */
dkm_comm dkm_comm_factor(const dkm_comm_grid *g, double width);
/** One triangle copied to the other (matrix/symmetrize.c). */
dkm_comm dkm_comm_symmetrize(const dkm_comm_grid *g);
/** The product with @p k columns (linalg/symm/symm_multivec.c). */
dkm_comm dkm_comm_product(const dkm_comm_grid *g, double k);
/** Solving for @p k columns with a factor of numbers of @p width bytes
 *  (linalg/factor/potrs_multivec.c, and ScaLAPACK's p?trsm for more than 16). */
dkm_comm dkm_comm_solve(const dkm_comm_grid *g, double k, double width);
/** Objects of @p bytes, @p rows of them to the ranks of grid rows and m to those of columns. */
dkm_comm dkm_comm_cross(const dkm_comm_grid *g, double rows, double bytes);
/** A lower triangle that all ranks have a part of every number of (matrix/reduce_panel.c). */
dkm_comm dkm_comm_sum_to_owners(const dkm_comm_grid *g);
/** A triangle of tall-skinny QR with m columns on every rank (linalg/factor/tsqr.c). */
dkm_comm dkm_comm_tsqr(const dkm_comm_grid *g);
/** ScaLAPACK's p?trsm with @p k columns, p?syrk and an eigensolve, all pairs. */
dkm_comm dkm_comm_trsm(const dkm_comm_grid *g, double k);
dkm_comm dkm_comm_syrk(const dkm_comm_grid *g);
dkm_comm dkm_comm_full_eigen(const dkm_comm_grid *g);
/** Columns from the grid to slabs of rows, or back (matrix/redistribute.c). */
dkm_comm dkm_comm_rows(const dkm_comm_grid *g, double k);
/** Sums of @p n numbers over all ranks (comm/allreduce.c). */
dkm_comm dkm_comm_allreduce(const dkm_comm_grid *g, double n);
/** Agreements and other small collectives. */
dkm_comm dkm_comm_small(double collectives);

/** Bytes of the panels of a factor and of what is on its way (linalg/factor/potrf_update.c). */
double dkm_comm_factor_panels(const dkm_comm_grid *g, double width);

#endif
