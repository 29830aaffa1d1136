/* The separation step: finds the constraints that the current w violates most and selects those to
 * be added (Tsochantaridis et al. 2005, JMLR 6:1453-1484, algorithm 1).
 *
 * With a threshold t every example has two slacks and up to two constraints per iteration: its own
 * output requires F(x_i, y_i) + t >= margin / 2, and the worst other one requires F(x_i, y) +
 * t <= -margin / 2. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"
#include "models/jkm/jkm_cutting_plane.h"

double dkm_jkm_required_margin(const dkm_cutting_plane *loop)
{
    return loop->oracle->margin * (loop->split ? 0.5 : 1);
}

/* What the constraints so far require of the slacks of each own example. */
static void find_slacks(dkm_cutting_plane *l)
{
    const dkm_constraint_set *cuts = &l->cuts;
    dkm_idx r = l->map->r;

    memset(l->slack, 0, (size_t)(l->oracle->n * (l->split ? 2 : 1)) * sizeof *l->slack);
    for (dkm_idx k = 0; k < cuts->own; k++) {
        dkm_idx c = cuts->place[k], i = cuts->mine[k];
        double *slack = l->slack + (l->split ? 2 * i + (cuts->bias_sign[c] < 0) : i);
        double short_of = cuts->b[c] - cuts->bias_sign[c] * cuts->threshold -
                          dkm_qp_dot(r, l->G + i * r, cuts->V + k * r);
        *slack = fmax(*slack, short_of);
    }
}

/* By how much own example i falls short: of its constraint, or with a threshold of that of its own
 * output and of that of the worst other one. Returns how many there are. */
static int shortfalls(const dkm_cutting_plane *l, dkm_idx i, double h[2])
{
    const dkm_separation_oracle *o = l->oracle;
    dkm_idx r = l->map->r;
    double own, other;

    h[0] = o->violation[i];
    if (!l->split)
        return 1;
    own = dkm_qp_dot(r, l->G + i * r, o->space->Z + i * r);
    other = own - (o->b[i] - o->violation[i]);
    h[0] = dkm_jkm_required_margin(l) - (own + l->cuts.threshold);
    h[1] =
        isinf(o->violation[i]) ? -INFINITY : dkm_jkm_required_margin(l) + other + l->cuts.threshold;
    return 2;
}

/* Slack that the constraints so far require anyway. */
static double allowed(const dkm_cutting_plane *l, dkm_idx i, int side)
{
    return l->settings->C > 0 ? l->slack[l->split ? 2 * i + side : i] : 0;
}

dkm_status dkm_jkm_separate(dkm_cutting_plane *loop, dkm_jkm_separation *found)
{
    dkm_status status = DKM_OK;
    dkm_twosum slack = {0};
    double most[2] = {0, 0}, h[2];

    dkm_phase_begin(loop->ctx, "oracle");
    if (loop->one) {
        DKM_TRY(dkm_one_slack_values(&loop->joint, loop->U, loop->G));
    } else {
        dkm_constraint_set_weights(&loop->cuts, loop->U);
        DKM_TRY(dkm_joint_map_apply(loop->map, NULL, loop->U, loop->G));
    }
    DKM_TRY(dkm_jkm_separate_stabilized(loop));
    find_slacks(loop);
    for (dkm_idx i = 0; i < loop->oracle->n; i++)
        for (int side = shortfalls(loop, i, h) - 1; side >= 0; side--) {
            /* a user's oracle may miss what the constraints so far require */
            if (loop->oracle->user.find)
                h[side] = fmax(h[side], loop->slack[loop->split ? 2 * i + side : i]);
            dkm_twosum_add(&slack, fmax(0.0, h[side]));
            most[0] = fmax(most[0], h[side] - allowed(loop, i, side));
            most[1] = fmax(most[1], h[side]);
        }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(loop->ctx));
    DKM_TRY(dkm_twosum_allreduce(loop->ctx, 1, &slack));
    *found = (dkm_jkm_separation){slack.hi, most[0], most[1]};
out:
    dkm_phase_end(loop->ctx);
    return status;
}

static void clear_proposals(dkm_proposals *p)
{
    DKM_FREE(p->example);
    DKM_FREE(p->choice);
    DKM_FREE(p->b);
    DKM_FREE(p->bias_sign);
    DKM_FREE(p->V);
}

static dkm_local open_proposals(const dkm_cutting_plane *l, dkm_proposals *p)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx most = l->oracle->n * (l->split ? 2 : 1);

    DKM_STEP(dkm_alloc(l->ctx, most, &p->example));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->choice));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->b));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->bias_sign));
    DKM_STEP(dkm_alloc(l->ctx, most * l->map->r, &p->V));
out:
    return local;
}

/* A constraint of own example i. Where there is a threshold its row is y_i or -y, of which the
 * oracle has y_i - y. */
static void jkm_separate_propose(const dkm_cutting_plane *l, dkm_idx i, int side, dkm_proposals *p)
{
    const dkm_separation_oracle *o = l->oracle;
    dkm_idx r = l->map->r;
    double *v = p->V + p->count * r;
    const double *z = o->space->Z + i * r;
    int own = l->split && side == 0;

    p->example[p->count] = o->first + i;
    p->choice[p->count] = own ? -1 : o->choice[i];
    p->b[p->count] = l->split ? dkm_jkm_required_margin(l) : o->b[i];
    p->bias_sign[p->count] = l->split ? 1 - 2 * side : 0;
    memcpy(v, own ? z : o->V + i * r, (size_t)r * sizeof *v);
    for (dkm_idx k = 0; l->split && !own && k < r; k++)
        v[k] -= z[k];
    p->count++;
}

dkm_status dkm_jkm_add_cuts(dkm_cutting_plane *loop, double least)
{
    dkm_status status = DKM_OK;
    dkm_proposals p = {0};
    double h[2];

    DKM_AGREE(loop->ctx, open_proposals(loop, &p));
    for (dkm_idx i = 0; i < loop->oracle->n; i++)
        for (int side = 0, sides = shortfalls(loop, i, h); side < sides; side++)
            if (h[side] - allowed(loop, i, side) >= least)
                jkm_separate_propose(loop, i, side, &p);
    DKM_TRY(dkm_constraint_set_add(&loop->cuts, &p));
out:
    clear_proposals(&p);
    return status;
}
