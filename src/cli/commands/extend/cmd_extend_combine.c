#include <stdlib.h>

#include <dkmap/extend.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"

enum { MOST = 16 };

/* The weight of each positional argument: one lambda a model, or one less and the last gets what is
 * left. */
static dkm_local read_weights(run *r, double *weights)
{
    int count = r->args->operand_count, given = args_count(r->args, "lambda");
    double left = 1.0;

    if (count > MOST)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "%d kernels are more than the %d that can be combined",
                        count, MOST);
    if (given != count && given != count - 1)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "%d kernels take %d weights, or %d and the last has what is left of 1, not "
                        "%d",
                        count, count, count - 1, given);
    for (int k = 0; k < given; k++) {
        weights[k] = args_value(r->args, "lambda", k)->real;
        left -= weights[k];
        if (!(weights[k] >= 0 && weights[k] <= 1))
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--lambda is from 0 to 1, not %g", weights[k]);
    }
    if (given < count)
        weights[count - 1] = left > 0 ? left : 0.0;
    if (left < -1e-9 || (given == count && left > 1e-9))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "the weights of --lambda add up to %g, not to 1",
                        1.0 - left);
    return DKM_LOCAL_OK;
}

static dkm_status extend_combine(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    int count = r->args->operand_count;
    dkm_model *models[MOST] = {NULL};
    double weights[MOST];

    DKM_AGREE(r->ctx, read_weights(r, weights));
    DKM_TRY(run_check_model_path(r));
    for (int k = 0; k < count; k++)
        DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[k], &layout, &models[k]));
    DKM_TRY(
        run_error_context(r, r->args->positionals[0], dkm_extend_combine(count, models, weights)));
    DKM_TRY(dkm_model_save(models[0], path, r->args->line));
    report_int(r, "kernels", count);
    report_seconds(r);
    report_text(r, "model", path);
out:
    for (int k = 0; k < MOST; k++)
        dkm_model_destroy(&models[k]);
    return status;
}

static const option options[] = {
    {.name = "lambda",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED | OPT_LIST,
     .metavar = "L[,L...]",
     .help = "weight of each kernel, from 0 to 1; the last has what is left of 1"},
    ROW_OUTPUT("model file to write, .h5"),
    {0}};

const command command_extend_combine = {
    .name = "extend combine",
    .summary = "the joint kernel of two or more that stand on the same features",
    .about = "Q = (L1 Q1^-1 + L2 Q2^-1 + ...)^-1: its functions are smooth under every one of the "
             "kernels. No inverse is taken, and singular Q are as good as others.",
    .example = "dkmap extend combine q1.h5 q2.h5 --lambda 0.3 -o joint.h5",
    .positionals = "MODEL MODEL ...",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = extend_combine,
};
