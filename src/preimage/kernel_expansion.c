/* Psi = sum_i a_i phi(x_i), its inner product with phi(t) and the gradient of it in t:
 *
 *     sum_i a_i k(x_i, t)   and   sum_i a_i (dk/ds x_i + 2 dk/da t),   s = <x_i, t>,  a = ||t||^2.
 *
 * Cost of n points: 4 n m d flops over all ranks, two products with the training objects; an
 * allreduce of 2 n numbers. Replicated: the m squared norms of the training objects. */
#include "preimage/kernel_expansion.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "kernels/evaluation/column_shift.h"
#include "kernels/evaluation/derivatives.h"
#include "kernels/evaluation/prepare.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

static double kernel_expansion_square(const double *x, dkm_idx d)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += x[k] * x[k];
    return sum;
}

/* ||x||^2 of all rows, on every rank. */
static void gather_squares(const dkm_data *X, double *squares)
{
    dkm_idx d = dkm_data_cols(X), first = dkm_data_local_first(X);

    memset(squares, 0, (size_t)dkm_data_rows(X) * sizeof *squares);
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        squares[first + i] = kernel_expansion_square(dkm_data_values_const(X) + i * d, d);
    dkm_mpi_allreduce(squares, dkm_data_rows(X), MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(dkm_data_ctx(X)));
}

dkm_status dkm_kernel_expansion_open(dkm_kernel_expansion *x, dkm_embedding *e)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &e->fitted;
    dkm_idx m = dkm_data_rows(fitted->X);
    const dkm_data *X = fitted->X;

    *x = (dkm_kernel_expansion){.e = e, .shift = dkm_prepared_origin(fitted->prepared)};
    if (x->shift) {
        DKM_TRY(dkm_shift_data(X, x->shift, &x->rows));
        X = x->rows;
    }
    DKM_TRY(
        dkm_dmat_create(fitted->grid, m, dkm_data_cols(X), fitted->nb, fitted->nb, DKM_F64, &x->X));
    DKM_TRY(dkm_dmat_from_rows(x->X, dkm_data_values_const(X)));
    DKM_TRY(dkm_kernel_parse(fitted->ctx, "linear", &x->linear));
    DKM_TRY(dkm_kernel_prepare(x->linear, X, &x->prepared));
    DKM_TRY(dkm_cross_gram_create(fitted->grid, x->linear, x->prepared, fitted->nb, DKM_F64,
                                  &x->cross));
    DKM_AGREE(fitted->ctx, dkm_alloc(fitted->ctx, m, &x->squares));
    gather_squares(X, x->squares);
    for (dkm_idx i = 0; i < m; i++)
        x->size += x->squares[i] / (double)m;
    x->size = sqrt(x->size);
out:
    return status;
}

void dkm_kernel_expansion_close(dkm_kernel_expansion *x)
{
    DKM_FREE(x->squares);
    dkm_cross_gram_destroy(&x->cross);
    dkm_prepared_destroy(&x->prepared);
    dkm_kernel_destroy(&x->linear);
    dkm_dmat_destroy(&x->X);
    dkm_data_destroy(&x->rows);
}

dkm_status dkm_kernel_expansion_weights(const dkm_embedding *e, const dkm_data *Z, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &e->fitted;
    dkm_idx m = dkm_data_rows(fitted->X);
    dkm_dmat *C = NULL, *made = NULL;

    *A = NULL;
    DKM_TRY(
        dkm_dmat_create(fitted->grid, dkm_data_rows(Z), e->p, fitted->nb, fitted->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_like(C, m, fitted->nb, DKM_F64, &made));
    dkm_la_gemm('N', 'T', 1.0, C, e->W, 0.0, made);
    for (dkm_idx jl = 0; jl < made->n_loc; jl++)
        for (dkm_idx il = 0; il < made->m_loc; il++)
            made->a.f64[il + jl * made->ld] +=
                dkm_embedding_weight(e, dkm_dmat_global_col(made, jl));
    *A = made;
    made = NULL;
out:
    dkm_dmat_destroy(&made);
    dkm_dmat_destroy(&C);
    return status;
}

/* One batch of a column: D <- a g_s, and the sums of a g and a g_a. */
static void weigh_lanes(const dkm_kernel_expansion *x, dkm_idx n, const double *aa, double b,
                        const double *weight, double *D, double *sums)
{
    double bb[DKM_PAIRS], k[DKM_PAIRS], dk_ds[DKM_PAIRS], dk_da[DKM_PAIRS];
    dkm_dots pairs = {n, D, aa, bb};
    dkm_derivatives slopes = {k, dk_ds, dk_da};

    for (dkm_idx i = 0; i < n; i++)
        bb[i] = b;
    dkm_kernel_derivatives(x->e->fitted.kernel, &pairs, &slopes);
    for (dkm_idx i = 0; i < n; i++) {
        D[i] = weight[i] * dk_ds[i];
        sums[2 * i] += weight[i] * k[i];
        sums[2 * i + 1] += weight[i] * dk_da[i];
    }
}

/* All of this rank's inner products; aa and sums are of its own rows. */
static void kernel_expansion_weigh(const dkm_kernel_expansion *x, const dkm_dmat *A,
                                   const double *aa, dkm_dmat *D, double *sums)
{
    for (dkm_idx jl = 0; jl < D->n_loc; jl++)
        for (dkm_idx il = 0; il < D->m_loc; il += DKM_PAIRS)
            weigh_lanes(x, D->m_loc - il < DKM_PAIRS ? D->m_loc - il : DKM_PAIRS, aa + il,
                        x->squares[dkm_dmat_global_col(D, jl)], A->a.f64 + il + jl * A->ld,
                        D->a.f64 + il + jl * D->ld, sums + 2 * il);
}

/* Sums of this rank's rows, added up over the ranks and handed to those that hold the points. */
static void kernel_expansion_add_up(const dkm_data *T, const dkm_dmat *D, const double *sums,
                                    double *all, dkm_expansion_gradient *gradient)
{
    dkm_idx n = dkm_data_rows(T), first = dkm_data_local_first(T);

    memset(all, 0, (size_t)(2 * n) * sizeof *all);
    for (dkm_idx il = 0; il < D->m_loc; il++)
        for (int k = 0; k < 2; k++)
            all[2 * dkm_dmat_global_row(D, il) + k] += sums[2 * il + k];
    dkm_mpi_allreduce(all, 2 * n, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(dkm_data_ctx(T)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++) {
        gradient->inner[i] = all[2 * (first + i)];
        gradient->dk_da[i] = all[2 * (first + i) + 1];
    }
}

static dkm_status weigh_all(dkm_kernel_expansion *x, const dkm_data *T, const dkm_dmat *A,
                            dkm_dmat *D, dkm_expansion_gradient *gradient)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = x->e->fitted.ctx;
    double *all = NULL, *aa = NULL, *sums = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * dkm_data_rows(T), &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, D->m_loc, &aa));
    DKM_AGREE(ctx, dkm_calloc(ctx, 2 * D->m_loc, &sums));
    gather_squares(T, all);
    for (dkm_idx il = 0; il < D->m_loc; il++)
        aa[il] = all[dkm_dmat_global_row(D, il)];
    kernel_expansion_weigh(x, A, aa, D, sums);
    kernel_expansion_add_up(T, D, sums, all, gradient);
out:
    DKM_FREE(sums);
    DKM_FREE(aa);
    DKM_FREE(all);
    return status;
}

/* Without the shift c, by_s is sum_i a_i g_s (x_i - c). Where the origin does not matter the sum of
 * a_i g_s is -2 by_a, as gradients change with it else. */
static void kernel_expansion_put_back(const dkm_kernel_expansion *x, const dkm_data *T,
                                      dkm_expansion_gradient *gradient)
{
    dkm_idx d = dkm_data_cols(T);

    for (dkm_idx k = 0; x->shift && k < dkm_data_local_rows(T) * d; k++)
        gradient->dk_ds[k] -= 2.0 * gradient->dk_da[k / d] * x->shift[k % d];
}

dkm_status dkm_kernel_expansion_gradient(dkm_kernel_expansion *x, const dkm_data *T,
                                         const dkm_dmat *A, dkm_expansion_gradient *gradient)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &x->e->fitted;
    dkm_prepared *prepared = NULL;
    dkm_dmat *D = NULL, *N = NULL;
    dkm_data *shifted = NULL;

    if (x->shift) {
        DKM_TRY(dkm_shift_data(T, x->shift, &shifted));
        T = shifted;
    }
    DKM_TRY(dkm_kernel_prepare_new(x->prepared, T, &prepared));
    DKM_TRY(dkm_cross_gram_eval(x->cross, prepared, fitted->nb, &D));
    DKM_TRY(weigh_all(x, T, A, D, gradient));
    DKM_TRY(dkm_dmat_create_like(D, dkm_data_cols(T), fitted->nb, DKM_F64, &N));
    dkm_la_gemm('N', 'N', 1.0, D, x->X, 0.0, N);
    DKM_TRY(dkm_dmat_to_rows(N, gradient->dk_ds));
    kernel_expansion_put_back(x, T, gradient);
out:
    dkm_dmat_destroy(&N);
    dkm_dmat_destroy(&D);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&shifted);
    return status;
}
