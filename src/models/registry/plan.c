/* What a fit takes, as a report, for programs that do not know the structures of estimate.h. */
#include <stdio.h>

#include <dkmap/estimate.h>
#include <dkmap/grid.h>

#include "models/registry/report_impl.h"

static dkm_workload plan_workload(const dkm_plan_request *r)
{
    dkm_workload work = {.m = r->m,
                         .x_type = r->x_type,
                         .y_type = r->y_type,
                         .x_cols = r->x_type == DKM_DENSE ? r->x_cols : 0,
                         .y_cols = r->y_type == DKM_DENSE ? r->y_cols : 0,
                         .x_bytes = r->x_bytes,
                         .y_bytes = r->y_bytes,
                         .ranks = r->ranks,
                         .P = r->P,
                         .Q = r->Q,
                         .block = r->block,
                         .nodes = r->nodes};

    if (work.P == 0 || work.Q == 0)
        dkm_grid_shape(work.ranks, &work.P, &work.Q);
    if (work.block == 0)
        work.block = dkm_shape_block(work.P, work.Q, work.m);
    return work;
}

static void report_phase(dkm_report *report, const dkm_cost_phase *phase)
{
    char name[80];

    snprintf(name, sizeof name, "phases.%s.bytes", phase->name);
    dkm_report_add_real(report, name, phase->bytes);
    snprintf(name, sizeof name, "phases.%s.flops", phase->name);
    dkm_report_add_real(report, name, phase->flops);
}

static void report_cost(dkm_report *report, const dkm_workload *work, const dkm_cost *cost)
{
    dkm_report_add_real(report, "rank_memory", cost->peak);
    dkm_report_add_real(report, "flops", cost->flops);
    dkm_report_add_grid(report, work->P, work->Q);
    dkm_report_add_int(report, "block", work->block);
    for (int k = 0; k < cost->count; k++)
        report_phase(report, &cost->phases[k]);
    dkm_report_add_text(report, "note", cost->note);
}

dkm_status dkm_plan(dkm_ctx *ctx, const dkm_settings *settings, const dkm_plan_request *request,
                    dkm_report **report)
{
    dkm_status status = DKM_OK;
    dkm_workload work;
    dkm_cost cost;
    dkm_report *R = NULL;

    *report = NULL;
    DKM_REQUIRE(ctx, request->m > 0 && request->ranks > 0 && request->nodes > 0, DKM_ERR_ARG,
                "a plan is for some examples, ranks and nodes, not for %lld, %d and %d",
                (long long)request->m, request->ranks, request->nodes);
    work = plan_workload(request);
    DKM_TRY(dkm_estimate(ctx, settings, &work, NULL, &cost));
    DKM_AGREE(ctx, dkm_report_create(ctx, &R));
    report_cost(R, &work, &cost);
    DKM_AGREE(ctx, dkm_report_check(R));
    *report = R;
    R = NULL;
out:
    dkm_report_destroy(&R);
    return status;
}
