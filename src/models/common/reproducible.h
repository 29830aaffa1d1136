/** @file reproducible.h  Products and sums that come out the same on any number of ranks.
 *
 *  Rows spread in slabs are brought to all ranks a panel at a time; where panels begin depends on
 *  the width of the rows alone. Products add up their terms in the order of the index, in batches
 *  of fixed length; sums over ranks are carried in twice the precision.
 */
#ifndef DKMAP_MODELS_COMMON_REPRODUCIBLE_H
#define DKMAP_MODELS_COMMON_REPRODUCIBLE_H

#include <dkmap/context.h>

/** How many rows of @p width numbers a panel has. Local; does not depend on the rank. */
dkm_idx dkm_repro_panel_rows(dkm_idx width);

/** Bring rows [first, first + count) of a matrix of m rows to every rank. Collective.
 *  @param[in]  mine  this rank's slab, row-major, ld = width
 *  @param[out] rows  count x width */
DKM_NODISCARD dkm_status dkm_repro_gather(dkm_ctx *ctx, dkm_idx m, dkm_idx width,
                                          const double *mine, dkm_idx first, dkm_idx count,
                                          double *rows);

/** A row-major matrix, or a part of one. */
typedef struct dkm_row_block {
    const double *a;
    dkm_idx ld;
} dkm_row_block;

/** C = beta C + alpha A B, A m x k, B k x n, C m x n, all row-major, k > 0. Local. */
void dkm_repro_gemm(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A, dkm_row_block B,
                    double beta, double *C);
/** C = beta C + alpha A B', B n x k. Local. */
void dkm_repro_gemm_nt(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double beta, double *C);
/** C = C + alpha A'B, A k x m, B k x n with k at most a panel. Local. */
void dkm_repro_gemm_tn(dkm_idx m, dkm_idx n, dkm_idx k, double alpha, dkm_row_block A,
                       dkm_row_block B, double *C);

/** The power of 2 by which numbers are multiplied that add up as 64-bit integers: one up to @p bound becomes
 *  less than 2^62. Integers add up in any order, so that a sum does not depend on which rank adds
 *  what (fixed-point accumulation: Demmel and Nguyen 2015, IEEE Trans. Comput. 64(7):2060-2070,
 *  doi:10.1109/TC.2014.2345391, with one bin). Local. */
int dkm_fixed_point_bits(double bound);

/** The largest size of @p n numbers and @p most; NaN counts as infinite. Local. */
double dkm_largest_size(dkm_idx n, const double *a, double most);

/** A sum in twice the precision: hi + lo. */
typedef struct dkm_twosum {
    double hi, lo;
} dkm_twosum;

/** Add a number. Local. */
static inline void dkm_twosum_add(dkm_twosum *s, double x)
{
    double t = s->hi + x, z = t - s->hi;

    s->lo += (s->hi - (t - z)) + (x - z);
    s->hi = t;
}

/** Add up @p count sums over the ranks, in place: hi holds the result, lo is 0. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_twosum_allreduce(dkm_ctx *ctx, dkm_idx count, dkm_twosum *sums);

#endif
