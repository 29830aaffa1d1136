#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/grid.h>

#include "cli/commands/commands.h"
#include "cli/options/alignment_target.h"
#include "cli/options/common_options.h"
#include "cli/param_search/param_grid.h"

/* Objects, the target, and the alignment of every setting with it. */
typedef struct alignment {
    run *r;
    gram_problem objects;
    alignment_target alignment_target;
    param_grid param_grid;
    double *found; /* one a setting; NaN where there is none */
} alignment;

static void close_alignment(alignment *s)
{
    free(s->found);
    param_grid_free(&s->param_grid);
    alignment_target_free(&s->alignment_target);
    gram_problem_close(&s->objects);
}

/* The kernel of setting k, its words resolved once there are objects. */
static dkm_status parse_trial(alignment *s, int64_t k, dkm_kernel **kernel)
{
    dkm_status status = DKM_OK;
    char *text = NULL;

    *kernel = NULL;
    DKM_TRY(param_grid_text(s->r, &s->param_grid, k, "kx", &text));
    DKM_TRY(dkm_kernel_parse(s->r->ctx, text, kernel));
    if (s->objects.X)
        DKM_TRY(dkm_kernel_resolve(*kernel, s->objects.X));
out:
    if (status != DKM_OK)
        dkm_kernel_destroy(kernel);
    free(text);
    return status;
}

/* A wrong kernel is reported before anything is computed. */
static dkm_status check_kernels(alignment *s)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    for (int64_t k = 0; k < s->param_grid.count; k++) {
        DKM_TRY(parse_trial(s, k, &kernel));
        dkm_kernel_destroy(&kernel);
    }
out:
    return status;
}

static dkm_local cmd_align_reserve(alignment *s)
{
    s->found = calloc((size_t)s->param_grid.count, sizeof *s->found);
    if (!s->found)
        return dkm_fail(s->r->ctx, DKM_ERR_MEMORY, "no memory for %lld alignments",
                        (long long)s->param_grid.count);
    return DKM_LOCAL_OK;
}

static dkm_status open_alignment(alignment *s)
{
    static const char *const expressions[] = {"kx", NULL};
    dkm_status status = DKM_OK;

    DKM_TRY(alignment_target_choose(&s->alignment_target, s->r));
    DKM_TRY(param_grid_read(s->r, expressions, &s->param_grid));
    DKM_TRY(check_kernels(s));
    DKM_AGREE(s->r->ctx, cmd_align_reserve(s));
    DKM_TRY(gram_problem_open(&s->objects, s->r));
    DKM_TRY(alignment_target_make(&s->alignment_target, &s->objects));
out:
    return status;
}

static dkm_status try_one(alignment *s, int64_t k)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(parse_trial(s, k, &kernel));
    DKM_TRY(gram_problem_gram(&s->objects, kernel, &K));
    DKM_TRY(alignment_target_align(&s->alignment_target, K, args_flag(s->r->args, "center"),
                                   &s->found[k]));
    dkm_log(s->r->ctx, DKM_DEBUG, "%s has an alignment of %.6f", dkm_kernel_text(kernel),
            s->found[k]);
out:
    dkm_dmat_destroy(&K);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* The first of the best settings; -1 when none has an alignment. */
static int64_t best_of(const alignment *s)
{
    int64_t best = -1;

    for (int64_t k = 0; k < s->param_grid.count; k++)
        if (!isnan(s->found[k]) && (best < 0 || s->found[k] > s->found[best]))
            best = k;
    return best;
}

static dkm_local cmd_align_check_found(const alignment *s)
{
    if (best_of(s) >= 0)
        return DKM_LOCAL_OK;
    return dkm_fail(s->r->ctx, DKM_ERR_NUMERIC,
                    "there is no alignment: the target or the kernel matrix is zero%s",
                    args_flag(s->r->args, "center") ? " when centered" : "");
}

static dkm_status cmd_align_try_all(alignment *s)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(s->r->ctx, "trials");
    for (int64_t k = 0; k < s->param_grid.count; k++) {
        DKM_TRY(try_one(s, k));
        dkm_progress(s->r->ctx, (double)(k + 1), (double)s->param_grid.count);
    }
    DKM_AGREE(s->r->ctx, cmd_align_check_found(s));
out:
    dkm_phase_end(s->r->ctx);
    return status;
}

/* A row of the table, and the same for the record. */
static void tell_trial(run *r, int64_t k, const char *label, double found)
{
    char text[PARAM_LABEL + 40];

    snprintf(text, sizeof text, "%-24s %.6f", label, found);
    run_print(r, text);
    if (!r->record)
        return;
    snprintf(text, sizeof text, "trials.%lld.setting", (long long)k);
    dkm_runlog_text(r->record, text, label);
    snprintf(text, sizeof text, "trials.%lld.alignment", (long long)k);
    dkm_runlog_real(r->record, text, found);
}

static void cmd_align_report_table(alignment *s)
{
    char label[PARAM_LABEL];

    if (s->param_grid.names == 0)
        return;
    run_print(s->r, "setting                  alignment");
    for (int64_t k = 0; k < s->param_grid.count; k++) {
        param_grid_label(&s->param_grid, k, label);
        tell_trial(s->r, k, label, s->found[k]);
    }
    param_grid_label(&s->param_grid, best_of(s), label);
    report_text(s->r, "best", label);
}

static dkm_status cmd_align_report(alignment *s)
{
    run *r = s->r;
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    DKM_TRY(parse_trial(s, best_of(s), &kernel));
    report_int(r, "m", s->objects.m);
    report_grid(r, dkm_grid_rows(s->objects.grid), dkm_grid_cols(s->objects.grid));
    alignment_target_report(&s->alignment_target, r);
    cmd_align_report_table(s);
    report_text(r, "kernel", dkm_kernel_text(kernel));
    report_real(r, "alignment", s->found[best_of(s)]);
    report_seconds(r);
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

static dkm_status run_align(run *r)
{
    alignment s = {.r = r};
    dkm_status status = DKM_OK;

    DKM_TRY(open_alignment(&s));
    DKM_TRY(cmd_align_try_all(&s));
    DKM_TRY(cmd_align_report(&s));
out:
    close_alignment(&s);
    return status;
}

static const option options[] = {
    ROW_X("objects"),
    ROW_KX,
    ROW_TRY,
    ROWS_TARGET,
    {.name = "center", .kind = OPT_FLAG, .help = "align the centered matrices H K H"},
    ROW_X_TYPE,
    {0}};

const command command_align = {
    .name = "align",
    .summary = "choose a kernel by its alignment with a target",
    .about = "Alignment is the cosine between two matrices, <K, T> / sqrt(<K, K> <T, T>): 1 when "
             "the kernel matrix K is the target T but for a factor. Each combination of the values "
             "of --try stands for $NAME in --kx; the best is printed last.",
    .example = "mpirun -np 4 dkmap align --x y.npy --kx 'rbf(sigma=$s)' --try s=1,2,4,8",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = run_align,
};
