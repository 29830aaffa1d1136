#include "model/expansion.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "dmat/dmat_impl.h"
#include "kernel/prepare.h"
#include "kernel/shift.h"
#include "kernel/slopes.h"
#include "scalapack/linalg.h"

static double square(const double *x, dkm_idx d)
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
        squares[first + i] = square(dkm_data_values_const(X) + i * d, d);
    dkm_mpi_allreduce(squares, dkm_data_rows(X), MPI_DOUBLE, MPI_SUM,
                      dkm_ctx_comm(dkm_data_ctx(X)));
}

dkm_status dkm_expansion_open(dkm_expansion *x, dkm_embedding *e)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &e->base;
    dkm_idx m = dkm_data_rows(base->X);
    const dkm_data *X = base->X;

    *x = (dkm_expansion){.e = e, .shift = dkm_prepared_origin(base->prepared)};
    if (x->shift) {
        DKM_TRY(dkm_shift_data(X, x->shift, &x->rows));
        X = x->rows;
    }
    DKM_TRY(dkm_dmat_create(base->grid, m, dkm_data_cols(X), base->nb, base->nb, DKM_F64, &x->X));
    DKM_TRY(dkm_dmat_from_rows(x->X, dkm_data_values_const(X)));
    DKM_TRY(dkm_kernel_parse(base->ctx, "linear", &x->linear));
    DKM_TRY(dkm_kernel_prepare(x->linear, X, &x->prepared));
    DKM_TRY(dkm_cross_create(base->grid, x->linear, x->prepared, base->nb, DKM_F64, &x->cross));
    DKM_AGREE(base->ctx, dkm_alloc(base->ctx, m, &x->squares));
    gather_squares(X, x->squares);
    for (dkm_idx i = 0; i < m; i++)
        x->size += x->squares[i] / (double)m;
    x->size = sqrt(x->size);
out:
    return status;
}

void dkm_expansion_close(dkm_expansion *x)
{
    DKM_FREE(x->squares);
    dkm_cross_destroy(&x->cross);
    dkm_prepared_destroy(&x->prepared);
    dkm_kernel_destroy(&x->linear);
    dkm_dmat_destroy(&x->X);
    dkm_data_destroy(&x->rows);
}

dkm_status dkm_expansion_weights(const dkm_embedding *e, const dkm_data *Z, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &e->base;
    dkm_idx m = dkm_data_rows(base->X);
    dkm_dmat *C = NULL, *made = NULL;

    *A = NULL;
    DKM_TRY(dkm_dmat_create(base->grid, dkm_data_rows(Z), e->p, base->nb, base->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_beside(C, m, base->nb, DKM_F64, &made));
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

/* One stretch of a column: D <- a g_s, and the sums of a g and a g_a. */
static void weigh_lanes(const dkm_expansion *x, dkm_idx n, const double *aa, double b,
                        const double *weight, double *D, double *sums)
{
    double bb[DKM_PAIRS], k[DKM_PAIRS], by_s[DKM_PAIRS], by_a[DKM_PAIRS];
    dkm_dots pairs = {n, D, aa, bb};
    dkm_slopes slopes = {k, by_s, by_a};

    for (dkm_idx i = 0; i < n; i++)
        bb[i] = b;
    dkm_kernel_slopes(x->e->base.kernel, &pairs, &slopes);
    for (dkm_idx i = 0; i < n; i++) {
        D[i] = weight[i] * by_s[i];
        sums[2 * i] += weight[i] * k[i];
        sums[2 * i + 1] += weight[i] * by_a[i];
    }
}

/* All of this rank's inner products; aa and sums are of its own rows. */
static void weigh(const dkm_expansion *x, const dkm_dmat *A, const double *aa, dkm_dmat *D,
                  double *sums)
{
    for (dkm_idx jl = 0; jl < D->n_loc; jl++)
        for (dkm_idx il = 0; il < D->m_loc; il += DKM_PAIRS)
            weigh_lanes(x, D->m_loc - il < DKM_PAIRS ? D->m_loc - il : DKM_PAIRS, aa + il,
                        x->squares[dkm_dmat_global_col(D, jl)], A->a.f64 + il + jl * A->ld,
                        D->a.f64 + il + jl * D->ld, sums + 2 * il);
}

/* Sums of this rank's rows, added up over the ranks and handed to those that hold the points. */
static void add_up(const dkm_data *T, const dkm_dmat *D, const double *sums, double *all,
                   dkm_pull *pull)
{
    dkm_idx n = dkm_data_rows(T), first = dkm_data_local_first(T);

    memset(all, 0, (size_t)(2 * n) * sizeof *all);
    for (dkm_idx il = 0; il < D->m_loc; il++)
        for (int k = 0; k < 2; k++)
            all[2 * dkm_dmat_global_row(D, il) + k] += sums[2 * il + k];
    dkm_mpi_allreduce(all, 2 * n, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(dkm_data_ctx(T)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++) {
        pull->inner[i] = all[2 * (first + i)];
        pull->by_a[i] = all[2 * (first + i) + 1];
    }
}

static dkm_status weigh_all(dkm_expansion *x, const dkm_data *T, const dkm_dmat *A, dkm_dmat *D,
                            dkm_pull *pull)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = x->e->base.ctx;
    double *all = NULL, *aa = NULL, *sums = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * dkm_data_rows(T), &all));
    DKM_AGREE(ctx, dkm_alloc(ctx, D->m_loc, &aa));
    DKM_AGREE(ctx, dkm_calloc(ctx, 2 * D->m_loc, &sums));
    gather_squares(T, all);
    for (dkm_idx il = 0; il < D->m_loc; il++)
        aa[il] = all[dkm_dmat_global_row(D, il)];
    weigh(x, A, aa, D, sums);
    add_up(T, D, sums, all, pull);
out:
    DKM_FREE(sums);
    DKM_FREE(aa);
    DKM_FREE(all);
    return status;
}

/* Without the shift c, by_s is sum_i a_i g_s (x_i - c). Where the origin does not matter the sum of
 * a_i g_s is -2 by_a, as gradients change with it else. */
static void put_back(const dkm_expansion *x, const dkm_data *T, dkm_pull *pull)
{
    dkm_idx d = dkm_data_cols(T);

    for (dkm_idx k = 0; x->shift && k < dkm_data_local_rows(T) * d; k++)
        pull->by_s[k] -= 2.0 * pull->by_a[k / d] * x->shift[k % d];
}

dkm_status dkm_expansion_pull(dkm_expansion *x, const dkm_data *T, const dkm_dmat *A,
                              dkm_pull *pull)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &x->e->base;
    dkm_prepared *prepared = NULL;
    dkm_dmat *D = NULL, *N = NULL;
    dkm_data *shifted = NULL;

    if (x->shift) {
        DKM_TRY(dkm_shift_data(T, x->shift, &shifted));
        T = shifted;
    }
    DKM_TRY(dkm_kernel_prepare_new(x->prepared, T, &prepared));
    DKM_TRY(dkm_cross_rows(x->cross, prepared, base->nb, &D));
    DKM_TRY(weigh_all(x, T, A, D, pull));
    DKM_TRY(dkm_dmat_create_beside(D, dkm_data_cols(T), base->nb, DKM_F64, &N));
    dkm_la_gemm('N', 'N', 1.0, D, x->X, 0.0, N);
    DKM_TRY(dkm_dmat_to_rows(N, pull->by_s));
    put_back(x, T, pull);
out:
    dkm_dmat_destroy(&N);
    dkm_dmat_destroy(&D);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&shifted);
    return status;
}
