/* Centering in feature space: K <- H K H with H = I - 1 1'/m (Schoelkopf, Smola and Mueller 1998,
 * Neural Computation 10(5):1299-1319, doi:10.1162/089976698300017467). With r the means of the rows
 * of K and g their mean, element (i, j) loses r_i + r_j and gains g; a new row loses its own mean
 * instead. The sum of r_i and r_j is taken first, so the result is symmetric to the last bit.
 *
 * Cost per rank: 4 m^2 / ranks flops. The m means are replicated. */
#include <string.h>

#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"

static dkm_local center_check_square(const dkm_dmat *K)
{
    if (K->m == K->n)
        return DKM_LOCAL_OK;
    return dkm_fail(dkm_grid_ctx(K->grid), DKM_ERR_ARG, "a Gram matrix cannot be %lld x %lld",
                    (long long)K->m, (long long)K->n);
}

static double center_mean(const double *x, dkm_idx n)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += x[k];
    return n > 0 ? sum / (double)n : 0.0;
}

/* The sums of the rows are K 1. */
dkm_status dkm_gram_means(const dkm_dmat *K, double *means)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(K->m, rank, size), n = dkm_slab_count(K->m, rank, size);
    dkm_idx *counts = NULL, *starts;

    DKM_AGREE(ctx, center_check_square(K));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)size, &counts));
    starts = counts + size;
    for (dkm_idx i = 0; i < n; i++)
        means[first + i] = 1.0 / (double)K->n;
    DKM_TRY(dkm_symm_multivec('L', K, 1, means + first));
    for (int r = 0; r < size; r++) {
        starts[r] = dkm_slab_first(K->m, r, size);
        counts[r] = dkm_slab_count(K->m, r, size);
    }
    DKM_TRY(dkm_mpi_allgatherv(ctx, NULL, means, counts, starts, MPI_DOUBLE));
out:
    DKM_FREE(counts);
    return status;
}

dkm_status dkm_gram_center(dkm_dmat *K, double *means)
{
    dkm_status status = DKM_OK;
    double g;

    DKM_TRY(dkm_gram_means(K, means));
    g = center_mean(means, K->n);
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        for (dkm_idx il = 0; il < K->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(K, il), jg = dkm_dmat_global_col(K, jl);
            if (ig >= jg)
                dkm_dmat_put(K, il, jl, dkm_dmat_at(K, il, jl) - (means[ig] + means[jg]) + g);
        }
out:
    return status;
}

dkm_status dkm_gram_center_new(dkm_dmat *K, const double *means)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    double g = center_mean(means, K->n), *own = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, K->m_loc, &own));
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        for (dkm_idx il = 0; il < K->m_loc; il++)
            own[il] += dkm_dmat_at(K, il, jl);
    if (K->m_loc > 0)
        MPI_Allreduce(MPI_IN_PLACE, own, (int)K->m_loc, MPI_DOUBLE, MPI_SUM,
                      dkm_grid_row_comm(K->grid));
    for (dkm_idx il = 0; il < K->m_loc; il++)
        own[il] = own[il] / (double)K->n - g;
    for (dkm_idx jl = 0; jl < K->n_loc; jl++) {
        double mean_of_column = means[dkm_dmat_global_col(K, jl)];
        for (dkm_idx il = 0; il < K->m_loc; il++)
            dkm_dmat_put(K, il, jl, dkm_dmat_at(K, il, jl) - own[il] - mean_of_column);
    }
out:
    DKM_FREE(own);
    return status;
}
