#include "cli/options/components.h"

#include <math.h>
#include <string.h>

static dkm_eigen_solver solver_of(const char *word)
{
    return strcmp(word, "block") == 0  ? DKM_EIGEN_BLOCK
           : strcmp(word, "full") == 0 ? DKM_EIGEN_FULL
                                       : DKM_EIGEN_AUTO;
}

dkm_status components_settings(run *r, dkm_eigen_settings *settings)
{
    const char *text = args_text(r->args, "components");

    settings->solver = solver_of(args_text(r->args, "eigensolver"));
    if (dkm_components_parse(text, &settings->components, &settings->share))
        return DKM_OK;
    return dkm_agree(r->ctx, dkm_fail(r->ctx, DKM_ERR_ARG,
                                      "--components %s: give a number of at least 1, a share of "
                                      "variance up to 100%%, or all",
                                      text));
}

void components_report(run *r, const dkm_eigen_info *info)
{
    report_int(r, "components", info->components);
    if (info->wanted > info->components && info->wanted != INT64_MAX)
        dkm_log(r->ctx, DKM_WARN, "%lld components were asked for and only %lld are not zero",
                (long long)info->wanted, (long long)info->components);
    report_real(r, "explained", info->explained);
    report_text(r, "eigensolver", info->solver);
    if (info->rounds > 0)
        report_int(r, "rounds", info->rounds);
    if (isfinite(info->residual))
        report_real(r, "residual", info->residual);
    if (info->negative < 0)
        report_real(r, "most_negative", info->negative);
}
