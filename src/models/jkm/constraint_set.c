/* The working set of the n-slack formulation (Tsochantaridis, Joachims, Hofmann and Altun 2005,
 * JMLR 6:1453-1484), one slack per example, and its dual QP: see constraint_set.h for what each
 * rank holds.
 *
 * Cost: that of solvers/qp; w = sum of a v is local, 2 r flops per constraint. */
#include "models/jkm/constraint_set.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define TURNS 200 /* in which a threshold is looked for, at most */

dkm_constraint_set dkm_constraint_set_empty(dkm_joint_map *map)
{
    return (dkm_constraint_set){.map = map,
                                .qp = dkm_qp_empty(map->fitted.ctx),
                                .spread = dkm_qp_distributed_empty(map->fitted.ctx),
                                .limit = INT64_MAX};
}

void dkm_constraint_set_clear(dkm_constraint_set *cuts)
{
    DKM_FREE(cuts->example);
    DKM_FREE(cuts->choice);
    DKM_FREE(cuts->age);
    DKM_FREE(cuts->b);
    DKM_FREE(cuts->a);
    DKM_FREE(cuts->bias_sign);
    DKM_FREE(cuts->place);
    DKM_FREE(cuts->mine);
    DKM_FREE(cuts->V);
    dkm_qp_clear(&cuts->qp);
    dkm_qp_distributed_clear(&cuts->spread);
}

static dkm_local constraint_set_solve_here(dkm_constraint_set *cuts, double C, double tolerance,
                                           dkm_qp_info *info)
{
    if (dkm_ctx_rank(cuts->map->fitted.ctx) != 0)
        return DKM_LOCAL_OK;
    return C > 0 ? dkm_qp_smo(&cuts->qp, C, tolerance, info)
                 : dkm_qp_active_set(&cuts->qp, tolerance, info);
}

static dkm_status solve_once(dkm_constraint_set *cuts, double C, double tolerance,
                             dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;

    if (cuts->far)
        DKM_TRY(dkm_qp_distributed_solve(&cuts->spread, &cuts->qp, C, tolerance, info));
    else
        DKM_AGREE(ctx, constraint_set_solve_here(cuts, C, tolerance, info));
    if (dkm_ctx_rank(ctx) == 0 && cuts->n > 0)
        memcpy(cuts->a, cuts->qp.a, (size_t)cuts->n * sizeof *cuts->a);
    MPI_Bcast(cuts->a, (int)cuts->n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, dkm_ctx_comm(ctx));
out:
    return status;
}

static double sum_tilted(const dkm_constraint_set *cuts)
{
    double sum = 0;

    for (dkm_idx c = 0; c < cuts->n; c++)
        sum += cuts->bias_sign[c] * cuts->a[c];
    return sum;
}

/* The threshold t is the multiplier of s'a = 0, s the signs of constraints. G holds weight s s' as
 * well: each solution for b - t s brings t nearer by weight s'a, until that is within the
 * tolerance. The objective is then made that of the QP itself. */
static dkm_status solve_split(dkm_constraint_set *cuts, double C, double tolerance,
                              dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    double off = 0, t = cuts->threshold;

    for (int turn = 0; turn < TURNS; turn++) {
        for (dkm_idx c = 0; dkm_ctx_rank(cuts->map->fitted.ctx) == 0 && c < cuts->n; c++)
            cuts->qp.b[c] = cuts->b[c] - t * cuts->bias_sign[c];
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

dkm_status dkm_constraint_set_solve(dkm_constraint_set *cuts, double C, double tolerance,
                                    dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;

    dkm_phase_begin(ctx, "program");
    DKM_TRY(cuts->split ? solve_split(cuts, C, tolerance, info)
                        : solve_once(cuts, C, tolerance, info));
    for (dkm_idx c = 0; c < cuts->n; c++)
        cuts->age[c] = cuts->a[c] > 0 ? 0 : cuts->age[c] + 1;
out:
    dkm_phase_end(ctx);
    return status;
}

/* Keep the constraints that `keep` names, everywhere but in the QP. */
static void keep_only(dkm_constraint_set *cuts, const char *keep)
{
    dkm_idx r = cuts->map->r, kept = 0, own = 0, k = 0;

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
        cuts->age[kept] = cuts->age[c];
        cuts->b[kept] = cuts->b[c];
        cuts->bias_sign[kept] = cuts->bias_sign[c];
        cuts->a[kept++] = cuts->a[c];
    }
    cuts->n = kept;
    cuts->own = own;
}

dkm_status dkm_constraint_set_prune(dkm_constraint_set *cuts, dkm_idx rounds)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->map->fitted.ctx;
    dkm_idx dropped = 0;
    char *keep = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cuts->n, &keep));
    for (dkm_idx c = 0; c < cuts->n; c++) {
        keep[c] = cuts->age[c] < rounds;
        dropped += !keep[c];
    }
    if (dropped == 0)
        goto out;
    if (dkm_ctx_rank(ctx) == 0)
        dkm_qp_keep(&cuts->qp, keep);
    if (cuts->far)
        dkm_qp_distributed_keep(&cuts->spread, keep);
    keep_only(cuts, keep);
out:
    DKM_FREE(keep);
    return status;
}

void dkm_constraint_set_weights(const dkm_constraint_set *cuts, double *U)
{
    dkm_idx r = cuts->map->r;

    memset(U, 0, (size_t)(dkm_data_local_rows(cuts->map->fitted.X) * r) * sizeof *U);
    for (dkm_idx k = 0; k < cuts->own; k++) {
        double a = cuts->a[cuts->place[k]], *u = U + cuts->mine[k] * r;
        for (dkm_idx j = 0; a > 0 && j < r; j++)
            u[j] += a * cuts->V[k * r + j];
    }
}

void dkm_constraint_set_scale(dkm_constraint_set *cuts, double ratio)
{
    cuts->threshold *= ratio;
    for (dkm_idx c = 0; c < cuts->n; c++) {
        cuts->b[c] *= ratio;
        cuts->a[c] *= ratio;
        if (dkm_ctx_rank(cuts->map->fitted.ctx) == 0) {
            cuts->qp.b[c] *= ratio;
            cuts->qp.a[c] *= ratio;
        }
    }
}
