#include <string.h>

#include "cli/methods/method.h"
#include "cli/options/common_options.h"

static dkm_status method_svm_settings(run *r, method_settings *s)
{
    dkm_status status = DKM_OK;
    dkm_svm_dual_settings *margin = &s->svm.margin;

    s->svm = dkm_svm_settings_default();
    s->svm.layout = run_layout(r);
    margin->loss =
        strcmp(args_text(r->args, "hinge"), "plain") == 0 ? DKM_LOSS_HINGE : DKM_LOSS_SQUARED_HINGE;
    DKM_TRY(run_positive(r, "C", &margin->C));
    DKM_TRY(run_positive(r, "tolerance", &margin->tolerance));
out:
    return status;
}

static dkm_status method_svm_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                 dkm_model **model, method_info *info)
{
    return dkm_svm_fit(r->ctx, X, *Y, s->kx, &s->svm, model, &info->svm);
}

static void method_svm_report(run *r, const method_settings *s, const method_info *info)
{
    report_int(r, "m", info->svm.m);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    report_int(r, "classes", info->svm.classes);
    report_real(r, "C", s->svm.margin.C);
    report_int(r, "support_vectors", info->svm.support);
}

static const option options[] = {
    ROW_X("training inputs, of any type"),
    ROW_Y("labels, as many"),
    ROW_KX,
    {.name = "C",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED | OPT_SEARCH,
     .metavar = "C",
     .help = "weight > 0 of examples on the wrong side of the margin"},
    {.name = "hinge",
     .kind = OPT_WORD,
     .choices = "plain|squared|",
     .default_text = "plain",
     .metavar = "WORD",
     .help = "what such an example costs: its distance to the margin, or half the square of that"},
    {.name = "tolerance",
     .kind = OPT_REAL,
     .default_text = "1e-3",
     .metavar = "E",
     .help = "how far from optimal LIBSVM may stop"},
    ROW_X_TYPE,
    ROW_Y_TYPE,
    {0}};

static const char *const lists[] = {"C", NULL};

const method method_svm = {
    .name = "svm",
    .summary = "support vector machines, one class against the rest",
    .about = "The classes are dealt to the ranks, and LIBSVM solves for each. A rank that solves "
             "holds the whole kernel matrix, 16 bytes an element.",
    .arguments = "--x x.npy --y labels.npy --kx 'rbf(sigma=2)' --C 10",
    .options = options,
    .settings = method_svm_settings,
    .fit = method_svm_fit,
    .tell = method_svm_report,
    .lists = lists,
    .takes_gram = 1,
};
