#include <string.h>

#include <dkmap/ridge.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

static dkm_status bench_ridge_settings_of(bench *b, dkm_ridge_settings *settings)
{
    const char *word = args_text(b->r->args, "precision");

    *settings = dkm_ridge_settings_default();
    settings->precision = strcmp(word, "double") == 0   ? DKM_RIDGE_DOUBLE
                          : strcmp(word, "mixed") == 0  ? DKM_RIDGE_MIXED
                          : strcmp(word, "single") == 0 ? DKM_RIDGE_SINGLE
                                                        : DKM_RIDGE_AUTO;
    return run_positive(b->r, "gamma", &settings->gamma);
}

/* Collective. */
static void note_phases(bench *b, bench_turn *t)
{
    double gram = bench_phase(b, "gram", NULL), factor = bench_phase(b, "factor", NULL);

    bench_note_real(t, "gram_seconds", gram);
    bench_note_real(t, "factor_seconds", factor);
    bench_note_real(t, "refine_seconds", bench_phase(b, "refine", NULL));
}

static void bench_ridge_note_info(bench_turn *t, const dkm_ridge_info *info)
{
    bench_note_text(t, "solved_in", info->precision);
    bench_note_real(t, "refinement_steps", info->steps);
    bench_note_real(t, "condition", info->condition);
    if (info->shift > 0)
        bench_note_real(t, "shift", info->shift);
    if (info->jitter_steps > 0)
        bench_note_real(t, "jitter", info->jitter);
    if (info->recomputed)
        bench_note_text(t, "double_matrix", "recomputed");
    if (info->fell_back)
        bench_note_text(t, "mixed", "stalled");
}

static dkm_status bench_ridge_time_ridge(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_ridge_settings settings;
    dkm_ridge_info info;
    dkm_dmat *Y = NULL, *B = NULL;
    double n = (double)b->n, begun;

    DKM_TRY(bench_ridge_settings_of(b, &settings));
    DKM_TRY(bench_random(b, args_int(b->r->args, "outputs"), DKM_F64, &Y));
    begun = bench_start(b);
    DKM_TRY(dkm_ridge_kernel(b->kernel, b->prepared, b->nb, &settings, Y, &B, &info));
    t->seconds = bench_stop(b, begun);
    t->flops = n * n * (double)b->d + n * n * n / 3.0;
    t->residual = info.residual;
    note_phases(b, t);
    bench_ridge_note_info(t, &info);
out:
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    return status;
}

static dkm_status bench_ridge(run *r)
{
    int single = strcmp(args_text(r->args, "precision"), "single") == 0;
    dkm_status status = DKM_OK;
    bench b;

    DKM_TRY(bench_open(&b, r, single ? DKM_F32 : DKM_F64));
    DKM_TRY(bench_run(&b, bench_ridge_time_ridge));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {ROW_N,
                                 ROW_DENSE,
                                 ROW_D,
                                 ROW_SIGMA,
                                 ROW_GAMMA("1e-3"),
                                 {.name = "outputs",
                                  .kind = OPT_INT,
                                  .metavar = "C",
                                  .min = 1,
                                  .default_text = "10",
                                  .help = "right sides, random numbers"},
                                 {.name = "precision",
                                  .kind = OPT_CHOICE,
                                  .choices = "auto|double|mixed|single|",
                                  .default_text = "mixed",
                                  .help = "of the factor"},
                                 ROW_GEMM,
                                 ROW_REPEAT,
                                 {0}};

const command command_bench_ridge = {
    .name = "bench ridge",
    .summary = "a complete ridge regression: kernel matrix, factor and refinement",
    .about = "Counts n^2 d + n^3 / 3 operations, whatever the way. Unless all is in single "
             "precision the rate is held against gemm in double: mixed precision may well pass it. "
             "A matrix that is recomputed counts as refinement and as gram.",
    .example = "mpirun -np 4 dkmap bench ridge --n 8000 --precision mixed --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_ridge,
};
