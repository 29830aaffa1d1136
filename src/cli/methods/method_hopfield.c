#include "cli/methods/method.h"
#include "cli/options/common_options.h"

static dkm_status method_hopfield_settings(run *r, method_settings *s)
{
    s->hopfield = dkm_hopfield_settings_default();
    s->hopfield.layout = run_layout(r);
    s->hopfield.steps = args_whole(r->args, "steps");
    return DKM_OK;
}

static dkm_status method_hopfield_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                      dkm_model **model, method_info *info)
{
    return dkm_hopfield_fit(r->ctx, *X, *Y, &s->hopfield, model, &info->hopfield);
}

static void method_hopfield_report(run *r, const method_settings *s, const method_info *info)
{
    (void)s;
    report_int(r, "m", info->hopfield.m);
    report_int(r, "dimensions", info->hopfield.dimensions);
}

static const option options[] = {ROW_X("training inputs, dense, from -1 to 1"),
                                 ROW_Y("training outputs, dense, from -1 to 1, as many"),
                                 {.name = "steps",
                                  .kind = OPT_WHOLE,
                                  .least = 1,
                                  .default_text = "500",
                                  .metavar = "N",
                                  .help = "most steps that a state may take to its equilibrium"},
                                 ROW_X_TYPE,
                                 ROW_Y_TYPE,
                                 {0}};

static const char *const lists[] = {NULL};

const method method_hopfield = {
    .name = "hopfield",
    .summary = "a Hopfield net that completes patterns: a baseline for halves of images",
    .about = "The state of the net begins with the input and zeros for the output, and moves to an "
             "equilibrium; the training example nearest to that hands over its output.",
    .arguments = "--x upper.npy --y lower.npy",
    .options = options,
    .settings = method_hopfield_settings,
    .fit = method_hopfield_fit,
    .tell = method_hopfield_report,
    .lists = lists,
};
