/* The Hopfield net as a method. */
#include <math.h>

#include <dkmap/hopfield.h>

#include "models/common/method_parts.h"

static dkm_status hopfield_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                               const dkm_data *Y, dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_hopfield_settings settings = dkm_hopfield_settings_default();
    dkm_hopfield_info info = {0};

    settings.layout = dkm_settings_layout(s);
    settings.steps = dkm_settings_int(s, "max-iter");
    DKM_TRY(dkm_hopfield_fit(ctx, X, Y, &settings, model, &info));
    dkm_report_add_int(report, "m", info.m);
    dkm_report_add_int(report, "dimensions", info.dimensions);
out:
    return status;
}

/* The patterns (x, y) beside x and y, all eigenpairs of their linear kernel, and then the patterns
 * and the basis of their span as distributed matrices. */
static void hopfield_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                              const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double m = (double)work->m, cols = (double)(work->x_cols + work->y_cols), bytes = 8.0 * cols;
    double held = 2.0 * dkm_cost_data(&terms);

    (void)s;
    (void)kx;
    dkm_cost_add_gram(cost, &terms, "gram", held, bytes, cols);
    dkm_cost_add_eigen(cost, &terms, held);
    dkm_cost_add_phase(cost, "net", held + dkm_cost_rows(&terms, 2.0 * bytes + 8.0 * m),
                       2.0 * m * m * cols, rates ? 0.0 : NAN);
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    {.name = "max-iter",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .default_text = "500",
     .metavar = "N",
     .old_names = "steps|",
     .help = "iterations at most that a state may take to its equilibrium"},
    {0}};

const dkm_method dkm_method_hopfield = {
    .name = "hopfield",
    .summary = "a Hopfield net that completes patterns: a baseline for halves of images",
    .about = "The state of the net begins with the input and zeros for the output, and moves to an "
             "equilibrium; the training example nearest to that hands over its output.",
    .references = "Li, Michel, Porod (1989), Analysis and synthesis of a class of neural networks: "
                  "linear systems operating on a closed hypercube",
    .example = "--x upper.npy --y lower.npy",
    .inputs = "training inputs, dense, from -1 to 1",
    .outputs = "training outputs, dense, from -1 to 1, as many",
    .settings = settings,
    .fit = hopfield_fit,
    .estimate = hopfield_estimate,
    .classes = {&dkm_class_hopfield},
};
