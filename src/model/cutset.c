#include "model/cutset.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define TURNS 200 /* in which a threshold is looked for, at most */

dkm_cutset dkm_cutset_empty(dkm_form *form)
{
    return (dkm_cutset){.form = form,
                        .qp = dkm_qp_empty(form->base.ctx),
                        .spread = dkm_spread_empty(form->base.ctx),
                        .limit = INT64_MAX};
}

void dkm_cutset_clear(dkm_cutset *cuts)
{
    DKM_FREE(cuts->example);
    DKM_FREE(cuts->choice);
    DKM_FREE(cuts->idle);
    DKM_FREE(cuts->b);
    DKM_FREE(cuts->a);
    DKM_FREE(cuts->tilt);
    DKM_FREE(cuts->place);
    DKM_FREE(cuts->mine);
    DKM_FREE(cuts->V);
    dkm_qp_clear(&cuts->qp);
    dkm_spread_clear(&cuts->spread);
}

static dkm_local solve_here(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    if (dkm_ctx_rank(cuts->form->base.ctx) != 0)
        return DKM_LOCAL_OK;
    return C > 0 ? dkm_qp_solve_budget(&cuts->qp, C, tolerance, info)
                 : dkm_qp_solve_free(&cuts->qp, tolerance, info);
}

static dkm_status solve_once(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;

    if (cuts->far)
        DKM_TRY(dkm_spread_solve(&cuts->spread, &cuts->qp, C, tolerance, info));
    else
        DKM_AGREE(ctx, solve_here(cuts, C, tolerance, info));
    if (dkm_ctx_rank(ctx) == 0 && cuts->n > 0)
        memcpy(cuts->a, cuts->qp.a, (size_t)cuts->n * sizeof *cuts->a);
    MPI_Bcast(cuts->a, (int)cuts->n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, dkm_ctx_comm(ctx));
out:
    return status;
}

static double sum_tilted(const dkm_cutset *cuts)
{
    double sum = 0;

    for (dkm_idx c = 0; c < cuts->n; c++)
        sum += cuts->tilt[c] * cuts->a[c];
    return sum;
}

/* The threshold t is the multiplier of s'a = 0, s the signs of constraints. G holds weight s s' as
 * well: each solution for b - t s brings t nearer by weight s'a, until that is within the
 * tolerance. The objective is then made that of the program itself. */
static dkm_status solve_split(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    double off = 0, t = cuts->threshold;

    for (int turn = 0; turn < TURNS; turn++) {
        for (dkm_idx c = 0; dkm_ctx_rank(cuts->form->base.ctx) == 0 && c < cuts->n; c++)
            cuts->qp.b[c] = cuts->b[c] - t * cuts->tilt[c];
        DKM_TRY(solve_once(cuts, C, tolerance, info));
        off = sum_tilted(cuts);
        cuts->threshold = t + cuts->weight * off;
        if (info->unbounded || fabs(cuts->weight * off) <= tolerance)
            break;
        t = cuts->threshold;
    }
    info->objective += t * off + 0.5 * cuts->weight * off * off;
out:
    return status;
}

dkm_status dkm_cutset_solve(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;

    dkm_phase_begin(ctx, "program");
    DKM_TRY(cuts->split ? solve_split(cuts, C, tolerance, info)
                        : solve_once(cuts, C, tolerance, info));
    for (dkm_idx c = 0; c < cuts->n; c++)
        cuts->idle[c] = cuts->a[c] > 0 ? 0 : cuts->idle[c] + 1;
out:
    dkm_phase_end(ctx);
    return status;
}

/* Keep the constraints that `keep` names, everywhere but in the program. */
static void keep_only(dkm_cutset *cuts, const char *keep)
{
    dkm_idx r = cuts->form->r, kept = 0, own = 0, k = 0;

    for (dkm_idx c = 0; c < cuts->n; c++) {
        int here = k < cuts->own && cuts->place[k] == c;
        if (keep[c] && here) {
            cuts->place[own] = kept;
            cuts->mine[own] = cuts->mine[k];
            memmove(cuts->V + own++ * r, cuts->V + k * r, (size_t)r * sizeof *cuts->V);
        }
        k += here;
        if (!keep[c])
            continue;
        cuts->example[kept] = cuts->example[c];
        cuts->choice[kept] = cuts->choice[c];
        cuts->idle[kept] = cuts->idle[c];
        cuts->b[kept] = cuts->b[c];
        cuts->tilt[kept] = cuts->tilt[c];
        cuts->a[kept++] = cuts->a[c];
    }
    cuts->n = kept;
    cuts->own = own;
}

dkm_status dkm_cutset_prune(dkm_cutset *cuts, dkm_idx rounds)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    dkm_idx dropped = 0;
    char *keep = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cuts->n, &keep));
    for (dkm_idx c = 0; c < cuts->n; c++) {
        keep[c] = cuts->idle[c] < rounds;
        dropped += !keep[c];
    }
    if (dropped == 0)
        goto out;
    if (dkm_ctx_rank(ctx) == 0)
        dkm_qp_keep(&cuts->qp, keep);
    if (cuts->far)
        dkm_spread_keep(&cuts->spread, keep);
    keep_only(cuts, keep);
out:
    DKM_FREE(keep);
    return status;
}

void dkm_cutset_machine(const dkm_cutset *cuts, double *U)
{
    dkm_idx r = cuts->form->r;

    memset(U, 0, (size_t)(dkm_data_local_rows(cuts->form->base.X) * r) * sizeof *U);
    for (dkm_idx k = 0; k < cuts->own; k++) {
        double a = cuts->a[cuts->place[k]], *u = U + cuts->mine[k] * r;
        for (dkm_idx j = 0; a > 0 && j < r; j++)
            u[j] += a * cuts->V[k * r + j];
    }
}

void dkm_cutset_scale(dkm_cutset *cuts, double ratio)
{
    cuts->threshold *= ratio;
    for (dkm_idx c = 0; c < cuts->n; c++) {
        cuts->b[c] *= ratio;
        cuts->a[c] *= ratio;
        if (dkm_ctx_rank(cuts->form->base.ctx) == 0) {
            cuts->qp.b[c] *= ratio;
            cuts->qp.a[c] *= ratio;
        }
    }
}
