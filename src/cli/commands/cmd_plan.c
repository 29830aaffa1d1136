#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/score.h>

#include "cli/commands/commands.h"
#include "cli/options/method_options.h"
#include "cli/profile/calibration.h"

#define GiB 1073741824.0

/* What a fit takes, and whether seconds are known. */
typedef struct estimate {
    dkm_cost cost;
    calibration rates;
    int calibrated;
} estimate;

/* Rows and columns of what an option names: a file, or ROWSxCOLS where there is none yet. */
typedef struct extent {
    dkm_idx rows, cols;
    double bytes; /* of an object */
    dkm_type type;
    dkm_idx classes; /* of labels; 0 where they are not there yet */
} extent;

static int parse_extent(const char *text, extent *e)
{
    char *end;

    e->rows = strtoll(text, &end, 10);
    if (end == text || *end != 'x' || e->rows < 1)
        return 0;
    text = end + 1;
    e->cols = strtoll(text, &end, 10);
    e->type = DKM_DENSE;
    e->bytes = 8.0 * (double)e->cols;
    return end != text && *end == '\0' && e->cols > 0;
}

/* How many different labels there are. */
static dkm_status count_classes(dkm_source *source, extent *e)
{
    dkm_status status = DKM_OK;
    dkm_data *labels = NULL;

    DKM_TRY(dkm_source_read(source, 0, e->rows, &labels));
    DKM_TRY(dkm_count_labels(labels, &e->classes));
out:
    dkm_data_destroy(&labels);
    return status;
}

/* Objects of no fixed size are taken to be as long as the file makes them. */
static dkm_status cmd_plan_read_extent(run *r, const char *name, const char *type, dkm_role role,
                                       extent *e)
{
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;

    *e = (extent){0};
    if (!args_accepts(r->args, name) || parse_extent(args_text(r->args, name), e))
        return DKM_OK;
    DKM_TRY(
        dkm_source_open(r->ctx, args_text(r->args, name), role, args_text(r->args, type), &source));
    e->rows = dkm_source_rows(source);
    e->type = dkm_source_type(source);
    e->cols = dkm_source_cols(source);
    e->bytes = 8.0 * (double)(e->cols > 0 ? e->cols : 64);
    if (e->type == DKM_LABELS && role == DKM_OUTPUTS)
        DKM_TRY(count_classes(source, e));
out:
    dkm_source_close(&source);
    return status;
}

static dkm_workload cmd_plan_workload(run *r, const extent *x, const extent *y)
{
    return (dkm_workload){.m = x->rows,
                          .x_type = x->type,
                          .y_type = y->type,
                          .x_cols = x->type == DKM_DENSE ? x->cols : 0,
                          .y_cols = y->type == DKM_DENSE ? y->cols : 0,
                          .y_classes = y->classes,
                          .x_bytes = x->bytes,
                          .y_bytes = y->bytes,
                          .iterations = args_int(r->args, "expect-iterations"),
                          .memory = args_real(r->args, "memory"),
                          .latency = 1e-6 * args_real(r->args, "latency"),
                          .bandwidth = 1e9 / 8.0 * args_real(r->args, "bandwidth")};
}

/* The grid and the nodes that so many ranks make. */
static void cmd_plan_place(run *r, dkm_workload *p, int ranks, int each)
{
    const value *grid = args_value(r->args, "grid", 0);

    p->ranks = ranks;
    dkm_grid_shape(ranks, &p->P, &p->Q);
    if (grid) {
        p->P = grid->P;
        p->Q = grid->Q;
    }
    p->block = args_int(r->args, "block");
    if (p->block == 0)
        p->block = dkm_shape_block(p->P, p->Q, p->m);
    p->nodes = each > 0 ? (ranks + each - 1) / each : 1;
}

static int ranks_each(run *r, const calibration *c)
{
    int given = (int)args_int(r->args, "ranks-per-node");

    return given > 0 ? given : c && c->cores >= 1 ? (int)c->cores : 0;
}

static double node_bytes(const dkm_workload *p, const dkm_cost *made)
{
    return made->peak * ceil((double)p->ranks / p->nodes);
}

/* What a fit takes on so many ranks, and the rates that were found for them. */
static dkm_status cmd_plan_estimate(run *r, const dkm_settings *s, dkm_workload *p, int ranks,
                                    int each, estimate *e)
{
    cmd_plan_place(r, p, ranks, each);
    return dkm_estimate(r->ctx, s, p, e->calibrated ? &e->rates : NULL, &e->cost);
}

/* The estimate for --ranks, or for the fewest ranks whose nodes --memory suffices for. */
static dkm_status cmd_plan_choose(run *r, const dkm_settings *s, dkm_workload *p, estimate *e)
{
    int ranks = (int)args_int(r->args, "ranks"), each;
    double memory = args_real(r->args, "memory");
    dkm_status status = DKM_OK;

    e->calibrated = calibration_find(ranks > 0 ? ranks : 1, &e->rates);
    each = ranks_each(r, e->calibrated ? &e->rates : NULL);
    if (ranks > 0 || memory <= 0)
        return cmd_plan_estimate(r, s, p, ranks > 0 ? ranks : 1, each, e);
    each = each > 0 ? each : 1;
    for (int nodes = 1; nodes <= INT_MAX / 2 / each; nodes += nodes / 64 + 1) {
        e->calibrated = calibration_find(nodes * each, &e->rates);
        DKM_TRY(cmd_plan_estimate(r, s, p, nodes * each, each, e));
        if (node_bytes(p, &e->cost) <= memory || e->cost.peak > memory * 4096.0)
            break;
    }
out:
    return status;
}

static void tell_amount(run *r, const char *name, double bytes)
{
    char text[60];

    snprintf(text, sizeof text, "%.3f GiB", bytes / GiB);
    run_show(r, name, text);
    if (r->record)
        dkm_runlog_real(r->record, name, bytes);
}

/* The same for programs: planned.PHASE.bytes and the like. */
static void record_phase(run *r, const dkm_cost_phase *f)
{
    const struct {
        const char *name;
        double number;
    } all[] = {{"bytes", f->bytes},
               {"flops", f->flops},
               {"sent_bytes", f->sent},
               {"messages", f->messages + f->collectives},
               {"seconds", f->seconds}};
    char name[100];

    for (size_t k = 0; r->record && k < sizeof all / sizeof *all; k++) {
        snprintf(name, sizeof name, "planned.%s.%s", f->name, all[k].name);
        dkm_runlog_real(r->record, name, all[k].number);
    }
}

static void tell_phase(run *r, const dkm_cost_phase *f)
{
    char text[200], seconds[40] = "unknown";

    if (!isnan(f->seconds))
        snprintf(seconds, sizeof seconds, "%.3g s", f->seconds);
    snprintf(text, sizeof text,
             "%-16s %9.3f GiB a rank  %9.3g flops  %9.3g MB sent  %6.0f messages  %s", f->name,
             f->bytes / GiB, f->flops, f->sent / 1e6, f->messages + f->collectives, seconds);
    run_show(r, "phase", text);
    record_phase(r, f);
}

/* What every rank has all of, and what a rank sends. */
static void tell_ranks(run *r, const dkm_cost *made)
{
    char text[160];

    for (int k = 0; k < made->arrays; k++) {
        snprintf(text, sizeof text, "%.3f MB  %s", made->replicated[k].bytes / 1e6,
                 made->replicated[k].name);
        run_show(r, "replicated", text);
    }
    report_real(r, "allocated_bytes", made->allocated);
    report_real(r, "sent_bytes", made->sent);
    report_real(r, "sent_messages", made->messages);
    report_real(r, "collectives", made->collectives);
}

/* The node that memory and seconds are for. */
static void tell_node(run *r, const dkm_workload *p, const calibration *c, int calibrated)
{
    char text[200], memory[40] = "memory not given", cores[40] = "cores unknown";
    double bytes = args_real(r->args, "memory");
    int each = (p->ranks + p->nodes - 1) / p->nodes;

    if (bytes > 0)
        snprintf(memory, sizeof memory, "%.1f GiB", bytes / GiB);
    if (calibrated)
        snprintf(cores, sizeof cores, "%.0f cores as calibrated", c->cores);
    snprintf(text, sizeof text, "%d ranks each, %s, %s, %s%g us and %g Gb/s between nodes", each,
             cores, memory, p->nodes > 1 ? "" : "no network; else ", 1e6 * p->latency,
             8e-9 * p->bandwidth);
    run_show(r, "node", text);
}

static void cmd_plan_report(run *r, const dkm_workload *p, const dkm_cost *made,
                            const calibration *c, int calibrated)
{
    report_int(r, "m", p->m);
    report_int(r, "ranks", p->ranks);
    report_int(r, "nodes", p->nodes);
    report_grid(r, p->P, p->Q);
    report_int(r, "block", p->block);
    tell_node(r, p, c, calibrated);
    for (int k = 0; k < made->count; k++)
        tell_phase(r, &made->phases[k]);
    tell_ranks(r, made);
    tell_amount(r, "rank_memory", made->peak);
    tell_amount(r, "node_memory", node_bytes(p, made));
    report_real(r, "flops", made->flops);
    if (isnan(made->seconds))
        report_text(r, "expected_seconds", "unknown");
    else
        report_real(r, "expected_seconds", made->seconds);
}

static void cmd_plan_warn(run *r, const dkm_workload *p, const calibration *c, int calibrated)
{
    int used = p->P * p->Q;

    if (used < p->ranks)
        dkm_log(r->ctx, DKM_WARN,
                "%d ranks make no good grid: %d of them stay idle; take %d or a "
                "number with more factors",
                p->ranks, p->ranks - used, used);
    else if (p->P == 1 && p->Q > 3)
        dkm_log(r->ctx, DKM_WARN, "%d is prime: a grid of 1x%d is slow; take %d or %d ranks",
                p->ranks, p->Q, p->ranks - 1, p->ranks + 1);
    if (!calibrated)
        dkm_log(r->ctx, DKM_INFO,
                "times are unknown on this machine: run `mpirun -np N dkmap bench "
                "--calibrate` once");
    else if ((int)c->ranks != p->ranks)
        dkm_log(r->ctx, DKM_INFO, "times follow from a calibration on %.0f ranks", c->ranks);
}

/* A job that no node can hold is refused here, not in the queue. */
static dkm_local cmd_plan_check_memory(run *r, const dkm_workload *p, const dkm_cost *made)
{
    double memory = args_real(r->args, "memory"), need = node_bytes(p, made);

    if (memory <= 0 || need <= memory)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_SIZE,
                    "%d ranks on %d node%s need %.2f GiB a node, and --memory allows %.2f GiB: use "
                    "more nodes; without --ranks the plan finds how many",
                    p->ranks, p->nodes, p->nodes == 1 ? "" : "s", need / GiB, memory / GiB);
}

static dkm_local cmd_plan_check_rows(run *r, const extent *x, const extent *y)
{
    if (y->rows == 0 || y->rows == x->rows)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG, "%s has %lld rows but %s has %lld",
                    args_text(r->args, "x"), (long long)x->rows, args_text(r->args, "y"),
                    (long long)y->rows);
}

static dkm_status make_plan(run *r)
{
    dkm_status status = DKM_OK;
    dkm_settings *settings = NULL;
    dkm_workload work;
    estimate e = {0};
    extent x, y;

    DKM_TRY(method_settings_read(r, &settings));
    DKM_TRY(dkm_settings_check(r->ctx, settings));
    DKM_TRY(cmd_plan_read_extent(r, "x", "x-type", DKM_INPUTS, &x));
    DKM_TRY(cmd_plan_read_extent(r, "y", "y-type", DKM_OUTPUTS, &y));
    DKM_AGREE(r->ctx, cmd_plan_check_rows(r, &x, &y));
    work = cmd_plan_workload(r, &x, &y);
    DKM_TRY(cmd_plan_choose(r, settings, &work, &e));
    if (*e.cost.note)
        dkm_log(r->ctx, DKM_INFO, "%s", e.cost.note);
    cmd_plan_report(r, &work, &e.cost, &e.rates, e.calibrated);
    cmd_plan_warn(r, &work, &e.rates, e.calibrated);
    DKM_AGREE(r->ctx, cmd_plan_check_memory(r, &work, &e.cost));
out:
    dkm_settings_destroy(&settings);
    return status;
}

static const option options[] = {{.name = "ranks",
                                  .kind = OPT_INT,
                                  .metavar = "N",
                                  .max = 1 << 24,
                                  .default_text = "0",
                                  .help = "ranks to plan for; without it the fewest that --memory "
                                          "suffices for"},
                                 {.name = "ranks-per-node",
                                  .kind = OPT_INT,
                                  .metavar = "N",
                                  .max = 65536,
                                  .default_text = "0",
                                  .help = "ranks a node; 0 takes its cores, where they are known"},
                                 {.name = "memory",
                                  .kind = OPT_BYTES,
                                  .metavar = "BYTES",
                                  .default_text = "0",
                                  .help = "of a node, such as 64G: a job that needs more is "
                                          "refused"},
                                 {.name = "latency",
                                  .kind = OPT_REAL,
                                  .metavar = "US",
                                  .default_text = "1.5",
                                  .help = "of a message between nodes, in microseconds"},
                                 {.name = "bandwidth",
                                  .kind = OPT_REAL,
                                  .metavar = "GBPS",
                                  .default_text = "100",
                                  .help = "of the link of a node, in Gb/s; 0 leaves the network "
                                          "out"},
                                 {.name = "expect-iterations",
                                  .old_names = "expect-rounds|",
                                  .kind = OPT_INT,
                                  .metavar = "N",
                                  .default_text = "0",
                                  .help =
                                      "iterations that a joint map, an eigensolver or conjugate "
                                      "gradients are taken to need; 0 is 40, as many as in the "
                                      "calibration, or 20"},
                                 {0}};

static const command plan_method = {
    .example = "--ranks 64 --memory 64G",
    .run = make_plan,
    .tables = {options, dkm_layout_settings, compute_options, report_options},
};

const command command_plan = {
    .name = "plan",
    .summary = "say what a fit will take: memory and messages per rank, operations, time; runs "
               "nothing",
    .about = "Takes the options of the fit. Files are looked at, not read; ROWSxCOLUMNS stands for "
             "one that is not there yet. Times need a calibration on a node of that kind, dkmap "
             "bench --calibrate; messages between nodes are added to them by --latency and "
             "--bandwidth. Sent bytes are what --count-comm counts, the mean of a rank.",
    .example = "dkmap plan krr --x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' --gamma 1e-3 \\\n"
               "      --ranks 64 --memory 64G",
    .each = &plan_method,
    .serves = dkm_method_has_estimate,
};
