#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/bench.h>

#include "cli/bench/bench.h"

enum { PHASES = 64 };

double bench_start(bench *b)
{
    MPI_Barrier(dkm_ctx_comm(b->ctx));
    return MPI_Wtime();
}

double bench_stop(bench *b, double begun)
{
    double seconds = MPI_Wtime() - begun;

    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(b->ctx));
    return seconds;
}

static void add_note(bench_turn *t, bench_note note)
{
    if (t->count < BENCH_NOTES)
        t->notes[t->count++] = note;
}

void bench_note_real(bench_turn *t, const char *name, double number)
{
    add_note(t, (bench_note){.name = name, .number = number});
}

void bench_note_text(bench_turn *t, const char *name, const char *text)
{
    add_note(t, (bench_note){.name = name, .text = text});
}

double bench_phase(bench *b, const char *name, dkm_idx *calls)
{
    dkm_phase_summary phases[PHASES];
    int count = dkm_phase_summaries(b->ctx, PHASES, phases);

    if (calls)
        *calls = 0;
    for (int k = 0; k < count; k++)
        if (strcmp(phases[k].name, name) == 0) {
            if (calls)
                *calls = phases[k].calls;
            return phases[k].max;
        }
    return 0;
}

static const char *precision_name(const bench *b)
{
    return args_accepts(b->r->args, "precision") ? args_text(b->r->args, "precision") : "double";
}

static double flop_rate(const bench_turn *t)
{
    return t->flops / t->seconds;
}

static void record_usual(const bench *b, const bench_turn *t)
{
    dkm_runlog *record = b->r->record;
    char grid[40];

    snprintf(grid, sizeof grid, "%dx%d", dkm_grid_rows(b->grid), dkm_grid_cols(b->grid));
    dkm_runlog_int(record, "n", b->n);
    if (b->d > 0)
        dkm_runlog_int(record, "d", b->d);
    dkm_runlog_text(record, "kernel", dkm_kernel_text(b->kernel));
    dkm_runlog_text(record, "grid", grid);
    dkm_runlog_int(record, "block", b->nb);
    dkm_runlog_text(record, "precision", precision_name(b));
    dkm_runlog_real(record, "seconds", t->seconds);
    if (t->flops > 0)
        dkm_runlog_real(record, "flop_rate", flop_rate(t));
    if (t->gemm_rate > 0) {
        dkm_runlog_real(record, "gemm_rate", t->gemm_rate);
        dkm_runlog_real(record, "ratio", flop_rate(t) / t->gemm_rate);
    }
    dkm_runlog_real(record, "residual", t->residual);
}

static void record_turn(const bench *b, const bench_turn *t)
{
    dkm_runlog *record = b->r->record;

    if (!record)
        return;
    record_usual(b, t);
    for (int k = 0; k < t->count; k++) {
        if (t->notes[k].text)
            dkm_runlog_text(record, t->notes[k].name, t->notes[k].text);
        else
            dkm_runlog_real(record, t->notes[k].name, t->notes[k].number);
    }
}

static dkm_local check_turn(bench *b, const bench_turn *t)
{
    if (t->residual < 1 && t->seconds > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(b->ctx, DKM_ERR_NUMERIC,
                    "a residual of %g: a result without a right digit is not timed", t->residual);
}

static dkm_status take_turn(bench *b, bench_work *work, bench_turn *t)
{
    dkm_status status = DKM_OK;

    *t = (bench_turn){.residual = NAN};
    if (b->against_gemm)
        DKM_TRY(dkm_gemm_rate(b->ctx, b->precision, args_int(b->r->args, "gemm"), &t->gemm_rate));
    dkm_phase_clear(b->ctx);
    DKM_TRY(work(b, t));
    DKM_AGREE(b->ctx, check_turn(b, t));
    dkm_log(b->ctx, DKM_DEBUG, "%.4f s, residual %.2e", t->seconds, t->residual);
    record_turn(b, t);
out:
    return status;
}

static void show_size(bench *b)
{
    char grid[40];

    snprintf(grid, sizeof grid, "%dx%d", dkm_grid_rows(b->grid), dkm_grid_cols(b->grid));
    run_show_real(b->r, "n", (double)b->n);
    if (b->d > 0)
        run_show_real(b->r, "d", (double)b->d);
    run_show(b->r, "kernel", dkm_kernel_text(b->kernel));
    run_show_real(b->r, "ranks", dkm_ctx_size(b->ctx));
    run_show(b->r, "grid", grid);
    run_show_real(b->r, "block", (double)b->nb);
    run_show(b->r, "precision", precision_name(b));
}

static int by_seconds(const void *a, const void *b)
{
    const bench_turn *x = a, *y = b;

    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The best rate of gemm over the turns, and the worst residual. */
static void show_rates(bench *b, const bench_turn *turns, int count)
{
    double gemm = 0, residual = 0;

    for (int k = 0; k < count; k++) {
        gemm = turns[k].gemm_rate > gemm ? turns[k].gemm_rate : gemm;
        residual = turns[k].residual > residual ? turns[k].residual : residual;
    }
    if (turns[0].flops > 0)
        run_show_real(b->r, "flop_rate", flop_rate(&turns[0]));
    if (gemm > 0) {
        run_show_real(b->r, "gemm_rate", gemm);
        run_show_real(b->r, "ratio", flop_rate(&turns[0]) / gemm);
    }
    run_show_real(b->r, "residual", residual);
}

static void show_notes(bench *b, const bench_turn *t)
{
    for (int k = 0; k < t->count; k++) {
        if (t->notes[k].text)
            run_show(b->r, t->notes[k].name, t->notes[k].text);
        else
            run_show_real(b->r, t->notes[k].name, t->notes[k].number);
    }
}

/* Collective. */
static void show_turns(bench *b, bench_turn *turns, int count)
{
    double peak = (double)dkm_peak_resident();

    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(b->ctx));
    qsort(turns, (size_t)count, sizeof *turns, by_seconds);
    show_size(b);
    run_show_real(b->r, "repeats", count);
    run_show_real(b->r, "best_seconds", turns[0].seconds);
    run_show_real(b->r, "median_seconds",
                  0.5 * (turns[(count - 1) / 2].seconds + turns[count / 2].seconds));
    show_rates(b, turns, count);
    show_notes(b, &turns[0]);
    run_show_real(b->r, "peak_bytes", peak);
}

static dkm_local make_turns(bench *b, int count, bench_turn **turns)
{
    *turns = calloc((size_t)count, sizeof **turns);
    if (!*turns)
        return dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory for %d turns", count);
    return DKM_LOCAL_OK;
}

dkm_status bench_run(bench *b, bench_work *work)
{
    dkm_status status = DKM_OK;
    int count = (int)args_int(b->r->args, "repeat");
    bench_turn *turns = NULL;

    DKM_AGREE(b->ctx, make_turns(b, count, &turns));
    for (int k = 0; k < count; k++) {
        if (k > 0)
            DKM_TRY(run_next_record(b->r));
        DKM_TRY(take_turn(b, work, &turns[k]));
    }
    show_turns(b, turns, count);
out:
    free(turns);
    return status;
}
