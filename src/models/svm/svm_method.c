/* Support vector machines as a method. */
#include <math.h>

#include <dkmap/svm.h>

#include "models/common/example_weights.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"

#define NODE_BYTES  16.0  /* of LIBSVM, per kernel value */
#define CACHE_BYTES 1e8   /* at most, of its cache */
#define SET         512.0 /* variables of a working set of the decomposition */
#define SET_BYTES   24.0  /* three arrays of its pairs */

static void svm_report(dkm_report *report, const dkm_kernel *kx, double C, const dkm_svm_info *info)
{
    dkm_report_add_int(report, "m", info->m);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_int(report, "classes", info->classes);
    dkm_report_add_real(report, "C", C);
    dkm_report_add_int(report, "support_vectors", info->support);
}

static dkm_status svm_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_svm_settings settings = dkm_svm_settings_default();
    dkm_svm_info info = {0};
    dkm_data *weights = NULL;
    dkm_kernel *kx = NULL;

    settings.layout = dkm_settings_layout(s);
    settings.margin.loss =
        dkm_settings_choice(s, "hinge") == 0 ? DKM_LOSS_HINGE : DKM_LOSS_SQUARED_HINGE;
    settings.margin.C = dkm_settings_real(s, "C");
    settings.margin.tolerance = dkm_settings_real(s, "tolerance");
    settings.margin.solver = (dkm_svm_solver)dkm_settings_choice(s, "solver");
    DKM_TRY(dkm_input_kernel(ctx, s, X, report, &kx));
    DKM_TRY(dkm_read_weights(ctx, s, Y, dkm_data_rows(X), &weights));
    settings.weights = weights;
    DKM_TRY(dkm_svm_fit(ctx, X, Y, kx, &settings, model, &info));
    svm_report(report, kx, settings.margin.C, &info);
out:
    dkm_data_destroy(&weights);
    dkm_kernel_destroy(&kx);
    return status;
}

static int svm_names_classes(const dkm_settings *s)
{
    (void)s;
    return 1;
}

/* The kernel matrix by rows, both triangles. LIBSVM has it once more in its nodes, with its cache, on
 * each rank that solves; the decomposition has its working sets. A step of LIBSVM takes two rows, and
 * it is taken to need as many steps as there are examples; either's time is not known. */
static void svm_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double data =
        dkm_cost_data(&terms) + dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols) +
        dkm_example_weights_estimate(s, work->m, 1.0, cost) +
        dkm_cost_replicate(cost, "places of the support vectors, m", 8.0 * (double)work->m);
    double m = (double)work->m, rows = dkm_cost_rows(&terms, 8.0 * m), solve;
    double steps = work->iterations > 0 ? (double)work->iterations : m;
    dkm_idx classes = work->y_cols > 1 ? work->y_cols : dkm_estimate_classes(cost);
    dkm_svm_dual_settings chosen = {.solver = (dkm_svm_solver)dkm_settings_choice(s, "solver")};

    if (dkm_svm_dual_solver(&chosen, work->m) == DKM_SVM_LIBSVM)
        solve = NODE_BYTES * m * m + fmin(CACHE_BYTES, 4.0 * m * m);
    else
        solve = dkm_cost_rows(&terms, 16.0 * (double)classes) + SET_BYTES * SET * SET;
    dkm_cost_add_gram(cost, &terms, "gram", data + rows, work->x_bytes, (double)work->x_cols);
    dkm_cost_add_phase(cost, "solve", data + rows + solve, 6.0 * m * steps * (double)classes, NAN);
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    {.name = "C",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_REQUIRED | DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
     .metavar = "C",
     .help = "weight > 0 of examples on the wrong side of the margin"},
    {.name = "hinge",
     .kind = DKM_SETTING_CHOICE,
     .choices = "plain|squared|",
     .default_text = "plain",
     .metavar = "WORD",
     .help = "what such an example costs: its distance to the margin, or half the square of that"},
    {.name = "tolerance",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_POSITIVE,
     .default_text = "1e-3",
     .metavar = "E",
     .help = "violation of the optimality conditions that may be left"},
    {.name = "solver",
     .kind = DKM_SETTING_CHOICE,
     .choices = "auto|libsvm|decomposition|",
     .default_text = "auto",
     .metavar = "WORD",
     .help = "libsvm: a class per rank, which holds all of the kernel matrix; decomposition: all "
             "ranks on each class; auto: libsvm up to 4000 examples without weights"},
    DKM_ROW_WEIGHTS,
    DKM_ROW_CLASS_WEIGHTS,
    {0}};

const dkm_method dkm_method_svm = {
    .name = "svm",
    .summary = "support vector machines, one class against the rest",
    .about =
        "Up to 4000 examples the classes are dealt to the ranks, and LIBSVM solves for each; a "
        "rank that solves holds all of the kernel matrix, 16 bytes per element. Above that, "
        "all ranks share the kernel matrix and solve every class by decomposition.",
    .references = "Chang, Lin (2011), LIBSVM: a library for support vector machines, "
                  "doi:10.1145/1961189.1961199; Joachims (1999), Making large-scale SVM learning "
                  "practical, Advances in Kernel Methods ch. 11",
    .example = "--x x.npy --y labels.npy --kx 'rbf(sigma=2)' --C 10",
    .inputs = "training inputs, of any type",
    .outputs = "labels or names of classes, as many",
    .settings = settings,
    .fit = svm_fit,
    .names_classes = svm_names_classes,
    .estimate = svm_estimate,
    .takes_gram = 1,
    .classes = {&dkm_class_svm},
};
