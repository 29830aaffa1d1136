/* Nearest neighbors as a method. */
#include <dkmap/knn.h>

#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"

static void knn_report(dkm_report *report, const dkm_kernel *kx, const dkm_kernel *ky, dkm_idx m,
                       dkm_idx k)
{
    dkm_report_add_int(report, "m", m);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    if (ky)
        dkm_report_add_text(report, "output_kernel", dkm_kernel_text(ky));
    dkm_report_add_int(report, "k", k);
}

static dkm_status knn_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_knn_settings settings = {.k = dkm_settings_int(s, "k"), .layout = dkm_settings_layout(s)};
    dkm_idx m = dkm_data_rows(X);
    dkm_kernel *kx = NULL, *ky = NULL;

    DKM_TRY(dkm_input_kernel(ctx, s, X, report, &kx));
    DKM_TRY(dkm_settings_kernel(ctx, s, "ky", Y, &ky));
    DKM_TRY(dkm_knn_fit(ctx, X, Y, kx, ky, &settings, model));
    knn_report(report, kx, ky, m, settings.k);
out:
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

/* With a kernel of the outputs strings are objects, not names. */
static int knn_names_classes(const dkm_settings *s)
{
    return dkm_settings_count(s, "ky") == 0;
}

/* A fit holds the examples; the diagonals of both kernels are on every rank. */
static void knn_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double data =
        dkm_cost_data(&terms) + dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols);
    double diagonal = 8.0 * (double)work->m;

    dkm_cost_add_diagonal(cost, &terms, "inputs", data, (double)work->x_cols);
    if (dkm_settings_given(s, "ky"))
        dkm_cost_add_diagonal(cost, &terms, "outputs", data + diagonal, (double)work->y_cols);
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    {.name = "k",
     .kind = DKM_SETTING_INT,
     .flags = DKM_SETTING_SEARCH,
     .min = 1,
     .default_text = "1",
     .metavar = "N",
     .help = "neighbors: one hands over its output, several are averaged (dense), vote (labels), "
             "or are averaged in the space of --ky"},
    {.name = "ky",
     .kind = DKM_SETTING_KERNEL,
     .metavar = "KERNEL",
     .help = "kernel of the outputs: predict the training output nearest to the mean of the "
             "neighbors' outputs"},
    {0}};

const dkm_method dkm_method_knn = {
    .name = "knn",
    .summary = "nearest neighbors in the feature space of a kernel: the baseline",
    .about = "Distances are those of the feature space of --kx; linear means Euclidean ones. "
             "Outputs may be of any type: one neighbor hands over its own; of several, those that "
             "are neither numbers nor classes need --ky.",
    .example = "--x x.npy --y y.npy --kx 'rbf(sigma=2)' --k 5",
    .inputs = "training inputs, of any type",
    .outputs = "training outputs, of any type, as many",
    .settings = settings,
    .fit = knn_fit,
    .names_classes = knn_names_classes,
    .estimate = knn_estimate,
    .takes_gram = 1,
    .classes = {&dkm_class_knn},
};
