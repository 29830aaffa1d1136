/* Kernel principal components as a method. */
#include <dkmap/kpca.h>

#include "models/common/embedding.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"

static void kpca_report(dkm_report *report, const dkm_kernel *kx, const dkm_kpca_info *info)
{
    dkm_report_add_int(report, "m", info->m);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_grid(report, info->P, info->Q);
    dkm_report_add_int(report, "block", info->block);
    if (info->landmarks > 0)
        dkm_report_add_int(report, "landmarks", info->landmarks);
    dkm_report_eigen(report, &info->eigen);
}

static void kpca_read_landmarks(const dkm_settings *s, dkm_nystroem_settings *nystroem)
{
    nystroem->landmarks = dkm_settings_int(s, "landmarks");
    nystroem->choice = (dkm_landmark_method)dkm_settings_choice(s, "landmark-choice");
}

static dkm_local kpca_read(dkm_ctx *ctx, const dkm_settings *s, dkm_kpca_settings *kpca)
{
    *kpca = dkm_kpca_settings_default();
    kpca->layout = dkm_settings_layout(s);
    kpca_read_landmarks(s, &kpca->nystroem);
    return dkm_read_eigen(ctx, s, &kpca->eigen);
}

static dkm_local kpca_check(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_kpca_settings settings;

    return kpca_read(ctx, s, &settings);
}

static dkm_status kpca_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                           const dkm_data *Y, dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_kpca_settings settings;
    dkm_kpca_info info = {0};
    dkm_data *weights = NULL;
    dkm_kernel *kx = NULL;

    (void)Y;
    DKM_AGREE(ctx, kpca_read(ctx, s, &settings));
    DKM_TRY(dkm_input_kernel(ctx, s, X, report, &kx));
    DKM_TRY(dkm_read_weights(ctx, s, NULL, dkm_data_rows(X), &weights));
    settings.weights = weights;
    DKM_TRY(dkm_kpca_fit(ctx, X, kx, &settings, model, &info));
    kpca_report(report, kx, &info);
out:
    dkm_data_destroy(&weights);
    dkm_kernel_destroy(&kx);
    return status;
}

static void kpca_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                          const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double data =
        dkm_cost_data(&terms) + dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols);
    dkm_eigen_settings eigen = dkm_eigen_settings_default();
    dkm_nystroem_settings nystroem = {0};

    if (dkm_read_eigen(s->ctx, s, &eigen).code != DKM_OK) /* kpca_check() has refused it */
        return;
    terms.components = dkm_estimate_components(&eigen, cost);
    kpca_read_landmarks(s, &nystroem);
    if (nystroem.landmarks > 0) {
        terms.choice = nystroem.choice;
        terms.landmarks = dkm_nystroem_count(&nystroem, work->m);
        dkm_cost_add_landmark_choice(cost, &terms, data);
        dkm_cost_add_landmark_components(cost, &terms, data);
    } else {
        data += dkm_embedding_estimate(s, work->m, cost);
        dkm_cost_add_gram(cost, &terms, "gram", data, work->x_bytes, (double)work->x_cols);
        dkm_cost_add_eigen(cost, &terms, data);
    }
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    DKM_ROW_COMPONENTS,
    DKM_ROW_EIGENSOLVER,
    {.name = "landmarks",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .metavar = "N",
     .aliases = "nystroem|",
     .old_names = "reduce|",
     .help = "components of the Nystroem kernel of so many of the objects, for more than a kernel "
             "matrix can hold; the model keeps those alone"},
    DKM_ROW_LANDMARK_CHOICE(NULL),
    DKM_ROW_WEIGHTS,
    {0}};

const dkm_method dkm_method_kpca = {
    .name = "kpca",
    .summary = "kernel principal components: directions of largest variance in feature space",
    .about = "Centers the kernel matrix of the training objects and finds its leading eigenpairs. "
             "`dkmap encode` then gives the coordinates of any objects along them.",
    .references = "Schoelkopf, Smola, Mueller (1998), Nonlinear component analysis as a kernel "
                  "eigenvalue problem, doi:10.1162/089976698300017467",
    .example = "--x x.npy --kx 'rbf(sigma=2)' --components 64",
    .inputs = "training objects",
    .settings = settings,
    .check = kpca_check,
    .fit = kpca_fit,
    .estimate = kpca_estimate,
    .classes = {&dkm_class_kpca},
};
