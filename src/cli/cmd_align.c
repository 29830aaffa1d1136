#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/grid.h>

#include "commands.h"
#include "rows.h"
#include "target.h"
#include "trials.h"

/* Objects, the target, and the alignment of every setting with it. */
typedef struct alignment {
    run *r;
    square objects;
    target target;
    trials trials;
    double *found; /* one a setting; NaN where there is none */
} alignment;

static void close_alignment(alignment *s)
{
    free(s->found);
    trials_free(&s->trials);
    target_free(&s->target);
    square_close(&s->objects);
}

/* The kernel of setting k. */
static dkm_status parse_trial(alignment *s, int64_t k, dkm_kernel **kernel)
{
    dkm_status status = DKM_OK;
    char *text = NULL;

    *kernel = NULL;
    DKM_TRY(trials_text(s->r, &s->trials, k, "kx", &text));
    DKM_TRY(dkm_kernel_parse(s->r->ctx, text, kernel));
out:
    free(text);
    return status;
}

/* A wrong kernel is told before anything is computed. */
static dkm_status check_kernels(alignment *s)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    for (int64_t k = 0; k < s->trials.count; k++) {
        DKM_TRY(parse_trial(s, k, &kernel));
        dkm_kernel_destroy(&kernel);
    }
out:
    return status;
}

static dkm_local take_room(alignment *s)
{
    s->found = calloc((size_t)s->trials.count, sizeof *s->found);
    if (!s->found)
        return dkm_fail(s->r->ctx, DKM_ERR_MEMORY, "no memory for %lld alignments",
                        (long long)s->trials.count);
    return DKM_LOCAL_OK;
}

static dkm_status open_alignment(alignment *s)
{
    static const char *const expressions[] = {"kx", NULL};
    dkm_status status = DKM_OK;

    DKM_TRY(target_choose(&s->target, s->r));
    DKM_TRY(trials_read(s->r, expressions, &s->trials));
    DKM_TRY(check_kernels(s));
    DKM_AGREE(s->r->ctx, take_room(s));
    DKM_TRY(square_open(&s->objects, s->r));
    DKM_TRY(target_make(&s->target, &s->objects));
out:
    return status;
}

static dkm_status try_one(alignment *s, int64_t k)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(parse_trial(s, k, &kernel));
    DKM_TRY(square_gram(&s->objects, kernel, &K));
    DKM_TRY(target_align(&s->target, K, args_flag(s->r->args, "center"), &s->found[k]));
    dkm_say(s->r->ctx, DKM_DEBUG, "%s has an alignment of %.6f", dkm_kernel_text(kernel),
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

    for (int64_t k = 0; k < s->trials.count; k++)
        if (!isnan(s->found[k]) && (best < 0 || s->found[k] > s->found[best]))
            best = k;
    return best;
}

static dkm_local check_found(const alignment *s)
{
    if (best_of(s) >= 0)
        return DKM_LOCAL_OK;
    return dkm_fail(s->r->ctx, DKM_ERR_NUMERIC,
                    "there is no alignment: the target or the kernel matrix is zero%s",
                    args_flag(s->r->args, "center") ? " when centred" : "");
}

static dkm_status try_all(alignment *s)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(s->r->ctx, "trials");
    for (int64_t k = 0; k < s->trials.count; k++) {
        DKM_TRY(try_one(s, k));
        dkm_progress(s->r->ctx, (double)(k + 1), (double)s->trials.count);
    }
    DKM_AGREE(s->r->ctx, check_found(s));
out:
    dkm_phase_end(s->r->ctx);
    return status;
}

/* A row of the table, and the same for the record. */
static void tell_trial(run *r, int64_t k, const char *label, double found)
{
    char text[TRIAL_LABEL + 40];

    snprintf(text, sizeof text, "%-24s %.6f", label, found);
    run_print(r, text);
    if (!r->record)
        return;
    snprintf(text, sizeof text, "trials.%lld.setting", (long long)k);
    dkm_record_text(r->record, text, label);
    snprintf(text, sizeof text, "trials.%lld.alignment", (long long)k);
    dkm_record_real(r->record, text, found);
}

static void tell_table(alignment *s)
{
    char label[TRIAL_LABEL];

    if (s->trials.names == 0)
        return;
    run_print(s->r, "setting                  alignment");
    for (int64_t k = 0; k < s->trials.count; k++) {
        trials_label(&s->trials, k, label);
        tell_trial(s->r, k, label, s->found[k]);
    }
    trials_label(&s->trials, best_of(s), label);
    run_tell_text(s->r, "best", label);
}

static dkm_status tell(alignment *s)
{
    run *r = s->r;
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    DKM_TRY(parse_trial(s, best_of(s), &kernel));
    run_tell_int(r, "m", s->objects.m);
    run_tell_grid(r, dkm_grid_rows(s->objects.grid), dkm_grid_cols(s->objects.grid));
    target_tell(&s->target, r);
    tell_table(s);
    run_tell_text(r, "kernel", dkm_kernel_text(kernel));
    run_tell_real(r, "alignment", s->found[best_of(s)]);
    run_tell_seconds(r);
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

static dkm_status run_align(run *r)
{
    alignment s = {.r = r};
    dkm_status status = DKM_OK;

    DKM_TRY(open_alignment(&s));
    DKM_TRY(try_all(&s));
    DKM_TRY(tell(&s));
out:
    close_alignment(&s);
    return status;
}

static const option options[] = {
    ROW_X("objects"),
    ROW_KX,
    ROW_TRY,
    ROWS_TARGET,
    {.name = "center", .kind = OPT_FLAG, .help = "align the centred matrices H K H"},
    ROW_X_TYPE,
    {0}};

const command command_align = {
    .name = "align",
    .summary = "choose a kernel by its alignment with a target",
    .about = "Alignment is the cosine between two matrices, <K, T> / sqrt(<K, K> <T, T>): 1 when "
             "the kernel matrix K is the target T but for a factor. Each combination of the values "
             "of --try stands for $NAME in --kx; the best is told last.",
    .example = "mpirun -np 4 dkmap align --x y.npy --kx 'rbf(sigma=$s)' --try s=1,2,4,8",
    .tables = {options, compute_options, report_options},
    .run = run_align,
};
