#include <dkmap/dmat.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "core/uniform.h"
#include "matrix/dmat_impl.h"

#define PAGE        4096.0
#define LARGE_BLOCK 33554432.0 /* bytes that come in large pages, */
#define LARGE_WASTE 0.125      /* of which the triangle leaves such a part of the matrix unused */

static size_t dmat_element_size(dkm_precision precision)
{
    return precision == DKM_F64 ? sizeof(double) : sizeof(float);
}

static dkm_local dmat_check_sizes(dkm_ctx *ctx, dkm_idx m, dkm_idx n, dkm_idx mb, dkm_idx nb)
{
    if (m < 0 || n < 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "a matrix cannot be %lld x %lld", (long long)m,
                        (long long)n);
    if (mb < 1 || nb < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "block size %lld x %lld: both must be at least 1",
                        (long long)mb, (long long)nb);
    if (m > INT_MAX || n > INT_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE,
                        "%lld x %lld: ScaLAPACK takes at most %d rows or columns", (long long)m,
                        (long long)n, INT_MAX);
    return DKM_LOCAL_OK;
}

int dkm_scalapack_indexes(const dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb, dkm_idx nb)
{
    return dkm_cyclic_count(m, mb, 0, dkm_grid_rows(grid)) *
               dkm_cyclic_count(n, nb, 0, dkm_grid_cols(grid)) <=
           INT_MAX;
}

int dkm_dmat_suits_scalapack(const dkm_dmat *A)
{
    return dkm_scalapack_indexes(A->grid, A->m, A->n, A->mb, A->nb);
}

/* ScaLAPACK indexes a local array with 32-bit integers. */
static dkm_local dmat_check_local_array(dkm_ctx *ctx, const dkm_dmat *A)
{
    double ranks = (double)A->m * (double)A->n / (double)INT_MAX;

    if (A->ld * (A->n_loc > 0 ? A->n_loc : 1) <= INT_MAX)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_SIZE,
                    "a %lld x %lld matrix gives this rank %lld x %lld elements, more than the "
                    "2^31-1 that ScaLAPACK can index: use at least %.0f ranks",
                    (long long)A->m, (long long)A->n, (long long)A->ld, (long long)A->n_loc,
                    ceil(ranks));
}

static dkm_local dmat_alloc(dkm_ctx *ctx, dkm_dmat *A)
{
    return dkm_calloc_at(ctx, __FILE__, __LINE__, A->ld * A->n_loc, dmat_element_size(A->precision),
                         &A->a.any);
}

dkm_status dkm_dmat_create_shape(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb, dkm_idx nb,
                                 dkm_precision precision, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_dmat *B = NULL;

    *A = NULL;
    DKM_AGREE(ctx, dmat_check_sizes(ctx, m, n, mb, nb));
    DKM_CHECK_UNIFORM(ctx, m);
    DKM_CHECK_UNIFORM(ctx, n);
    DKM_CHECK_UNIFORM(ctx, mb);
    DKM_CHECK_UNIFORM(ctx, nb);
    DKM_CHECK_UNIFORM(ctx, precision);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &B));
    *B = (dkm_dmat){.grid = grid, .precision = precision, .m = m, .n = n, .mb = mb, .nb = nb};
    B->m_loc = dkm_cyclic_count(m, mb, dkm_grid_row(grid), dkm_grid_rows(grid));
    B->n_loc = dkm_cyclic_count(n, nb, dkm_grid_col(grid), dkm_grid_cols(grid));
    if (dkm_grid_row(grid) < 0)
        B->m_loc = B->n_loc = 0;
    B->ld = B->m_loc > 0 ? B->m_loc : 1;
    *A = B;
    B = NULL;
out:
    dkm_dmat_destroy(&B);
    return status;
}

dkm_status dkm_dmat_create(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb, dkm_idx nb,
                           dkm_precision precision, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_dmat *B = NULL;

    *A = NULL;
    DKM_TRY(dkm_dmat_create_shape(grid, m, n, mb, nb, precision, &B));
    DKM_AGREE(ctx, dmat_check_local_array(ctx, B));
    DKM_AGREE(ctx, dmat_alloc(ctx, B));
    *A = B;
    B = NULL;
out:
    dkm_dmat_destroy(&B);
    return status;
}

double dkm_lower_bytes(double rows, double cols, double size)
{
    double all = size * rows * cols;
    int large =
        0.5 * all >= LARGE_BLOCK && all <= (double)DKM_LARGE_LOWER_MOST && dkm_has_large_pages();

    return fmin(all, (0.5 + (large ? LARGE_WASTE : 0.0)) * all + 0.5 * PAGE * cols);
}

static dkm_local dmat_alloc_lower(dkm_ctx *ctx, dkm_dmat *A)
{
    size_t size = dmat_element_size(A->precision);
    double touched = dkm_lower_bytes((double)A->m_loc, (double)A->n_loc, (double)size);

    return dkm_calloc_sparse_at(ctx, __FILE__, __LINE__, A->ld * A->n_loc, size, (int64_t)touched,
                                &A->a.any);
}

dkm_status dkm_dmat_create_lower(dkm_grid *grid, dkm_idx n, dkm_idx nb, dkm_precision precision,
                                 dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_dmat *B = NULL;

    *A = NULL;
    DKM_TRY(dkm_dmat_create_shape(grid, n, n, nb, nb, precision, &B));
    DKM_AGREE(dkm_grid_ctx(grid), dmat_alloc_lower(dkm_grid_ctx(grid), B));
    *A = B;
    B = NULL;
out:
    dkm_dmat_destroy(&B);
    return status;
}

void dkm_dmat_want_large_pages_lower(dkm_dmat *A)
{
    int p = dkm_grid_row(A->grid), P = dkm_grid_rows(A->grid);
    dkm_idx cols = 0, size = (dkm_idx)dmat_element_size(A->precision);

    if (A->ld * A->n_loc > DKM_LARGE_LOWER_MOST / size)
        return;
    while (cols < A->n_loc &&
           dkm_cyclic_count(dkm_dmat_global_col(A, cols), A->mb, p, P) <= A->m_loc / 2)
        cols++;
    dkm_want_large_pages(A->a.any, (size_t)(A->ld * cols * size));
}

dkm_status dkm_dmat_create_like(const dkm_dmat *A, dkm_idx n, dkm_idx nb, dkm_precision precision,
                                dkm_dmat **B)
{
    return dkm_dmat_create(A->grid, A->m, n, A->mb, nb, precision, B);
}

void dkm_dmat_destroy(dkm_dmat **A)
{
    dkm_dmat *B = *A;

    if (!B)
        return;
    dkm_free_block(B->a.any);
    dkm_free_block(B);
    *A = NULL;
}

dkm_grid *dkm_dmat_grid(const dkm_dmat *A)
{
    return A->grid;
}

dkm_idx dkm_dmat_rows(const dkm_dmat *A)
{
    return A->m;
}

dkm_idx dkm_dmat_cols(const dkm_dmat *A)
{
    return A->n;
}

dkm_idx dkm_dmat_row_block(const dkm_dmat *A)
{
    return A->mb;
}

dkm_idx dkm_dmat_col_block(const dkm_dmat *A)
{
    return A->nb;
}

dkm_precision dkm_dmat_precision(const dkm_dmat *A)
{
    return A->precision;
}

dkm_idx dkm_dmat_local_rows(const dkm_dmat *A)
{
    return A->m_loc;
}

dkm_idx dkm_dmat_local_cols(const dkm_dmat *A)
{
    return A->n_loc;
}

dkm_idx dkm_dmat_ld(const dkm_dmat *A)
{
    return A->ld;
}

double *dkm_dmat_f64(dkm_dmat *A)
{
    return A->precision == DKM_F64 ? A->a.f64 : NULL;
}

const double *dkm_dmat_f64_const(const dkm_dmat *A)
{
    return A->precision == DKM_F64 ? A->a.f64 : NULL;
}

float *dkm_dmat_f32(dkm_dmat *A)
{
    return A->precision == DKM_F32 ? A->a.f32 : NULL;
}

const float *dkm_dmat_f32_const(const dkm_dmat *A)
{
    return A->precision == DKM_F32 ? A->a.f32 : NULL;
}

dkm_idx dkm_dmat_global_row(const dkm_dmat *A, dkm_idx il)
{
    return dkm_cyclic_global(il, A->mb, dkm_grid_row(A->grid), dkm_grid_rows(A->grid));
}

dkm_idx dkm_dmat_global_col(const dkm_dmat *A, dkm_idx jl)
{
    return dkm_cyclic_global(jl, A->nb, dkm_grid_col(A->grid), dkm_grid_cols(A->grid));
}
