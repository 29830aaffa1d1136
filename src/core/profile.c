#include <dkmap/context.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/context_impl.h"
#include "core/printable.h"

#define PROGRESS_INTERVAL 0.2 /* seconds between two calls of the listener */

void dkm_log(dkm_ctx *ctx, dkm_level level, const char *format, ...)
{
    char text[DKM_MESSAGE_LENGTH];
    va_list args;

    if (ctx->rank != 0 || !ctx->listener.message)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dkm_make_printable(text, 1);
    ctx->listener.message(ctx->listener.user, level, text);
}

static int find_phase(dkm_ctx *ctx, const char *name)
{
    int k;

    for (k = 0; k < ctx->phase_count; k++)
        if (strcmp(ctx->phases[k].name, name) == 0)
            return k;
    if (k == DKM_PHASE_LIMIT)
        return DKM_PHASE_LIMIT - 1;
    ctx->phases[k] = (phase){.name = name};
    ctx->phase_count++;
    return k;
}

static phase *innermost(dkm_ctx *ctx)
{
    int d = ctx->depth - 1;

    return d < 0 || d >= DKM_PHASE_DEPTH ? NULL : &ctx->phases[ctx->open[d]];
}

static dkm_comm_counts comm_so_far(const dkm_ctx *ctx)
{
    dkm_comm_counts counts = {0};

    if (ctx->comm_reader)
        ctx->comm_reader(&counts);
    return counts;
}

static void add_comm(dkm_comm_counts *sum, const dkm_comm_counts *from, const dkm_comm_counts *to)
{
    sum->seconds += to->seconds - from->seconds;
    sum->bytes += to->bytes - from->bytes;
    sum->messages += to->messages - from->messages;
    sum->collectives += to->collectives - from->collectives;
}

void dkm_phase_begin(dkm_ctx *ctx, const char *name)
{
    if (ctx->depth < DKM_PHASE_DEPTH) {
        int k = find_phase(ctx, name);
        ctx->open[ctx->depth] = k;
        ctx->phases[k].calls++;
        ctx->phases[k].entered = MPI_Wtime();
        ctx->phases[k].comm_entered = comm_so_far(ctx);
        ctx->phases[k].reported = 0;
    }
    ctx->depth++;
}

void dkm_phase_end(dkm_ctx *ctx)
{
    phase *p = innermost(ctx);

    if (p) {
        dkm_comm_counts now = comm_so_far(ctx);

        p->seconds += MPI_Wtime() - p->entered;
        add_comm(&p->comm, &p->comm_entered, &now);
        if (ctx->depth == 1)
            p->outermost_bytes += now.bytes - p->comm_entered.bytes;
    }
    if (ctx->depth > 0)
        ctx->depth--;
}

void dkm_phase_clear(dkm_ctx *ctx)
{
    assert(ctx->depth == 0);
    ctx->phase_count = 0;
}

void dkm_phase_flops(dkm_ctx *ctx, double flops)
{
    phase *p = innermost(ctx);

#pragma omp critical(dkm_flops)
    if (p)
        p->flops += flops;
}

/* The rest takes as long as it did so far: since it was entered, or where a phase reported how
 * much was done before, since then. */
static void note_progress(phase *p, double done, double total, double now)
{
    int at_once = now - p->entered < PROGRESS_INTERVAL;

    if (!p->reported) {
        p->began = at_once ? done : 0;
        p->began_at = at_once ? now : p->entered;
    }
    p->reported = 1;
    p->reported_at = now;
    done = fmin(done, total); /* an iteration may do better than it was asked to */
    p->fraction = done / total;
    p->left = done > p->began ? (now - p->began_at) * (total - done) / (done - p->began) : -1.0;
}

/* The outermost of the open phases that have reported how far they are. */
static const phase *progress_owner(const dkm_ctx *ctx)
{
    int d = 0;

    while (!ctx->phases[ctx->open[d]].reported)
        d++;
    return &ctx->phases[ctx->open[d]];
}

void dkm_progress(dkm_ctx *ctx, double done, double total)
{
    phase *p = innermost(ctx);
    const phase *owner;
    double now;

    if (ctx->rank != 0 || !p || !ctx->listener.progress || total <= 0)
        return;
    now = MPI_Wtime();
    note_progress(p, done, total, now);
    if (now - ctx->last_progress < PROGRESS_INTERVAL)
        return;
    ctx->last_progress = now;
    owner = progress_owner(ctx);
    ctx->listener.progress(ctx->listener.user, owner->name, owner->fraction,
                           owner->left < 0 ? -1.0
                                           : fmax(0.0, owner->left - (now - owner->reported_at)));
}

/* Least, mean and largest of each count over the ranks. */
static void summarize_comm(dkm_ctx *ctx, const dkm_comm_counts *own, dkm_phase_summary *s)
{
    enum { COUNTS = 4 };
    double mine[COUNTS] = {own->seconds, own->bytes, own->messages, own->collectives};
    double all[3][COUNTS];
    dkm_comm_counts *to[3] = {&s->comm_min, &s->comm_mean, &s->comm_max};

    MPI_Allreduce(mine, all[0], COUNTS, MPI_DOUBLE, MPI_MIN, ctx->comm);
    MPI_Allreduce(mine, all[1], COUNTS, MPI_DOUBLE, MPI_SUM, ctx->comm);
    MPI_Allreduce(mine, all[2], COUNTS, MPI_DOUBLE, MPI_MAX, ctx->comm);
    for (int i = 0; i < COUNTS; i++)
        all[1][i] /= ctx->size;
    for (int k = 0; k < 3; k++)
        *to[k] = (dkm_comm_counts){all[k][0], all[k][1], all[k][2], all[k][3]};
}

int dkm_phase_summaries(dkm_ctx *ctx, int capacity, dkm_phase_summary *out)
{
    int k, count = ctx->phase_count < capacity ? ctx->phase_count : capacity;

    MPI_Bcast(&count, 1, MPI_INT, 0, ctx->comm); /* a phase that a rank skipped counts zero there */
    for (k = 0; k < count; k++) {
        double mine = k < ctx->phase_count ? ctx->phases[k].seconds : 0.0;
        double flops = k < ctx->phase_count ? ctx->phases[k].flops : 0.0;
        double outermost = k < ctx->phase_count ? ctx->phases[k].outermost_bytes : 0.0;
        dkm_comm_counts comm = k < ctx->phase_count ? ctx->phases[k].comm : (dkm_comm_counts){0};
        dkm_phase_summary *s = &out[k];

        s->name = k < ctx->phase_count ? ctx->phases[k].name : "";
        s->calls = k < ctx->phase_count ? ctx->phases[k].calls : 0;
        MPI_Allreduce(&mine, &s->min, 1, MPI_DOUBLE, MPI_MIN, ctx->comm);
        MPI_Allreduce(&mine, &s->max, 1, MPI_DOUBLE, MPI_MAX, ctx->comm);
        MPI_Allreduce(&mine, &s->mean, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
        MPI_Allreduce(&flops, &s->flops, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
        MPI_Allreduce(&outermost, &s->outermost_bytes, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
        summarize_comm(ctx, &comm, s);
        s->mean /= ctx->size;
        s->outermost_bytes /= ctx->size;
    }
    return count;
}
