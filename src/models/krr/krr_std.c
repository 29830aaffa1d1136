/* Posterior standard deviations of kernel ridge regression as a Gaussian process (Rasmussen and
 * Williams 2006, Gaussian Processes for Machine Learning, MIT Press, algorithm 2.1 and section
 * 2.2): with f ~ GP(0, s k) and outputs y = f + noise of variance s gamma, the posterior mean is
 * the prediction k(x, X) (K + gamma I)^-1 T whatever s is, and
 *
 *   var f(x) = s (k(x, x) - k(x, X) (K + gamma I)^-1 k(X, x)) = s (k(x, x) - ||L^-1 k(X, x)||^2)
 *   var y(x) = var f(x) + s gamma
 *
 * An example of weight w has noise of variance s gamma / w: with S the roots of the weights,
 * K + gamma W^-1 = S^-1 (S K S + gamma I) S^-1, so that L is the factor of S K S + gamma I and
 * k(x, X) S takes the place of k(x, X).
 *
 * s = 1 makes the ridge the variance of the noise. The s under which the training outputs are most
 * likely is t'(K + gamma I)^-1 t / m.
 *
 * Where rows of the factor stand for forgotten examples, k(x, X) is zero for them and L^-1 k(X, x) is
 * projected (krr_inverse.h).
 *
 * New inputs pass in batches of n rows. Cost of a batch on an R x C grid: n m kernel values and n m^2 /
 * (R C) flops for K L^-T, in which L is read once, panel by panel (solvers/ridge/factor_rows.c); a sum
 * of n / R numbers along each grid row and n / (R C) words to slabs. Held: the n m / (R C) numbers of K
 * and a panel of L. Replicated: nothing of this order. */
#include "models/krr/krr_std.h"

#include <math.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/operators/linop.h"

void dkm_krr_std_clear(dkm_krr_std *std)
{
    DKM_FREE(std->scale);
    dkm_krr_base_close(&std->base);
}

/* Rows of B, as they solve the system that is scaled by the roots of weights. */
static dkm_status std_take_rows(const dkm_example_weights *roots, const dkm_dmat *B, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *copy = NULL;

    DKM_TRY(dkm_dmat_create_like(B, dkm_dmat_cols(B), B->nb, DKM_F64, &copy));
    for (dkm_idx jl = 0; jl < B->n_loc; jl++)
        for (dkm_idx il = 0; il < B->m_loc; il++)
            dkm_dmat_put(copy, il, jl, dkm_dmat_at(B, il, jl));
    dkm_example_weights_unscale(roots, copy);
    DKM_TRY(dkm_dmat_to_rows(copy, rows));
out:
    dkm_dmat_destroy(&copy);
    return status;
}

dkm_status dkm_krr_std_estimate(const dkm_fitted_kernel *fitted, const dkm_example_weights *roots,
                                double gamma, const dkm_dmat *B, double *scale)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = fitted->ctx;
    dkm_idx m = dkm_data_rows(fitted->X), p = dkm_dmat_cols(B);
    dkm_kernel_op K = {.grid = fitted->grid,
                       .X = fitted->prepared,
                       .nb = fitted->nb,
                       .scale = 1.0,
                       .shift = gamma};
    dkm_multivec b = {0}, t = {0};

    DKM_AGREE(ctx, dkm_multivec_init(&b, ctx, m, p));
    DKM_AGREE(ctx, dkm_multivec_init(&t, ctx, m, p));
    b.cols = t.cols = p;
    DKM_TRY(std_take_rows(roots, B, b.a));
    dkm_example_weights_apply(roots, fitted);
    DKM_TRY(dkm_kernel_op_apply(&K, &b, &t));
    dkm_multivec_dots(&b, &t, scale);
    for (dkm_idx j = 0; j < p; j++)
        scale[j] = fmax(scale[j] / (double)(roots->root ? roots->count : m), 0.0);
out:
    dkm_example_weights_apply(NULL, fitted);
    dkm_multivec_free(&t);
    dkm_multivec_free(&b);
    return status;
}

/* The squared norms of the rows of A as a column in the layout of its rows. */
static dkm_status std_row_norms(const dkm_dmat *A, dkm_dmat **norms)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double *sums = NULL;

    *norms = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, A->m_loc + 1, &sums));
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            sums[il] += dkm_dmat_at(A, il, jl) * dkm_dmat_at(A, il, jl);
    DKM_TRY(dkm_dmat_create_like(A, 1, A->nb, DKM_F64, norms));
    if (dkm_grid_row(A->grid) >= 0) {
        MPI_Allreduce(MPI_IN_PLACE, sums, (int)A->m_loc, MPI_DOUBLE, MPI_SUM,
                      dkm_grid_row_comm(A->grid));
        for (dkm_idx il = 0; (*norms)->n_loc > 0 && il < A->m_loc; il++)
            dkm_dmat_put(*norms, il, 0, sums[il]);
    }
out:
    DKM_FREE(sums);
    return status;
}

dkm_status dkm_krr_std_variances(const dkm_krr_base *base, const dkm_krr_factor *factor,
                                 const dkm_data *X, dkm_dmat *K, double *var)
{
    dkm_status status = DKM_OK;
    dkm_fitted_kernel *fitted = base->fitted;
    dkm_ctx *ctx = fitted->ctx;
    dkm_idx n = dkm_data_local_rows(X);
    dkm_prepared *prepared = NULL;
    dkm_dmat *own = NULL, *norms = NULL;
    double *prior = NULL;

    dkm_phase_begin(ctx, "deviations");
    if (base->place) {
        DKM_TRY(dkm_fitted_kernel_cross(fitted, X, &own));
        K = own;
    }
    dkm_example_weights_scale_cols(&base->roots, K);
    DKM_TRY(dkm_krr_factor_forward(factor, fitted, 0, NULL, K)); /* K <- K L^-T */
    DKM_TRY(dkm_krr_project(factor->Q, K));
    DKM_TRY(std_row_norms(K, &norms));
    DKM_TRY(dkm_dmat_to_rows(norms, var));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &prior));
    DKM_TRY(dkm_kernel_prepare_new(fitted->prepared, X, &prepared));
    DKM_TRY(dkm_kernel_diagonal(prepared, prior));
    for (dkm_idx i = 0; i < n; i++) /* rounding must not make a variance negative */
        var[i] = fmax(prior[i] - var[i], 0.0);
out:
    dkm_phase_end(ctx);
    DKM_FREE(prior);
    dkm_dmat_destroy(&norms);
    dkm_dmat_destroy(&own);
    dkm_prepared_destroy(&prepared);
    return status;
}

dkm_status dkm_krr_std_join(const dkm_krr_std *std, const dkm_data *means, const double *var,
                            dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx p = dkm_data_cols(means);
    const double *mean = dkm_data_values_const(means);

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(means), dkm_data_rows(means), 2 * p, Y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(means); i++)
        for (dkm_idx j = 0; j < p; j++) {
            double *row = dkm_data_values(*Y) + i * 2 * p;
            row[j] = mean[i * p + j];
            row[p + j] = sqrt(std->scale[j] * (var[i] + std->noise));
        }
out:
    return status;
}
