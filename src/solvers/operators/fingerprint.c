/* f_k(A) = sum_ij u_k(i) v_k(j) a_ij with independent random u and v. */
#include "solvers/operators/fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "io/checkpoint/checkpointer.h"
#include "matrix/dmat_impl.h"

#define ROW_STREAM    0x66706cu
#define COLUMN_STREAM 0x667072u
#define DIGITS        8 /* of matrices in double precision */
#define COARSE        5 /* of those in single precision, or products of such */

enum { SQUARES, FIRST, SECOND, SUMS };

static double row_weight(int k, dkm_idx i)
{
    return dkm_random_uniform(0, ROW_STREAM, (uint64_t)i, (uint64_t)k) - 0.5;
}

static double column_weight(int k, dkm_idx j)
{
    return dkm_random_uniform(0, COLUMN_STREAM, (uint64_t)j, (uint64_t)k) - 0.5;
}

static void write_text(dkm_ctx *ctx, double sums[SUMS], dkm_precision precision, char *text)
{
    int digits = precision == DKM_F64 ? DIGITS : COARSE;
    double norm;

    MPI_Allreduce(MPI_IN_PLACE, sums, SUMS, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    norm = sqrt(sums[SQUARES]);
    snprintf(text, DKM_FINGERPRINT_LENGTH, "%.*g:%.*f:%.*f", digits, norm, digits,
             norm > 0 ? sums[FIRST] / norm : 0.0, digits, norm > 0 ? sums[SECOND] / norm : 0.0);
}

/* Column by column of the block-cyclic layout; a rank outside the grid has none. */
static void add_lower(const dkm_dmat *A, double *sums)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(A, jl);
        double column[SUMS] = {0};
        for (dkm_idx il = 0; il < A->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(A, il);
            double a = ig < jg ? 0.0 : dkm_dmat_at(A, il, jl);
            if (a == 0)
                continue;
            column[SQUARES] += a * a;
            column[FIRST] += row_weight(0, ig) * a;
            column[SECOND] += row_weight(1, ig) * a;
        }
        sums[SQUARES] += column[SQUARES];
        sums[FIRST] += column_weight(0, jg) * column[FIRST];
        sums[SECOND] += column_weight(1, jg) * column[SECOND];
    }
}

void dkm_fingerprint_lower(const dkm_dmat *A, char text[DKM_FINGERPRINT_LENGTH])
{
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(A));
    double sums[SUMS] = {0};

    *text = '\0';
    if (!dkm_checkpointer_enabled(ctx))
        return;
    add_lower(A, sums);
    write_text(ctx, sums, dkm_dmat_precision(A), text);
}

void dkm_fingerprint_slab(const dkm_multivec *B, dkm_idx m, dkm_precision precision,
                          char text[DKM_FINGERPRINT_LENGTH])
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(B->ctx), dkm_ctx_size(B->ctx));
    double sums[SUMS] = {0};

    *text = '\0';
    if (!dkm_checkpointer_enabled(B->ctx))
        return;
    for (dkm_idx i = 0; i < B->n; i++) {
        double row[SUMS] = {0};
        for (dkm_idx j = 0; j < B->cols; j++) {
            double b = B->a[i * B->ld + j];
            row[SQUARES] += b * b;
            row[FIRST] += column_weight(0, j) * b;
            row[SECOND] += column_weight(1, j) * b;
        }
        sums[SQUARES] += row[SQUARES];
        sums[FIRST] += row_weight(0, first + i) * row[FIRST];
        sums[SECOND] += row_weight(1, first + i) * row[SECOND];
    }
    write_text(B->ctx, sums, precision, text);
}
