/* What can be done to a distributed matrix without moving it: fill, diagonal, sums. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"

void dkm_dmat_fill(dkm_dmat *A, double (*value)(void *user, dkm_idx ig, dkm_idx jg), void *user)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            dkm_dmat_put(A, il, jl,
                         value(user, dkm_dmat_global_row(A, il), dkm_dmat_global_col(A, jl)));
}

/* Local row of the diagonal element in local column jl, or -1 when another process has it. */
static dkm_idx dmat_diagonal_row(const dkm_dmat *A, dkm_idx jl)
{
    dkm_idx jg = dkm_dmat_global_col(A, jl);
    int P = dkm_grid_rows(A->grid);

    if (jg >= A->m || dkm_cyclic_owner(jg, A->mb, P) != dkm_grid_row(A->grid))
        return -1;
    return dkm_cyclic_local(jg, A->mb, P);
}

void dkm_dmat_get_diagonal(const dkm_dmat *A, double *diagonal)
{
    for (dkm_idx jl = 0, k = 0; jl < A->n_loc; jl++) {
        dkm_idx il = dmat_diagonal_row(A, jl);
        if (il >= 0)
            diagonal[k++] = dkm_dmat_at(A, il, jl);
    }
}

void dkm_dmat_set_diagonal(dkm_dmat *A, const double *diagonal)
{
    for (dkm_idx jl = 0, k = 0; jl < A->n_loc; jl++) {
        dkm_idx il = dmat_diagonal_row(A, jl);
        if (il >= 0)
            dkm_dmat_put(A, il, jl, diagonal[k++]);
    }
}

void dkm_dmat_shift_diagonal(dkm_dmat *A, double shift)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx il = dmat_diagonal_row(A, jl);
        if (il >= 0)
            dkm_dmat_put(A, il, jl, dkm_dmat_at(A, il, jl) + shift);
    }
}

static double dmat_allreduce_sum(const dkm_dmat *A, double mine)
{
    double total = 0;

    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    return total;
}

double dkm_dmat_norm(const dkm_dmat *A)
{
    double sum = 0;

    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++) {
            double a = dkm_dmat_at(A, il, jl);
            sum += a * a;
        }
    return sqrt(dmat_allreduce_sum(A, sum));
}

double dkm_dmat_mean_diagonal(const dkm_dmat *A)
{
    double sum = 0;

    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx il = dmat_diagonal_row(A, jl);
        if (il >= 0)
            sum += dkm_dmat_at(A, il, jl);
    }
    return A->m > 0 ? dmat_allreduce_sum(A, sum) / (double)A->m : 0.0;
}

dkm_status dkm_dmat_column_means(const dkm_dmat *A, double *means)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);

    memset(means, 0, (size_t)A->n * sizeof *means);
    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        double sum = 0;
        for (dkm_idx il = 0; il < A->m_loc; il++)
            sum += dkm_dmat_at(A, il, jl);
        means[dkm_dmat_global_col(A, jl)] = sum / (double)A->m;
    }
    MPI_Allreduce(MPI_IN_PLACE, means, (int)A->n, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    return DKM_OK;
}

void dkm_dmat_add_row(dkm_dmat *A, double scale, const double *row)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        double shift = scale * row[dkm_dmat_global_col(A, jl)];
        for (dkm_idx il = 0; il < A->m_loc; il++)
            dkm_dmat_put(A, il, jl, dkm_dmat_at(A, il, jl) + shift);
    }
}

/* Local rows from @p from on of local column jl. */
static void dmat_convert_column(const dkm_dmat *A, dkm_idx jl, dkm_idx from, dkm_dmat *B)
{
    const double *restrict d = A->a.f64 + jl * A->ld;
    float *restrict s = B->a.f32 + jl * B->ld;

    if (A->precision == DKM_F64 && B->precision == DKM_F32)
        for (dkm_idx il = from; il < A->m_loc; il++)
            s[il] = (float)d[il];
    else
        for (dkm_idx il = from; il < A->m_loc; il++)
            dkm_dmat_put(B, il, jl, dkm_dmat_at(A, il, jl));
}

dkm_status dkm_dmat_convert(const dkm_dmat *A, dkm_precision precision, dkm_dmat **B)
{
    dkm_status status = dkm_dmat_create(A->grid, A->m, A->n, A->mb, A->nb, precision, B);

    for (dkm_idx jl = 0; status == DKM_OK && jl < A->n_loc; jl++)
        dmat_convert_column(A, jl, 0, *B);
    return status;
}

dkm_status dkm_dmat_convert_lower(const dkm_dmat *A, dkm_precision precision, dkm_dmat **B)
{
    dkm_status status = dkm_dmat_create(A->grid, A->m, A->n, A->mb, A->nb, precision, B);
    int p = dkm_grid_row(A->grid), P = dkm_grid_rows(A->grid);

    if (status == DKM_OK)
        dkm_dmat_want_large_pages_lower(*B);
    for (dkm_idx jl = 0; status == DKM_OK && jl < A->n_loc; jl++)
        dmat_convert_column(A, jl, dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, p, P), *B);
    return status;
}
