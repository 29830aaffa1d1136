#include "cli/methods/method.h"
#include "cli/options/common_options.h"
#include "cli/options/components.h"
#include "cli/options/landmark_options.h"

static void method_kpca_report(run *r, const method_settings *s, const method_info *found)
{
    const dkm_kpca_info *info = &found->kpca;

    report_int(r, "m", info->m);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    report_grid(r, info->P, info->Q);
    report_int(r, "block", info->block);
    if (info->landmarks > 0)
        report_int(r, "landmarks", info->landmarks);
    components_tell(r, &info->eigen);
}

static dkm_status method_kpca_settings(run *r, method_settings *s)
{
    s->kpca = dkm_kpca_settings_default();
    s->kpca.layout = run_layout(r);
    landmark_choice(r, &s->kpca.nystroem);
    if (args_text(r->args, "reduce"))
        s->kpca.nystroem.landmarks = args_whole(r->args, "reduce");
    return components_settings(r, &s->kpca.eigen);
}

static dkm_status method_kpca_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                  dkm_model **model, method_info *info)
{
    (void)Y;
    return run_error_context(r, args_text(r->args, "x"),
                             dkm_kpca_fit(r->ctx, X, s->kx, &s->kpca, model, &info->kpca));
}

static const option options[] = {
    ROW_X("training objects"),
    ROW_KX,
    ROW_COMPONENTS,
    ROW_EIGENSOLVER,
    ROW_LANDMARKS("components of the Nystroem kernel of so many of the objects, "
                  "for more than a kernel matrix can hold; the model keeps those alone"),
    ROW_REDUCE("the same, under the name it has in fit krr"),
    ROW_LANDMARK_CHOICE,
    ROW_X_TYPE,
    {0}};

const method method_kpca = {
    .name = "kpca",
    .summary = "kernel principal components: directions of largest variance in feature space",
    .about = "Centres the kernel matrix of the training objects and finds its leading eigenpairs. "
             "`dkmap encode` then gives the coordinates of any objects along them.",
    .arguments = "--x x.npy --kx 'rbf(sigma=2)' --components 64",
    .options = options,
    .settings = method_kpca_settings,
    .fit = method_kpca_fit,
    .tell = method_kpca_report,
};
