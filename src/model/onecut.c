#include "model/onecut.h"

#include <string.h>

#include "core/alloc.h"
#include "model/onecut_primal.h"
#include "model/panels.h"

dkm_onecut dkm_onecut_empty(dkm_form *form, const dkm_oracle *oracle)
{
    int primal = form->kernel == DKM_FORM_PRIMAL && form->diagonal == 0 && form->identity == 0 &&
                 form->patches == 0 && oracle->space->classes.classes;

    return (dkm_onecut){
        .form = form, .oracle = oracle, .primal = primal, .qp = dkm_qp_empty(form->base.ctx)};
}

void dkm_onecut_clear(dkm_onecut *cuts)
{
    for (dkm_idx k = 0; k < cuts->n; k++) {
        DKM_FREE(cuts->choice[k]);
        DKM_FREE(cuts->W[k]);
    }
    DKM_FREE(cuts->choice);
    DKM_FREE(cuts->W);
    DKM_FREE(cuts->truth);
    DKM_FREE(cuts->idle);
    DKM_FREE(cuts->b);
    DKM_FREE(cuts->a);
    dkm_qp_clear(&cuts->qp);
    cuts->n = 0;
}

static dkm_local make_room(dkm_onecut *cuts)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;

    if (cuts->n == cuts->room) {
        cuts->room += cuts->room / 2 + 64;
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->choice));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->W));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->idle));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->b));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->a));
    }
    if (dkm_ctx_rank(ctx) == 0 && cuts->qp.n == cuts->n)
        DKM_STEP(dkm_qp_grow(&cuts->qp, 1));
    DKM_STEP(dkm_alloc(ctx, cuts->oracle->n, &cuts->choice[cuts->n]));
    cuts->W[cuts->n] = NULL;
    cuts->idle[cuts->n] = 0;
    cuts->a[cuts->n] = 0;
    cuts->n++;
out:
    return local;
}

/* Walk the candidates a panel at a time. */
typedef struct walk {
    const dkm_space *space;
    dkm_idx first, count, step;
    double *rows; /* count x r */
    double *tile; /* n x count */
} walk;

static dkm_local open_walk(const dkm_onecut *cuts, walk *w)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_space *space = cuts->oracle->space;

    *w = (walk){.space = space, .step = dkm_rows_panel(space->r)};
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
    return dkm_space_candidates(w->space, w->first, w->count, w->rows);
}

/* The part of each own example that is its own output: the sum of the multipliers of constraints
 * that count it. */
static void add_own(const dkm_onecut *cuts, double *U)
{
    const dkm_oracle *o = cuts->oracle;
    dkm_idx r = o->space->r;

    for (dkm_idx i = 0; i < o->n; i++) {
        double sum = 0;
        for (dkm_idx k = 0; k < cuts->n; k++)
            sum += cuts->choice[k][i] >= 0 ? cuts->a[k] : 0;
        for (dkm_idx j = 0; j < r; j++)
            U[i * r + j] = sum * o->space->Z[i * r + j];
    }
}

dkm_status dkm_onecut_machine(const dkm_onecut *cuts, double *U)
{
    dkm_status status = DKM_OK;
    const dkm_oracle *o = cuts->oracle;
    dkm_idx r = o->space->r;
    walk w = {0};

    DKM_AGREE(cuts->form->base.ctx, open_walk(cuts, &w));
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
        dkm_rows_times(o->n, r, w.count, -1.0, (dkm_block){w.tile, w.count}, (dkm_block){w.rows, r},
                       1.0, U);
    }
out:
    close_walk(&w);
    return status;
}

/* The constraint that was added last: whom it is about, and what it asks for. */
static dkm_sum take_violators(dkm_onecut *cuts)
{
    const dkm_oracle *o = cuts->oracle;
    int32_t *choice = cuts->choice[cuts->n - 1];
    dkm_sum b = {0};

    for (dkm_idx i = 0; i < o->n; i++) {
        choice[i] = o->violation[i] > 0 ? (int32_t)o->choice[i] : -1;
        if (choice[i] >= 0)
            dkm_sum_add(&b, o->b[i]);
    }
    return b;
}

/* products[k] += sum_i <g_i, z_i> - <g_i, c> over the own examples of constraint k whose candidate
 * c is in the panel. */
static void meet_panel(const dkm_onecut *cuts, const walk *w, const double *own, dkm_sum *products)
{
    for (dkm_idx k = 0; k < cuts->n; k++)
        for (dkm_idx i = 0; i < cuts->oracle->n; i++) {
            dkm_idx c = cuts->choice[k][i] - w->first;
            if (cuts->choice[k][i] >= 0 && c >= 0 && c < w->count)
                dkm_sum_add(&products[k], own[i] - w->tile[i * w->count + c]);
        }
}

/* Products of the new constraint, whose W x is G, with all. */
static dkm_status meet_all(dkm_onecut *cuts, const double *G, dkm_sum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    const dkm_oracle *o = cuts->oracle;
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
        dkm_rows_meet(o->n, w.count, r, 1.0, (dkm_block){G, r}, (dkm_block){w.rows, r}, 0.0,
                      w.tile);
        meet_panel(cuts, &w, own, products);
    }
    DKM_TRY(dkm_sum_ranks(ctx, cuts->n, products));
out:
    close_walk(&w);
    DKM_FREE(own);
    return status;
}

/* The same by way of its rows, one application of the form. */
static dkm_status meet_by_rows(dkm_onecut *cuts, dkm_sum *products)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    const dkm_oracle *o = cuts->oracle;
    dkm_idx r = cuts->form->r;
    double *U = NULL, *G = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, o->n * r, &U));
    DKM_AGREE(ctx, dkm_alloc(ctx, o->n * r, &G));
    for (dkm_idx i = 0; i < o->n; i++)
        if (cuts->choice[cuts->n - 1][i] >= 0)
            memcpy(U + i * r, o->V + i * r, (size_t)r * sizeof *U);
    DKM_TRY(dkm_form_apply(cuts->form, NULL, U, G));
    DKM_TRY(meet_all(cuts, G, products));
out:
    DKM_FREE(G);
    DKM_FREE(U);
    return status;
}

dkm_status dkm_onecut_add(dkm_onecut *cuts)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    dkm_idx last;
    dkm_sum *products = NULL, b;

    dkm_phase_begin(ctx, "constraints");
    DKM_AGREE(ctx, dkm_calloc(ctx, cuts->n + 1, &products));
    DKM_AGREE(ctx, make_room(cuts));
    last = cuts->n - 1;
    b = take_violators(cuts);
    DKM_TRY(dkm_sum_ranks(ctx, 1, &b));
    if (cuts->primal)
        DKM_TRY(dkm_onecut_primal_meet(cuts, products));
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

dkm_status dkm_onecut_values(dkm_onecut *cuts, double *U, double *G)
{
    dkm_status status = DKM_OK;

    if (cuts->primal)
        return dkm_onecut_primal_values(cuts, G);
    DKM_TRY(dkm_onecut_machine(cuts, U));
    DKM_TRY(dkm_form_apply(cuts->form, NULL, U, G));
out:
    return status;
}

static dkm_local solve_here(dkm_onecut *cuts, double C, double tolerance, dkm_qp_info *info)
{
    if (dkm_ctx_rank(cuts->form->base.ctx) != 0)
        return DKM_LOCAL_OK;
    return dkm_qp_solve_budget(&cuts->qp, C, tolerance, info);
}

dkm_status dkm_onecut_solve(dkm_onecut *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;

    dkm_phase_begin(ctx, "program");
    DKM_AGREE(ctx, solve_here(cuts, C, tolerance, info));
    if (dkm_ctx_rank(ctx) == 0)
        memcpy(cuts->a, cuts->qp.a, (size_t)cuts->n * sizeof *cuts->a);
    MPI_Bcast(cuts->a, (int)cuts->n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < cuts->n; k++)
        cuts->idle[k] = cuts->a[k] > 0 ? 0 : cuts->idle[k] + 1;
out:
    dkm_phase_end(ctx);
    return status;
}

dkm_local dkm_onecut_prune(dkm_onecut *cuts, dkm_idx rounds)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx kept = 0;
    char *keep = NULL;

    DKM_STEP(dkm_alloc(cuts->form->base.ctx, cuts->n, &keep));
    for (dkm_idx k = 0; k < cuts->n; k++)
        keep[k] = cuts->idle[k] < rounds;
    if (dkm_ctx_rank(cuts->form->base.ctx) == 0)
        dkm_qp_keep(&cuts->qp, keep);
    for (dkm_idx k = 0; k < cuts->n; k++) {
        if (!keep[k]) {
            DKM_FREE(cuts->choice[k]);
            DKM_FREE(cuts->W[k]);
            continue;
        }
        cuts->choice[kept] = cuts->choice[k];
        cuts->W[kept] = cuts->W[k];
        cuts->idle[kept] = cuts->idle[k];
        cuts->b[kept] = cuts->b[k];
        cuts->a[kept++] = cuts->a[k];
    }
    cuts->n = kept;
out:
    DKM_FREE(keep);
    return local;
}

void dkm_onecut_scale(dkm_onecut *cuts, double ratio)
{
    for (dkm_idx k = 0; k < cuts->n; k++) {
        cuts->b[k] *= ratio;
        cuts->a[k] *= ratio;
        if (dkm_ctx_rank(cuts->form->base.ctx) == 0) {
            cuts->qp.b[k] *= ratio;
            cuts->qp.a[k] *= ratio;
        }
    }
}
