/* With a linear kernel Psi is an object itself: y = mean + z W'Y (the columns of W add up to
 * zero, so Y need not be centered). Cost: 2 m p d flops once, 2 p d per point; p d numbers are
 * replicated. */
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"
#include "preimage/linear_map.h"
#include "preimage/preimage.h"

#define COLUMNS_NUMBERS (1 << 20) /* of U at hand: 8 MiB */

static void preimage_linear_clear(void *state)
{
    dkm_linear_map_clear(state);
}

static int preimage_linear_accepts(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, "linear");
}

/* The mean of what the training objects stand for. */
static void find_mean(const dkm_embedding *e, double *mean)
{
    const dkm_data *X = e->fitted.X;
    dkm_idx d = dkm_data_cols(X), first = dkm_data_local_first(X);

    memset(mean, 0, (size_t)d * sizeof *mean);
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx k = 0; k < d; k++)
            mean[k] += dkm_embedding_weight(e, first + i) * dkm_data_values_const(X)[i * d + k];
    dkm_mpi_allreduce(mean, d, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(e->fitted.ctx));
}

/* Keep what of columns [first, first + count) of U, all of which are at hand, belongs here. */
static void keep_columns(dkm_dmat *U, dkm_idx first, dkm_idx count, const double *columns)
{
    int q = dkm_grid_col(U->grid), Q = dkm_grid_cols(U->grid);

    for (dkm_idx jl = q < 0 ? U->n_loc : dkm_cyclic_count(first, U->nb, q, Q);
         jl < U->n_loc && dkm_dmat_global_col(U, jl) < first + count; jl++)
        for (dkm_idx il = 0; il < U->m_loc; il++)
            dkm_dmat_put(
                U, il, jl,
                columns[dkm_dmat_global_row(U, il) * count + dkm_dmat_global_col(U, jl) - first]);
}

/* U = W'Y. Objects stay where they are: each rank multiplies its own rows W_r and Y_r, and what it
 * finds for some columns is added up over the ranks before the next. */
static dkm_status preimage_linear_multiply(const dkm_embedding *e, dkm_dmat *U)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->fitted.ctx;
    const dkm_data *Y = e->fitted.X;
    dkm_idx n = dkm_data_local_rows(Y), d = dkm_data_cols(Y), p = e->p;
    dkm_idx step = p < COLUMNS_NUMBERS ? COLUMNS_NUMBERS / p : 1;
    double *W = NULL, *columns = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * p, &W));
    DKM_AGREE(ctx, dkm_alloc(ctx, step * p, &columns));
    DKM_TRY(dkm_dmat_to_rows(e->W, W));
    dkm_blas_use_threads(ctx);
    for (dkm_idx first = 0; first < d; first += step) {
        dkm_idx count = d - first < step ? d - first : step;
        dkm_blas_gemm(DKM_F64, 'N', 'T', count, p, n, 1.0, dkm_data_values_const(Y) + first, d, W,
                      p, 0.0, columns, count);
        dkm_mpi_allreduce(columns, count * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
        keep_columns(U, first, count, columns);
    }
out:
    DKM_FREE(columns);
    DKM_FREE(W);
    return status;
}

/* U = W'Y and the mean. */
static dkm_status preimage_linear_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    dkm_linear_map *s = state;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    dkm_idx d = dkm_data_cols(fitted->X);

    DKM_AGREE(fitted->ctx, dkm_alloc(fitted->ctx, d, &s->mean));
    find_mean(pre->e, s->mean);
    DKM_TRY(dkm_dmat_create(fitted->grid, pre->e->p, d, fitted->nb, fitted->nb, DKM_F64, &s->U));
    DKM_TRY(preimage_linear_multiply(pre->e, s->U));
out:
    return status;
}

static dkm_status preimage_linear_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                        const dkm_data *Z, dkm_data **Y)
{
    (void)pre;
    (void)X;
    return dkm_linear_map_apply(state, Z, Y);
}

const dkm_preimage_kind dkm_preimage_linear = {.method = DKM_PREIMAGE_LINEAR,
                                               .state_size = sizeof(dkm_linear_map),
                                               .suits = preimage_linear_accepts,
                                               .prepare = preimage_linear_prepare,
                                               .solve = preimage_linear_solve,
                                               .clear = preimage_linear_clear};
