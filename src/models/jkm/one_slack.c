/* The 1-slack formulation (Joachims, Finley and Yu 2009, Machine Learning 77(1):27-59): a
 * constraint is the sum of one choice per example, and all constraints share one slack. The QP has
 * one variable per iteration.
 *
 * Cost per constraint: one application of the joint map for its products with all others, an
 * allreduce of one number per constraint. Per rank: one 32-bit choice per example and constraint.
 */
#include "models/jkm/one_slack.h"

#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"
#include "models/jkm/one_slack_primal.h"

dkm_one_slack dkm_one_slack_empty(dkm_joint_map *map, const dkm_separation_oracle *oracle)
{
    int primal = map->kernel == DKM_JOINT_MAP_PRIMAL && map->diagonal == 0 && map->identity == 0 &&
                 map->patches == 0 && oracle->space->classes.classes;

    return (dkm_one_slack){
        .map = map, .oracle = oracle, .primal = primal, .qp = dkm_qp_empty(map->fitted.ctx)};
}

void dkm_one_slack_clear(dkm_one_slack *cuts)
{
    for (dkm_idx k = 0; k < cuts->n; k++) {
        DKM_FREE(cuts->choice[k]);
        DKM_FREE(cuts->W[k]);
    }
    DKM_FREE(cuts->choice);
    DKM_FREE(cuts->W);
    DKM_FREE(cuts->truth);
    DKM_FREE(cuts->age);
    DKM_FREE(cuts->b);
    DKM_FREE(cuts->a);
    dkm_qp_clear(&cuts->qp);
    cuts->n = 0;
}

static dkm_local one_slack_allocate(dkm_one_slack *cuts)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;

    if (cuts->n == cuts->room) {
        cuts->room += cuts->room / 2 + 64;
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->choice));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->W));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->age));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->b));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->a));
    }
    if (dkm_ctx_rank(ctx) == 0 && cuts->qp.n == cuts->n)
        DKM_STEP(dkm_qp_grow(&cuts->qp, 1));
    DKM_STEP(dkm_alloc(ctx, cuts->oracle->n, &cuts->choice[cuts->n]));
    cuts->W[cuts->n] = NULL;
    cuts->age[cuts->n] = 0;
    cuts->a[cuts->n] = 0;
    cuts->n++;
out:
    return local;
}

/* Walk the candidates a panel at a time. */
typedef struct walk {
    const dkm_output_space *space;
    dkm_idx first, count, step;
    double *rows; /* count x r */
    double *tile; /* n x count */
} walk;

static dkm_local open_walk(const dkm_one_slack *cuts, walk *w)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_output_space *space = cuts->oracle->space;

    *w = (walk){.space = space, .step = dkm_repro_panel_rows(space->r)};
    w->step = w->step < space->count ? w->step : space->count;
    DKM_STEP(dkm_alloc(space->ctx, w->step * space->r, &w->rows));
    DKM_STEP(dkm_alloc(space->ctx, w->step * cuts->oracle->n, &w->tile));
out:
    return local;
}

static void close_walk(walk *w)
{
    DKM_FREE(w->rows);
    DKM_FREE(w->tile);
}

static dkm_status next_panel(walk *w)
{
    w->count = w->space->count - w->first < w->step ? w->space->count - w->first : w->step;
    return dkm_output_space_candidates(w->space, w->first, w->count, w->rows);
}

/* The part of each own example that is its own output: the sum of the multipliers of constraints
 * that count it. */
static void add_own(const dkm_one_slack *cuts, double *U)
{
    const dkm_separation_oracle *o = cuts->oracle;
    dkm_idx r = o->space->r;

    for (dkm_idx i = 0; i < o->n; i++) {
        double sum = 0;
        for (dkm_idx k = 0; k < cuts->n; k++)
            sum += cuts->choice[k][i] >= 0 ? cuts->a[k] : 0;
        for (dkm_idx j = 0; j < r; j++)
            U[i * r + j] = sum * o->space->Z[i * r + j];
    }
}

dkm_status dkm_one_slack_weights(const dkm_one_slack *cuts, double *U)
{
    dkm_status status = DKM_OK;
    const dkm_separation_oracle *o = cuts->oracle;
    dkm_idx r = o->space->r;
    walk w = {0};

    DKM_AGREE(cuts->map->fitted.ctx, open_walk(cuts, &w));
    add_own(cuts, U);
    for (w.first = 0; w.first < o->space->count; w.first += w.step) {
        DKM_TRY(next_panel(&w));
        memset(w.tile, 0, (size_t)(o->n * w.count) * sizeof *w.tile);
        for (dkm_idx k = 0; k < cuts->n; k++)
            for (dkm_idx i = 0; cuts->a[k] > 0 && i < o->n; i++) {
                dkm_idx c = cuts->choice[k][i] - w.first;
                if (cuts->choice[k][i] >= 0 && c >= 0 && c < w.count)
                    w.tile[i * w.count + c] += cuts->a[k];
            }
        dkm_repro_gemm(o->n, r, w.count, -1.0, (dkm_row_block){w.tile, w.count},
                       (dkm_row_block){w.rows, r}, 1.0, U);
    }
out:
    close_walk(&w);
    return status;
}

/* The constraint that was added last: whom it is about, and what it requires. */
static dkm_twosum take_violators(dkm_one_slack *cuts)
{
    const dkm_separation_oracle *o = cuts->oracle;
    int32_t *choice = cuts->choice[cuts->n - 1];
    dkm_twosum b = {0};

    for (dkm_idx i = 0; i < o->n; i++) {
        choice[i] = o->violation[i] > 0 ? (int32_t)o->choice[i] : -1;
        if (choice[i] >= 0)
            dkm_twosum_add(&b, o->b[i]);
    }
    return b;
}

/* products[k] += sum_i <g_i, z_i> - <g_i, c> over the own examples of constraint k whose candidate
 * c is in the panel. */
static void meet_panel(const dkm_one_slack *cuts, const walk *w, const double *own,
                       dkm_twosum *products)
{
    for (dkm_idx k = 0; k < cuts->n; k++)
        for (dkm_idx i = 0; i < cuts->oracle->n; i++) {
            dkm_idx c = cuts->choice[k][i] - w->first;
            if (cuts->choice[k][i] >= 0 && c >= 0 && c < w->count)
                dkm_twosum_add(&products[k], own[i] - w->tile[i * w->count + c]);
        }
}

/* Products of the new constraint, whose W x is G, with all. */
static dkm_status one_slack_meet_all(dkm_one_slack *cuts, const double *G, dkm_twosum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    const dkm_separation_oracle *o = cuts->oracle;
    dkm_idx r = o->space->r;
    double *own = NULL;
    walk w = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, o->n, &own));
    DKM_AGREE(ctx, open_walk(cuts, &w));
    for (dkm_idx i = 0; i < o->n; i++) {
        own[i] = 0;
        for (dkm_idx j = 0; j < r; j++)
            own[i] += G[i * r + j] * o->space->Z[i * r + j];
    }
    for (w.first = 0; w.first < o->space->count; w.first += w.step) {
        DKM_TRY(next_panel(&w));
        dkm_repro_gemm_nt(o->n, w.count, r, 1.0, (dkm_row_block){G, r}, (dkm_row_block){w.rows, r},
                          0.0, w.tile);
        meet_panel(cuts, &w, own, products);
    }
    DKM_TRY(dkm_twosum_allreduce(ctx, cuts->n, products));
out:
    close_walk(&w);
    DKM_FREE(own);
    return status;
}

/* The same by way of its rows, one application of the joint map. */
static dkm_status meet_by_rows(dkm_one_slack *cuts, dkm_twosum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    const dkm_separation_oracle *o = cuts->oracle;
    dkm_idx r = cuts->map->r;
    double *U = NULL, *G = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, o->n * r, &U));
    DKM_AGREE(ctx, dkm_alloc(ctx, o->n * r, &G));
    for (dkm_idx i = 0; i < o->n; i++)
        if (cuts->choice[cuts->n - 1][i] >= 0)
            memcpy(U + i * r, o->V + i * r, (size_t)r * sizeof *U);
    DKM_TRY(dkm_joint_map_apply(cuts->map, NULL, U, G));
    DKM_TRY(one_slack_meet_all(cuts, G, products));
out:
    DKM_FREE(G);
    DKM_FREE(U);
    return status;
}

dkm_status dkm_one_slack_add(dkm_one_slack *cuts)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    dkm_idx last;
    dkm_twosum *products = NULL, b;

    dkm_phase_begin(ctx, "constraints");
    DKM_AGREE(ctx, dkm_calloc(ctx, cuts->n + 1, &products));
    DKM_AGREE(ctx, one_slack_allocate(cuts));
    last = cuts->n - 1;
    b = take_violators(cuts);
    DKM_TRY(dkm_twosum_allreduce(ctx, 1, &b));
    if (cuts->primal)
        DKM_TRY(dkm_one_slack_primal_inner(cuts, products));
    else
        DKM_TRY(meet_by_rows(cuts, products));
    cuts->b[last] = b.hi;
    if (dkm_ctx_rank(ctx) != 0)
        goto out;
    cuts->qp.b[last] = b.hi;
    for (dkm_idx k = 0; k < cuts->n; k++)
        cuts->qp.G[last * cuts->qp.room + k] = cuts->qp.G[k * cuts->qp.room + last] =
            products[k].hi;
out:
    dkm_phase_end(ctx);
    DKM_FREE(products);
    return status;
}

dkm_status dkm_one_slack_values(dkm_one_slack *cuts, double *U, double *G)
{
    dkm_status status = DKM_OK;

    if (cuts->primal)
        return dkm_one_slack_primal_values(cuts, G);
    DKM_TRY(dkm_one_slack_weights(cuts, U));
    DKM_TRY(dkm_joint_map_apply(cuts->map, NULL, U, G));
out:
    return status;
}

static dkm_local one_slack_solve_here(dkm_one_slack *cuts, double C, double tolerance,
                                      dkm_qp_info *info)
{
    if (dkm_ctx_rank(cuts->map->fitted.ctx) != 0)
        return DKM_LOCAL_OK;
    return dkm_qp_smo(&cuts->qp, C, tolerance, info);
}

dkm_status dkm_one_slack_solve(dkm_one_slack *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;

    dkm_phase_begin(ctx, "program");
    DKM_AGREE(ctx, one_slack_solve_here(cuts, C, tolerance, info));
    if (dkm_ctx_rank(ctx) == 0)
        memcpy(cuts->a, cuts->qp.a, (size_t)cuts->n * sizeof *cuts->a);
    MPI_Bcast(cuts->a, (int)cuts->n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < cuts->n; k++)
        cuts->age[k] = cuts->a[k] > 0 ? 0 : cuts->age[k] + 1;
out:
    dkm_phase_end(ctx);
    return status;
}

dkm_local dkm_one_slack_prune(dkm_one_slack *cuts, dkm_idx rounds)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx kept = 0;
    char *keep = NULL;

    DKM_STEP(dkm_alloc(cuts->map->fitted.ctx, cuts->n, &keep));
    for (dkm_idx k = 0; k < cuts->n; k++)
        keep[k] = cuts->age[k] < rounds;
    if (dkm_ctx_rank(cuts->map->fitted.ctx) == 0)
        dkm_qp_keep(&cuts->qp, keep);
    for (dkm_idx k = 0; k < cuts->n; k++) {
        if (!keep[k]) {
            DKM_FREE(cuts->choice[k]);
            DKM_FREE(cuts->W[k]);
            continue;
        }
        cuts->choice[kept] = cuts->choice[k];
        cuts->W[kept] = cuts->W[k];
        cuts->age[kept] = cuts->age[k];
        cuts->b[kept] = cuts->b[k];
        cuts->a[kept++] = cuts->a[k];
    }
    cuts->n = kept;
out:
    DKM_FREE(keep);
    return local;
}

void dkm_one_slack_scale(dkm_one_slack *cuts, double ratio)
{
    for (dkm_idx k = 0; k < cuts->n; k++) {
        cuts->b[k] *= ratio;
        cuts->a[k] *= ratio;
        if (dkm_ctx_rank(cuts->map->fitted.ctx) == 0) {
            cuts->qp.b[k] *= ratio;
            cuts->qp.a[k] *= ratio;
        }
    }
}
