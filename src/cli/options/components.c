#include "cli/options/components.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "64", "95%" or "all"; nonzero when it is none of them. */
static int read_components(const char *text, dkm_eigen_settings *settings)
{
    char *end;
    double number;

    if (strcmp(text, "all") == 0) {
        settings->components = INT64_MAX;
        return 0;
    }
    errno = 0;
    number = strtod(text, &end);
    if (end == text || errno != 0 || !(number > 0))
        return 1;
    if (strcmp(end, "%") == 0) {
        settings->components = 0;
        settings->share = number / 100.0;
        return number > 100.0;
    }
    settings->components = (dkm_idx)number;
    return *end != '\0' || number != floor(number) || number > 1e15;
}

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
    if (read_components(text, settings) == 0)
        return DKM_OK;
    return dkm_agree(r->ctx, dkm_fail(r->ctx, DKM_ERR_ARG,
                                      "--components %s: give a number of at least 1, a share of "
                                      "variance up to 100%%, or all",
                                      text));
}

int components_warn(run *r, const dkm_eigen_info *info)
{
    if (info->wanted <= info->components || info->wanted == INT64_MAX)
        return 0;
    dkm_log(r->ctx, DKM_WARN, "%lld components were asked for and only %lld are not zero",
            (long long)info->wanted, (long long)info->components);
    return 1;
}

void components_tell_count(run *r, const dkm_eigen_info *info)
{
    report_int(r, "components", info->components);
    components_warn(r, info);
}

void components_tell(run *r, const dkm_eigen_info *info)
{
    components_tell_count(r, info);
    report_real(r, "explained", info->explained);
    report_text(r, "eigensolver", info->solver);
    if (info->rounds > 0)
        report_int(r, "rounds", info->rounds);
    if (isfinite(info->residual))
        report_real(r, "residual", info->residual);
    if (info->negative < 0)
        report_real(r, "most_negative", info->negative);
}
