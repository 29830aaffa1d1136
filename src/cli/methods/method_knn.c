#include "cli/methods/method.h"
#include "cli/options/common_options.h"

static dkm_status method_knn_settings(run *r, method_settings *s)
{
    s->knn = (dkm_knn_settings){.k = args_whole(r->args, "k"), .layout = run_layout(r)};
    return DKM_OK;
}

static dkm_status method_knn_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                 dkm_model **model, method_info *info)
{
    info->m = dkm_data_rows(*X);
    return dkm_knn_fit(r->ctx, X, Y, s->kx, s->ky, &s->knn, model);
}

static void method_knn_report(run *r, const method_settings *s, const method_info *info)
{
    report_int(r, "m", info->m);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    if (s->ky)
        report_text(r, "output_kernel", dkm_kernel_text(s->ky));
    report_int(r, "k", s->knn.k);
}

static const option options[] = {ROW_X("training inputs, of any type"),
                                 ROW_Y("training outputs, of any type, as many"),
                                 ROW_KX,
                                 {.name = "k",
                                  .kind = OPT_WHOLE,
                                  .flags = OPT_SEARCH,
                                  .least = 1,
                                  .default_text = "1",
                                  .metavar = "N",
                                  .help = "neighbours: one hands over its output, several are "
                                          "averaged (dense), vote (labels), or are averaged in "
                                          "the space of --ky"},
                                 {.name = "ky",
                                  .kind = OPT_TEXT,
                                  .metavar = "KERNEL",
                                  .help = "kernel of the outputs: predict the training output "
                                          "nearest to the mean of the neighbours' outputs"},
                                 ROW_X_TYPE,
                                 ROW_Y_TYPE,
                                 {0}};

static const char *const lists[] = {"k", NULL};

const method method_knn = {
    .name = "knn",
    .summary = "nearest neighbours in the feature space of a kernel: the baseline",
    .about = "Distances are those of the feature space of --kx; linear means Euclidean ones. "
             "Outputs may be of any type: one neighbour hands over its own; of several, those that "
             "are neither numbers nor classes need --ky.",
    .arguments = "--x x.npy --y y.npy --kx 'rbf(sigma=2)' --k 5",
    .options = options,
    .settings = method_knn_settings,
    .fit = method_knn_fit,
    .tell = method_knn_report,
    .lists = lists,
    .takes_gram = 1,
};
