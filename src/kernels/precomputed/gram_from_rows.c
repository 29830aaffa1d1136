/* A Gram matrix from a file, which must be square and symmetric. Symmetry is checked in the manner
 * of Freivalds (1977, IFIP Congress, pp. 839-842): for a symmetric matrix, products with a few
 * random vectors are the same from either triangle. Only if they differ is the matrix transposed,
 * which doubles the memory, to find the elements that differ.
 *
 * Cost per rank: 4 m^2 / ranks flops per random vector; the vectors are replicated. */
#include <math.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"

#define ASYMMETRY 1e-8 /* of the largest element, as numbers printed with ten digits may have */
#define SUSPICION 0.1  /* times that: what the products may differ by */
#define VECTORS   4
#define STREAM    0x73796du

static dkm_local gram_from_rows_check_square(const dkm_data *G)
{
    if (dkm_data_rows(G) == dkm_data_cols(G))
        return DKM_LOCAL_OK;
    return dkm_fail(dkm_data_ctx(G), DKM_ERR_ARG,
                    "a Gram matrix is square and this one has %lld rows and %lld columns",
                    (long long)dkm_data_rows(G), (long long)dkm_data_cols(G));
}

/* The worst pair of this rank: largest |A - T|, and where. */
static double worst_gap(const dkm_dmat *A, const dkm_dmat *T, dkm_idx *i, dkm_idx *j, double *size)
{
    double worst = 0;

    *i = *j = -1;
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++) {
            double a = dkm_dmat_at(A, il, jl), gap = fabs(a - dkm_dmat_at(T, il, jl));
            *size = fmax(*size, fabs(a));
            if (gap > worst) {
                worst = gap;
                *i = dkm_dmat_global_row(A, il);
                *j = dkm_dmat_global_col(A, jl);
            }
        }
    return worst;
}

/* Whether products with random vectors tell the triangles apart. */
static dkm_status suspect(const dkm_dmat *A, int *differs)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    int rank = dkm_ctx_rank(ctx), ranks = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(A->m, rank, ranks), mine = dkm_slab_count(A->m, rank, ranks);
    double *lower = NULL, *upper = NULL, most[2] = {0, 0};

    DKM_AGREE(ctx, dkm_alloc(ctx, mine * VECTORS, &lower));
    DKM_AGREE(ctx, dkm_alloc(ctx, mine * VECTORS, &upper));
    for (dkm_idx k = 0; k < mine * VECTORS; k++)
        lower[k] = upper[k] =
            dkm_random_normal(0, STREAM, (uint64_t)(first + k / VECTORS), (uint64_t)(k % VECTORS));
    DKM_TRY(dkm_symm_multivec('L', A, VECTORS, lower));
    DKM_TRY(dkm_symm_multivec('U', A, VECTORS, upper));
    for (dkm_idx k = 0; k < mine * VECTORS; k++)
        most[0] = fmax(most[0], fabs(lower[k] - upper[k]));
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            most[1] = fmax(most[1], fabs(dkm_dmat_at(A, il, jl)));
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    *differs = !(most[0] <= SUSPICION * ASYMMETRY * most[1]);
out:
    DKM_FREE(upper);
    DKM_FREE(lower);
    return status;
}

static dkm_status gram_from_rows_check_symmetric(const dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_local local = DKM_LOCAL_OK;
    dkm_dmat *T = NULL;
    dkm_idx i, j;
    double size = 0, gap;
    int differs = 0;

    DKM_TRY(suspect(A, &differs));
    if (!differs)
        return DKM_OK;
    DKM_TRY(dkm_dmat_create(A->grid, A->n, A->m, A->nb, A->mb, A->precision, &T));
    dkm_la_transpose(A, T);
    gap = worst_gap(A, T, &i, &j, &size);
    MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    if (gap > ASYMMETRY * size)
        local =
            dkm_fail(ctx, DKM_ERR_ARG,
                     "a Gram matrix is symmetric, and elements (%lld, %lld) and (%lld, %lld) of "
                     "this one differ by %.3g",
                     (long long)i, (long long)j, (long long)j, (long long)i, gap);
    DKM_AGREE(ctx, local);
out:
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_gram_from_rows(dkm_grid *grid, const dkm_data *G, dkm_idx nb, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *A = NULL;

    *K = NULL;
    DKM_AGREE(dkm_data_ctx(G), gram_from_rows_check_square(G));
    DKM_TRY(dkm_dmat_create(grid, dkm_data_rows(G), dkm_data_rows(G), nb, nb, DKM_F64, &A));
    DKM_TRY(dkm_dmat_from_rows(A, dkm_data_values_const(G)));
    DKM_TRY(gram_from_rows_check_symmetric(A));
    *K = A;
    A = NULL;
out:
    dkm_dmat_destroy(&A);
    return status;
}
