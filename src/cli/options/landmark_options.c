#include "cli/options/landmark_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/ridge_options.h"

#define COMPARED 4000 /* inputs for which the exact fit costs next to nothing */

static dkm_local check_tolerance(run *r)
{
    const value *v = args_value(r->args, "tolerance", 0);

    if (v && !(v->real > 0 && v->real < 1))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--tolerance must be above 0 and below 1, not %s",
                        v->text);
    return DKM_LOCAL_OK;
}

void landmark_choice(const run *r, dkm_nystroem_settings *s)
{
    s->landmarks = args_text(r->args, "landmarks") ? args_whole(r->args, "landmarks") : 0;
    s->choice = (dkm_landmark_method)args_whole(r->args, "landmark-choice");
}

dkm_status landmark_settings(run *r, dkm_nystroem_settings *s)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, check_tolerance(r));
    *s = (dkm_nystroem_settings){
        .all_centers = strcmp(args_text(r->args, "centers"), "all") == 0,
        .tolerance = args_text(r->args, "tolerance") ? args_real(r->args, "tolerance") : 0,
        .max_steps = (int)args_whole(r->args, "steps"),
        .precision = ridge_precision(r),
        .keep = (dkm_storage)args_whole(r->args, "keep"),
        .compare = COMPARED};
    landmark_choice(r, s);
out:
    return status;
}

dkm_local landmark_check_cv(run *r, int svr)
{
    static const char *const names[] = {"landmarks", "centers", "keep", "steps", NULL};
    dkm_local local = DKM_LOCAL_OK;

    if (strcmp(args_text(r->args, "solver"), "pcg") == 0)
        return DKM_LOCAL_OK;
    for (int k = 0; names[k]; k++)
        DKM_STEP(run_reject_option(r, names[k], "goes with --solver pcg"));
    if (!svr)
        DKM_STEP(run_reject_option(r, "tolerance", "goes with --solver pcg"));
    if (!args_accepts(r->args, "reduce") || !args_text(r->args, "reduce"))
        DKM_STEP(
            run_reject_option(r, "landmark-choice", "says which landmarks, and there are none"));
out:
    return local;
}

/* "90", "90s", "30m" or "2h" in seconds; 0 when it is none of them. */
static double read_time(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    double unit = strcmp(end, "h") == 0                   ? 3600.0
                  : strcmp(end, "m") == 0                 ? 60.0
                  : *end == '\0' || strcmp(end, "s") == 0 ? 1.0
                                                          : 0.0;

    return end != text && number > 0 && isfinite(number) ? number * unit : 0.0;
}

dkm_status landmark_seconds(run *r, double *seconds)
{
    const char *text = args_text(r->args, "time");

    *seconds = text ? read_time(text) : 0.0;
    if (!text || *seconds > 0)
        return DKM_OK;
    return dkm_agree(r->ctx, dkm_fail(r->ctx, DKM_ERR_ARG,
                                      "--time %s: give a time such as 90s, 30m or 2h", text));
}

void landmark_tell(run *r, const dkm_nystroem_info *info)
{
    report_int(r, "landmarks", info->landmarks);
    report_text(r, "landmark_choice", info->choice);
    report_text(r, "centers", info->all_centers ? "all" : "landmarks");
    report_text(r, "precision", info->precision);
    report_text(r, "inputs", info->streamed ? "streamed" : "kept");
    report_text(r, "kernel_values", info->kept ? "kept" : "recomputed");
    if (info->all_centers)
        report_text(r, "kernel_matrix", info->matrix_kept ? "kept" : "recomputed");
    report_int(r, "steps", info->steps);
    report_real(r, "residual", info->residual);
    if (isfinite(info->checked))
        report_real(r, "residual_in_double", info->checked);
    report_text(r, "converged", info->converged ? "yes" : "no");
    report_real(r, "training_residual", info->fit);
    if (isfinite(info->distance))
        report_real(r, "exact_distance", info->distance);
    if (r->record)
        dkm_runlog_reals(r->record, "convergence", info->steps, info->history);
}
