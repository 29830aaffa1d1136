/* Kernel ridge regression (Saunders, Gammerman and Vovk 1998, ICML, pp. 515-521): chooses the
 * form of the fit and checks its settings.
 *
 *     dual         krr_dual.c       (K + gamma I) B = Y: m^3 / 3 flops, m^2 / ranks numbers per rank
 *     primal       krr_primal.c     linear kernels of d < m columns: m d^2 flops, d^2 / ranks numbers
 *     landmarks    krr_nystroem.c   preconditioned conjugate gradients on n landmarks
 *     labelled     krr_labelled.c   some objects of a kernel that is known on all of them
 *     subset       krr_subset.c     a basis of n inputs: m n^2 flops, m n / ranks numbers */
#include <dkmap/krr.h>

#include <math.h>
#include <string.h>

#include "models/common/method_parts.h"
#include "models/krr/krr_autotune.h"
#include "models/krr/krr_labelled.h"
#include "models/krr/krr_outputs.h"

dkm_krr_settings dkm_krr_settings_default(void)
{
    return (dkm_krr_settings){.ridge = dkm_ridge_settings_default(), .primal = 1};
}

void dkm_krr_info_free(dkm_krr_info *info)
{
    dkm_path_info_free(&info->path);
}

int dkm_krr_needs_path(const dkm_krr_settings *s)
{
    return s->count > 1 || s->loo || s->solver == DKM_PATH_EIGEN || s->solver == DKM_PATH_BAND ||
           s->penalty == DKM_PENALTY_COEFFICIENTS;
}

static int krr_low_precision(const dkm_krr_settings *s)
{
    return s->ridge.precision == DKM_RIDGE_MIXED || s->ridge.precision == DKM_RIDGE_SINGLE;
}

static dkm_local krr_check_settings(dkm_ctx *ctx, const dkm_krr_settings *s)
{
    double gamma = s->count > 0 ? s->gammas[0] : s->ridge.gamma;

    if (!(gamma > 0) || !isfinite(gamma))
        return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0", gamma);
    if (krr_low_precision(s) && dkm_krr_needs_path(s))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "%s precision solves for one gamma by Cholesky, with the penalty on the "
                        "weights and no leave-one-out errors: use double precision",
                        s->ridge.precision == DKM_RIDGE_MIXED ? "mixed" : "single");
    return DKM_LOCAL_OK;
}

static dkm_local krr_check_landmarks(dkm_ctx *ctx, const dkm_krr_settings *s)
{
    if (s->count > 1 || s->loo || s->penalty == DKM_PENALTY_COEFFICIENTS)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the solver pcg is for one gamma, with the penalty on the weights and no "
                        "leave-one-out errors: use another solver");
    if (s->nystroem.landmarks < 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld landmarks cannot be",
                        (long long)s->nystroem.landmarks);
    return DKM_LOCAL_OK;
}

/* What is retained is the factor of the exact fit. */
static dkm_local krr_check_factor(dkm_ctx *ctx, const dkm_krr_settings *s)
{
    if (s->solver == DKM_PATH_PCG || s->reduce > 0 || s->penalty == DKM_PENALTY_COEFFICIENTS)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the factor that is retained is that of the exact fit, with the penalty on "
                        "the weights: leave out landmarks, --solver pcg and --regularizer "
                        "coefficients");
    return DKM_LOCAL_OK;
}

/* Rows of matrices know their objects by their indices: a few of them stand for nothing. */
static dkm_local check_reduction(dkm_ctx *ctx, dkm_type type, const dkm_krr_settings *s)
{
    if (type == DKM_GRAM || type == DKM_DISTANCE || type == DKM_GRAPH)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "inputs of type %s cannot be reduced to a few of them: make features of "
                        "them first (dkmap extend fit)",
                        dkm_type_name(type));
    if (s->solver == DKM_PATH_PCG || krr_low_precision(s) || s->penalty == DKM_PENALTY_COEFFICIENTS)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a reduced fit is exact and in double precision, with the penalty on the "
                        "weights, by the solvers cholesky or eigen");
    return DKM_LOCAL_OK;
}

static dkm_local krr_check_fit(dkm_ctx *ctx, dkm_idx m, const dkm_data *Y,
                               const dkm_krr_settings *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_check_examples(ctx, m, Y));
    if (s->solver == DKM_PATH_PCG)
        DKM_STEP(krr_check_landmarks(ctx, s));
    DKM_STEP(krr_check_settings(ctx, s));
    if (s->keep_factor)
        DKM_STEP(krr_check_factor(ctx, s));
out:
    return local;
}

/* Weights scale the rows of the kernel matrix, which pcg with all inputs as centers does not form. */
static dkm_local krr_check_weights(dkm_ctx *ctx, dkm_idx m, const dkm_krr_settings *s)
{
    if (dkm_data_rows(s->weights) != m || dkm_data_type(s->weights) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_ARG, "weights are a number for each of %lld examples",
                        (long long)m);
    if (s->solver == DKM_PATH_PCG && s->nystroem.all_centers)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "--weights are not for --basis all: leave it out, or use another solver");
    if (s->penalty == DKM_PENALTY_COEFFICIENTS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "--weights are for --regularizer rkhs, not for a penalty on coefficients");
    return DKM_LOCAL_OK;
}

/* d^2 m operations instead of m^2 d, and d x d numbers instead of m x m. */
static int takes_primal(const dkm_data *X, const dkm_kernel *kernel, const dkm_krr_settings *s)
{
    dkm_type type = dkm_data_type(X);

    return s->primal && !s->keep_factor && s->penalty == DKM_PENALTY_WEIGHTS &&
           !krr_low_precision(s) && (type == DKM_DENSE || type == DKM_SPARSE) &&
           dkm_kernel_is_linear(kernel) && dkm_data_cols(X) > 0 &&
           dkm_data_cols(X) < dkm_data_rows(X);
}

/* Whether some examples have no weight, and so no output. Collective. */
static int has_unlabelled(const dkm_data *weights)
{
    double least = 1;

    for (dkm_idx i = 0; weights && i < dkm_data_local_rows(weights); i++)
        least = fmin(least, dkm_data_values_const(weights)[i]);
    if (weights)
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN,
                      dkm_ctx_comm(dkm_data_ctx(weights)));
    return least == 0;
}

/* Fit by the solver that the settings name, or that the form allows. */
static dkm_status fit_by(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                         const dkm_kernel *kernel, const dkm_krr_settings *settings,
                         dkm_model **model, dkm_krr_info *info)
{
    if (settings->reduce > 0)
        return dkm_krr_subset_fit(ctx, X, Y, kernel, settings, model, info);
    if (settings->solver == DKM_PATH_PCG)
        return dkm_krr_nystroem_fit(ctx, X, NULL, Y, kernel, settings, model, info);
    if (takes_primal(X, kernel, settings))
        return dkm_krr_primal_fit(ctx, X, Y, settings, model, info);
    if (!settings->keep_factor && has_unlabelled(settings->weights))
        return dkm_krr_labelled_fit(ctx, X, Y, kernel, settings, model, info);
    return dkm_krr_dual_fit(ctx, X, Y, kernel, settings, model, info);
}

dkm_status dkm_krr_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const dkm_kernel *kernel,
                       const dkm_krr_settings *settings, dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_krr_settings taken = *settings;
    char reason[DKM_KRR_REASON] = "";

    *model = NULL;
    if (info)
        *info = (dkm_krr_info){0};
    DKM_AGREE(ctx, krr_check_fit(ctx, dkm_data_rows(X), Y, settings));
    DKM_AGREE(ctx, settings->weights ? krr_check_weights(ctx, dkm_data_rows(X), settings)
                                     : DKM_LOCAL_OK);
    DKM_AGREE(ctx, settings->reduce > 0 ? check_reduction(ctx, dkm_data_type(X), settings)
                                        : DKM_LOCAL_OK);
    if (dkm_krr_autotune_needed(settings) && settings->reduce == 0 && !settings->keep_factor &&
        !settings->weights && !takes_primal(X, kernel, settings))
        DKM_TRY(dkm_krr_autotune(X, dkm_data_cols(Y), kernel, &taken, reason));
    DKM_TRY(fit_by(ctx, X, Y, kernel, &taken, model, info));
    if (info)
        memcpy(info->reason, reason, sizeof reason);
out:
    return status;
}

dkm_status dkm_krr_fit_stream(dkm_ctx *ctx, dkm_source *X, const dkm_data *Y,
                              const dkm_kernel *kernel, const dkm_krr_settings *settings,
                              dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;

    *model = NULL;
    if (info)
        *info = (dkm_krr_info){0};
    DKM_REQUIRE(ctx, settings->solver == DKM_PATH_PCG && !settings->nystroem.all_centers,
                DKM_ERR_ARG, "streamed inputs are for the solver pcg with landmarks as centers");
    DKM_AGREE(ctx, krr_check_fit(ctx, dkm_source_rows(X), Y, settings));
    DKM_AGREE(ctx, settings->weights ? krr_check_weights(ctx, dkm_source_rows(X), settings)
                                     : DKM_LOCAL_OK);
    DKM_TRY(dkm_krr_nystroem_fit(ctx, NULL, X, Y, kernel, settings, model, info));
out:
    return status;
}
