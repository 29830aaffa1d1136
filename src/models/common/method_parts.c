#include "models/common/method_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSUMED_COMPONENTS = 64, ASSUMED_CLASSES = 10, MIXED_FROM = 1500 };
#define COMPARED 4000 /* inputs for which the exact fit costs next to nothing */

int dkm_components_parse(const char *text, dkm_idx *components, double *share)
{
    char *end;
    double number;

    if (strcmp(text, "all") == 0) {
        *components = INT64_MAX;
        return 1;
    }
    errno = 0;
    number = strtod(text, &end);
    if (end == text || errno != 0 || !(number > 0))
        return 0;
    if (strcmp(end, "%") == 0) {
        *components = 0;
        *share = number / 100.0;
        return number <= 100.0;
    }
    if (*end != '\0' || number != floor(number) || number > 1e15)
        return 0;
    *components = (dkm_idx)number;
    return 1;
}

dkm_local dkm_read_eigen(dkm_ctx *ctx, const dkm_settings *s, dkm_eigen_settings *eigen)
{
    static const dkm_eigen_solver solvers[] = {DKM_EIGEN_AUTO, DKM_EIGEN_BLOCK, DKM_EIGEN_FULL};
    const char *text = dkm_settings_text(s, "components");

    eigen->solver = solvers[dkm_settings_choice(s, "eigensolver")];
    if (text && dkm_components_parse(text, &eigen->components, &eigen->share))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "%scomponents %s: give a number of at least 1, a share of variance up to "
                    "100%%, or all",
                    s->prefix, text ? text : "");
}

dkm_ridge_precision dkm_read_precision(const dkm_settings *s)
{
    static const dkm_ridge_precision precisions[] = {DKM_RIDGE_AUTO, DKM_RIDGE_DOUBLE,
                                                     DKM_RIDGE_MIXED, DKM_RIDGE_SINGLE};

    return precisions[dkm_settings_choice(s, "precision")];
}

void dkm_read_nystroem(const dkm_settings *s, dkm_nystroem_settings *nystroem)
{
    static const dkm_storage storages[] = {DKM_STORAGE_AUTO, DKM_STORE, DKM_RECOMPUTE};

    *nystroem = (dkm_nystroem_settings){
        .landmarks = dkm_settings_int(s, "landmarks"),
        .choice = (dkm_landmark_method)dkm_settings_choice(s, "landmark-choice"),
        .all_centers = dkm_settings_choice(s, "basis") == 1,
        .tolerance = dkm_settings_real(s, "tolerance"),
        .max_steps = (int)dkm_settings_int(s, "max-iter"),
        .precision = dkm_read_precision(s),
        .keep = storages[dkm_settings_choice(s, "cache")],
        .compare = COMPARED};
}

dkm_local dkm_check_examples(dkm_ctx *ctx, dkm_idx m, const dkm_data *Y)
{
    if (Y && m != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)m, (long long)dkm_data_rows(Y));
    if (m == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    return DKM_LOCAL_OK;
}

void dkm_report_components(dkm_report *report, const dkm_eigen_info *info)
{
    dkm_report_add_int(report, "components", info->components);
    if (info->wanted > info->components && info->wanted != INT64_MAX)
        dkm_report_warn(report, "%lld components were asked for and only %lld are not zero",
                        (long long)info->wanted, (long long)info->components);
}

void dkm_report_eigen(dkm_report *report, const dkm_eigen_info *info)
{
    dkm_report_components(report, info);
    dkm_report_add_real(report, "explained", info->explained);
    dkm_report_add_text(report, "eigensolver", info->solver);
    if (info->rounds > 0)
        dkm_report_add_int(report, "rounds", info->rounds);
    if (isfinite(info->residual))
        dkm_report_add_real(report, "residual", info->residual);
    if (info->negative < 0)
        dkm_report_add_real(report, "most_negative", info->negative);
}

void dkm_report_ridge(dkm_report *report, const dkm_ridge_info *ridge)
{
    dkm_report_add_text(report, "precision", ridge->precision);
    dkm_report_add_real(report, "residual", ridge->residual);
    dkm_report_add_real(report, "condition", ridge->condition);
    if (ridge->steps > 0)
        dkm_report_add_int(report, "refinement_steps", ridge->steps);
    if (ridge->shift > 0)
        dkm_report_add_real(report, "shift", ridge->shift);
    if (ridge->jitter_steps > 0) {
        dkm_report_add_real(report, "jitter", ridge->jitter);
        dkm_report_add_int(report, "jitter_steps", ridge->jitter_steps);
    }
}

void dkm_report_nystroem(dkm_report *report, const dkm_nystroem_info *info)
{
    dkm_report_add_int(report, "landmarks", info->landmarks);
    dkm_report_add_text(report, "landmark_choice", info->choice);
    dkm_report_add_text(report, "centers", info->all_centers ? "all" : "landmarks");
    dkm_report_add_text(report, "precision", info->precision);
    dkm_report_add_text(report, "inputs", info->streamed ? "streamed" : "memory");
    dkm_report_add_text(report, "kernel_values", info->stored ? "stored" : "recomputed");
    if (info->all_centers)
        dkm_report_add_text(report, "kernel_matrix", info->matrix_stored ? "stored" : "recomputed");
    dkm_report_add_int(report, "steps", info->steps);
    dkm_report_add_real(report, "residual", info->residual);
    if (isfinite(info->checked))
        dkm_report_add_real(report, "residual_in_double", info->checked);
    dkm_report_add_text(report, "converged", info->converged ? "yes" : "no");
    dkm_report_add_real(report, "training_residual", info->fit);
    if (isfinite(info->distance))
        dkm_report_add_real(report, "exact_distance", info->distance);
    dkm_report_add_reals(report, "convergence", info->steps, info->history);
}

static void note_assumption(dkm_cost *cost, const char *what, int assumed)
{
    snprintf(cost->note, sizeof cost->note, "%s is not known yet: taking %d for the plan", what,
             assumed);
}

dkm_idx dkm_estimate_components(const dkm_eigen_settings *eigen, dkm_cost *cost)
{
    if (eigen->components > 0 || eigen->share >= 1)
        return eigen->components;
    note_assumption(cost, "how many components explain that share", ASSUMED_COMPONENTS);
    return ASSUMED_COMPONENTS;
}

dkm_idx dkm_estimate_classes(const dkm_workload *work, dkm_cost *cost)
{
    if (work->y_classes > 0)
        return work->y_classes;
    note_assumption(cost, "how many classes there are", ASSUMED_CLASSES);
    return ASSUMED_CLASSES;
}

dkm_idx dkm_estimate_outputs(const dkm_workload *work, dkm_cost *cost)
{
    return work->y_type == DKM_DENSE ? work->y_cols : dkm_estimate_classes(work, cost);
}

int dkm_estimate_mixed(dkm_ridge_precision precision, dkm_idx m)
{
    return precision == DKM_RIDGE_MIXED || precision == DKM_RIDGE_SINGLE ||
           (precision == DKM_RIDGE_AUTO && m >= MIXED_FROM);
}
