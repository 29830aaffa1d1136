/* One-vs-rest support vector machines (Cortes and Vapnik 1995, Machine Learning 20:273-297,
 * doi:10.1007/BF00994018), f_c(x) = k(x, X) a_c + b_c, each dual solved by LIBSVM on one rank
 * (solvers/svm). Coefficients form a model in dual form: predictions, saving and loading are those
 * of krr_dual.c. */
#include <dkmap/svm.h>

#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"
#include "models/common/example_weights.h"
#include "models/common/method_parts.h"
#include "models/krr/krr_dual.h"
#include "models/registry/model_impl.h"

dkm_svm_settings dkm_svm_settings_default(void)
{
    return (dkm_svm_settings){.margin = dkm_svm_dual_settings_default()};
}

static dkm_local svm_check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                               const dkm_svm_settings *s)
{
    if (dkm_data_type(Y) != DKM_LABELS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "support vector machines tell classes apart: outputs must be labels, not "
                        "%s",
                        dkm_type_name(dkm_data_type(Y)));
    if (s->margin.loss == DKM_LOSS_EPS_INSENSITIVE)
        return dkm_fail(ctx, DKM_ERR_ARG, "the loss tube is for regression, not for classes");
    return dkm_check_examples(ctx, dkm_data_rows(X), Y);
}

static dkm_local svm_check_classes(const dkm_krr_dual *s)
{
    if (s->outputs.encoder.cols >= 2)
        return DKM_LOCAL_OK;
    return dkm_fail(s->fitted.ctx, DKM_ERR_ARG, "all examples have one label: there must be two");
}

/* Coefficients and intercepts, and the targets before them: 1 for the class of a column, -1 for the
 * others. */
static dkm_status svm_solve(dkm_krr_dual *s, const dkm_data *Y, const dkm_svm_settings *settings,
                            double **B, dkm_idx *rounds)
{
    dkm_status status = DKM_OK;
    dkm_svm_dual_problem p = {.grid = s->fitted.grid,
                              .kernel = s->fitted.kernel,
                              .X = s->fitted.prepared,
                              .nb = s->fitted.nb,
                              .rounds = rounds};
    dkm_idx n = dkm_data_local_rows(Y);
    double *T = NULL, *weights = NULL;

    DKM_TRY(dkm_krr_outputs_rows(&s->outputs, Y, 0, NULL, &T));
    DKM_AGREE(s->fitted.ctx, svm_check_classes(s));
    p.cols = s->outputs.encoder.cols;
    p.T = T;
    for (dkm_idx k = 0; k < n * p.cols; k++)
        T[k] = 2.0 * T[k] - 1.0;
    if (settings->weights)
        DKM_TRY(dkm_example_weights_gather(settings->weights, &weights));
    p.weights = weights;
    DKM_AGREE(s->fitted.ctx, dkm_alloc(s->fitted.ctx, n * p.cols, B));
    DKM_TRY(dkm_svm_dual_solve(&p, &settings->margin, *B, s->outputs.b));
out:
    DKM_FREE(weights);
    DKM_FREE(T);
    return status;
}

static int supports(const double *row, dkm_idx cols)
{
    for (dkm_idx c = 0; c < cols; c++)
        if (row[c] != 0.0)
            return 1;
    return 0;
}

/* Indices of all support vectors, on every rank. */
static dkm_status svm_find_support(const dkm_krr_dual *s, const double *B, dkm_idx **indices,
                                   dkm_idx *count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx m = dkm_data_rows(s->fitted.X), first = dkm_data_local_first(s->fitted.X);
    dkm_idx cols = s->outputs.encoder.cols, n_kept = 0;

    *count = 0;
    DKM_AGREE(ctx, dkm_calloc(ctx, m, indices));
    for (dkm_idx i = 0; i < dkm_data_local_rows(s->fitted.X); i++)
        (*indices)[first + i] = supports(B + i * cols, cols);
    MPI_Allreduce(MPI_IN_PLACE, *indices, (int)m, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < m; i++)
        if ((*indices)[i])
            (*indices)[n_kept++] = i;
    *count = n_kept;
out:
    return status;
}

/* The fitted kernel anew on the inputs and the rows of coefficients named. */
static dkm_status svm_keep_support(dkm_krr_dual *s, dkm_idx count, const dkm_idx *indices,
                                   const dkm_layout *layout, dkm_data **B)
{
    dkm_status status = DKM_OK;
    dkm_fitted_kernel small = {0};
    dkm_data *X = NULL, *rows = NULL;

    DKM_TRY(dkm_data_select(s->fitted.X, count, indices, &X));
    DKM_TRY(dkm_data_select(*B, count, indices, &rows));
    DKM_TRY(dkm_fitted_kernel_open(&small, s->fitted.ctx, X, s->fitted.kernel, layout));
    DKM_TRY(dkm_fitted_kernel_set_indices(&small, indices));
    dkm_fitted_kernel_close(&s->fitted);
    s->fitted = small;
    small = (dkm_fitted_kernel){0};
    dkm_data_destroy(B);
    *B = rows;
    rows = NULL;
out:
    dkm_fitted_kernel_close(&small);
    dkm_data_destroy(&rows);
    dkm_data_destroy(&X);
    return status;
}

/* Coefficients become a matrix. Kernels that look at all training inputs keep them all. */
static dkm_status svm_hand_over(dkm_krr_dual *s, const double *B, const dkm_layout *layout,
                                dkm_idx *support)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = s->outputs.encoder.cols, *indices = NULL;
    dkm_data *rows = NULL;

    DKM_TRY(svm_find_support(s, B, &indices, support));
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(s->fitted.X), cols, &rows));
    memcpy(dkm_data_values(rows), B, (size_t)(dkm_data_local_rows(rows) * cols) * sizeof *B);
    if (!dkm_kernel_needs_training_set(s->fitted.kernel))
        DKM_TRY(svm_keep_support(s, *support, indices, layout, &rows));
    DKM_TRY(dkm_dmat_create(s->fitted.grid, dkm_data_rows(rows), cols, s->fitted.nb, s->fitted.nb,
                            DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, dkm_data_values_const(rows)));
out:
    dkm_data_destroy(&rows);
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_svm_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const dkm_kernel *kernel,
                       const dkm_svm_settings *settings, dkm_model **model, dkm_svm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx support = 0, rounds = 0;
    dkm_krr_dual *s = NULL;
    double *B = NULL;

    *model = NULL;
    DKM_AGREE(ctx, svm_check_fit(ctx, X, Y, settings));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->outputs.gamma = 1.0 / settings->margin.C;
    DKM_TRY(dkm_fitted_kernel_open(&s->fitted, ctx, X, kernel, &settings->layout));
    DKM_TRY(svm_solve(s, Y, settings, &B, &rounds));
    DKM_TRY(svm_hand_over(s, B, &settings->layout, &support));
    if (info)
        *info = (dkm_svm_info){dkm_data_rows(Y), s->outputs.encoder.cols, support,
                               (double)rounds / (double)s->outputs.encoder.cols};
    status = dkm_krr_dual_wrap(s, &dkm_class_svm, model);
    s = NULL; /* taken over, whatever came of it */
out:
    DKM_FREE(B);
    dkm_krr_dual_destroy(&s);
    return status;
}
