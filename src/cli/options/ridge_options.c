#include "cli/options/ridge_options.h"

#include <string.h>

dkm_ridge_precision ridge_precision(const run *r)
{
    const char *word = args_text(r->args, "precision");

    return strcmp(word, "double") == 0   ? DKM_RIDGE_DOUBLE
           : strcmp(word, "mixed") == 0  ? DKM_RIDGE_MIXED
           : strcmp(word, "single") == 0 ? DKM_RIDGE_SINGLE
                                         : DKM_RIDGE_AUTO;
}

void ridge_tell(run *r, const dkm_ridge_info *ridge)
{
    report_text(r, "precision", ridge->precision);
    report_real(r, "residual", ridge->residual);
    report_real(r, "condition", ridge->condition);
    if (ridge->steps > 0)
        report_int(r, "refinement_steps", ridge->steps);
    if (ridge->shift > 0)
        report_real(r, "shift", ridge->shift);
    if (ridge->jitter_steps > 0) {
        report_real(r, "jitter", ridge->jitter);
        report_int(r, "jitter_steps", ridge->jitter_steps);
    }
}
