/* What the machine of a round violates, and the constraints that come of it.
 *
 * With a threshold t every example has two slacks and up to two constraints a round: its own output
 * asks for F(x_i, y_i) + t >= margin / 2, and the worst other one for F(x_i, y) + t <= -margin / 2.
 */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "model/jkm_loop.h"
#include "model/panels.h"

double dkm_jkm_asked(const dkm_jkm_loop *loop)
{
    return loop->oracle->margin * (loop->split ? 0.5 : 1);
}

/* What the constraints so far ask of the slacks of each own example. */
static void find_slacks(dkm_jkm_loop *l)
{
    const dkm_cutset *cuts = &l->cuts;
    dkm_idx r = l->form->r;

    memset(l->slack, 0, (size_t)(l->oracle->n * (l->split ? 2 : 1)) * sizeof *l->slack);
    for (dkm_idx k = 0; k < cuts->own; k++) {
        dkm_idx c = cuts->place[k], i = cuts->mine[k];
        double *slack = l->slack + (l->split ? 2 * i + (cuts->tilt[c] < 0) : i);
        double short_of = cuts->b[c] - cuts->tilt[c] * cuts->threshold -
                          dkm_qp_dot(r, l->G + i * r, cuts->V + k * r);
        *slack = fmax(*slack, short_of);
    }
}

/* By how much own example i falls short: of its constraint, or with a threshold of that of its own
 * output and of that of the worst other one. Returns how many there are. */
static int shortfalls(const dkm_jkm_loop *l, dkm_idx i, double h[2])
{
    const dkm_oracle *o = l->oracle;
    dkm_idx r = l->form->r;
    double own, other;

    h[0] = o->violation[i];
    if (!l->split)
        return 1;
    own = dkm_qp_dot(r, l->G + i * r, o->space->Z + i * r);
    other = own - (o->b[i] - o->violation[i]);
    h[0] = dkm_jkm_asked(l) - (own + l->cuts.threshold);
    h[1] = isinf(o->violation[i]) ? -INFINITY : dkm_jkm_asked(l) + other + l->cuts.threshold;
    return 2;
}

/* Slack that the constraints so far ask for anyway. */
static double allowed(const dkm_jkm_loop *l, dkm_idx i, int side)
{
    return l->settings->C > 0 ? l->slack[l->split ? 2 * i + side : i] : 0;
}

dkm_status dkm_jkm_look(dkm_jkm_loop *loop, dkm_jkm_finding *found)
{
    dkm_status status = DKM_OK;
    dkm_sum slack = {0};
    double most[2] = {0, 0}, h[2];

    dkm_phase_begin(loop->ctx, "oracle");
    if (loop->one) {
        DKM_TRY(dkm_onecut_values(&loop->joint, loop->U, loop->G));
    } else {
        dkm_cutset_machine(&loop->cuts, loop->U);
        DKM_TRY(dkm_form_apply(loop->form, NULL, loop->U, loop->G));
    }
    DKM_TRY(dkm_jkm_search(loop));
    find_slacks(loop);
    for (dkm_idx i = 0; i < loop->oracle->n; i++)
        for (int side = shortfalls(loop, i, h) - 1; side >= 0; side--) {
            /* a user's oracle may miss what the constraints so far ask for */
            if (loop->oracle->user.find)
                h[side] = fmax(h[side], loop->slack[loop->split ? 2 * i + side : i]);
            dkm_sum_add(&slack, fmax(0.0, h[side]));
            most[0] = fmax(most[0], h[side] - allowed(loop, i, side));
            most[1] = fmax(most[1], h[side]);
        }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(loop->ctx));
    DKM_TRY(dkm_sum_ranks(loop->ctx, 1, &slack));
    *found = (dkm_jkm_finding){slack.hi, most[0], most[1]};
out:
    dkm_phase_end(loop->ctx);
    return status;
}

static void clear_proposals(dkm_proposals *p)
{
    DKM_FREE(p->example);
    DKM_FREE(p->choice);
    DKM_FREE(p->b);
    DKM_FREE(p->tilt);
    DKM_FREE(p->V);
}

static dkm_local open_proposals(const dkm_jkm_loop *l, dkm_proposals *p)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx most = l->oracle->n * (l->split ? 2 : 1);

    DKM_STEP(dkm_alloc(l->ctx, most, &p->example));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->choice));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->b));
    DKM_STEP(dkm_alloc(l->ctx, most, &p->tilt));
    DKM_STEP(dkm_alloc(l->ctx, most * l->form->r, &p->V));
out:
    return local;
}

/* A constraint of own example i. Where there is a threshold its row is y_i or -y, of which the
 * oracle has y_i - y. */
static void propose(const dkm_jkm_loop *l, dkm_idx i, int side, dkm_proposals *p)
{
    const dkm_oracle *o = l->oracle;
    dkm_idx r = l->form->r;
    double *v = p->V + p->count * r;
    const double *z = o->space->Z + i * r;
    int own = l->split && side == 0;

    p->example[p->count] = o->first + i;
    p->choice[p->count] = own ? -1 : o->choice[i];
    p->b[p->count] = l->split ? dkm_jkm_asked(l) : o->b[i];
    p->tilt[p->count] = l->split ? 1 - 2 * side : 0;
    memcpy(v, own ? z : o->V + i * r, (size_t)r * sizeof *v);
    for (dkm_idx k = 0; l->split && !own && k < r; k++)
        v[k] -= z[k];
    p->count++;
}

dkm_status dkm_jkm_add(dkm_jkm_loop *loop, double least)
{
    dkm_status status = DKM_OK;
    dkm_proposals p = {0};
    double h[2];

    DKM_AGREE(loop->ctx, open_proposals(loop, &p));
    for (dkm_idx i = 0; i < loop->oracle->n; i++)
        for (int side = 0, sides = shortfalls(loop, i, h); side < sides; side++)
            if (h[side] - allowed(loop, i, side) >= least)
                propose(loop, i, side, &p);
    DKM_TRY(dkm_cutset_add(&loop->cuts, &p));
out:
    clear_proposals(&p);
    return status;
}
