/* How far a fit by conjugate gradients is from the exact one, on the training inputs, where those
 * are few: f*(X) = T - gamma B* with (K + gamma I) B* = T, or with S K S, S f* and S T where examples
 * have weights. */
#include "models/krr/krr_distance.h"

#include <math.h>

#include "core/alloc.h"
#include "kernels/evaluation/kernel_impl.h"

/* rows <- f*(X), from T in them. */
static dkm_status krr_distance_fit_exactly(const dkm_fitted_kernel *fitted, const dkm_prepared *X,
                                           double gamma, dkm_idx p, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_ridge_settings ridge = dkm_ridge_settings_default();
    dkm_idx m = dkm_prepared_rows(X),
            n = dkm_slab_count(m, dkm_ctx_rank(fitted->ctx), dkm_ctx_size(fitted->ctx));
    dkm_dmat *T = NULL, *B = NULL;
    double *b = NULL;

    ridge.gamma = gamma;
    ridge.precision = DKM_RIDGE_DOUBLE;
    DKM_AGREE(fitted->ctx, dkm_alloc(fitted->ctx, n * p, &b));
    DKM_TRY(dkm_dmat_create(fitted->grid, m, p, fitted->nb, fitted->nb, DKM_F64, &T));
    DKM_TRY(dkm_dmat_from_rows(T, rows));
    DKM_TRY(dkm_ridge_kernel(fitted->kernel, X, fitted->nb, &ridge, T, &B, NULL));
    DKM_TRY(dkm_dmat_to_rows(B, b));
    for (dkm_idx k = 0; k < n * p; k++)
        rows[k] -= gamma * b[k];
out:
    DKM_FREE(b);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_krr_distance(const dkm_fitted_kernel *fitted, const dkm_data *X, double gamma,
                            const double *roots, dkm_idx p, double *T, const double *F,
                            double *distance)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(X);
    dkm_prepared *prepared = NULL;
    double sums[2] = {0, 0};

    DKM_TRY(dkm_kernel_prepare(fitted->kernel, X, &prepared));
    prepared->scale = roots;
    DKM_TRY(krr_distance_fit_exactly(fitted, prepared, gamma, p, T));
    for (dkm_idx k = 0; k < n * p; k++) {
        sums[0] += (F[k] - T[k]) * (F[k] - T[k]);
        sums[1] += T[k] * T[k];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(fitted->ctx));
    *distance = sums[1] > 0 ? sqrt(sums[0] / sums[1]) : sqrt(sums[0]);
out:
    dkm_prepared_destroy(&prepared);
    return status;
}
