#include "solve/pcg_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define PATIENCE 6   /* where the settings say nothing */
#define ENOUGH   0.5 /* of the tolerance, for the residual carried along: rounding adds to it ... */
#define COARSE   1e-3 /* ... but not to one so large */
#define RESTARTS 4    /* from the residual measured at the end of a run */
#define WORTH    0.1  /* a restart is worth it when the last run shrank the residual this much */

static dkm_local allocate(dkm_pcg_run *c, dkm_idx m)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_slab *slabs[] = {&c->R, &c->Z, &c->D, &c->Q};

    for (int k = 0; k < 4; k++) {
        DKM_STEP(dkm_slab_init(slabs[k], c->ctx, m, c->p));
        slabs[k]->cols = c->p;
    }
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->rz));
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->dq));
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->zq));
out:
    return local;
}

static void release(dkm_pcg_run *c)
{
    dkm_slab_free(&c->R);
    dkm_slab_free(&c->Z);
    dkm_slab_free(&c->D);
    dkm_slab_free(&c->Q);
    DKM_FREE(c->rz);
    DKM_FREE(c->dq);
    DKM_FREE(c->zq);
}

/* out[j] = a_j'b_j for every column. Collective. */
static void dots(const dkm_slab *A, const dkm_slab *B, double *out)
{
    memset(out, 0, (size_t)A->cols * sizeof *out);
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            out[j] += A->a[i * A->ld + j] * B->a[i * B->ld + j];
    MPI_Allreduce(MPI_IN_PLACE, out, (int)A->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
}

/* A_j <- keep A_j + scale[j] B_j for every column. */
static void add_scaled(dkm_slab *A, const double *scale, double sign, const dkm_slab *B)
{
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            A->a[i * A->ld + j] += sign * scale[j] * B->a[i * B->ld + j];
}

/* D_j <- Z_j + beta[j] D_j */
static void turn(dkm_slab *D, const double *beta, const dkm_slab *Z)
{
    for (dkm_idx i = 0; i < D->n; i++)
        for (dkm_idx j = 0; j < D->cols; j++)
            D->a[i * D->ld + j] = Z->a[i * Z->ld + j] + beta[j] * D->a[i * D->ld + j];
}

static void copy(dkm_slab *to, const dkm_slab *from)
{
    to->cols = 0;
    dkm_slab_append(to, from);
}

/* R <- Y - A X, measured. */
static dkm_status measure(dkm_pcg_run *c, double *relative)
{
    dkm_status status = DKM_OK;

    DKM_TRY(c->settings->apply(c->settings->user, c->X, &c->Q));
    copy(&c->R, c->Y);
    for (dkm_idx i = 0; i < c->R.n; i++)
        for (dkm_idx j = 0; j < c->p; j++)
            c->R.a[i * c->R.ld + j] -= c->Q.a[i * c->Q.ld + j];
    *relative = dkm_slab_norm(&c->R) / (c->norm > 0 ? c->norm : 1.0);
out:
    return status;
}

/* X and R move along D for all columns. A column whose direction has no length left stays where it
 * is. */
static dkm_status move(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;
    dkm_slab_map map = c->settings->rough ? c->settings->rough : c->settings->apply;
    double *alpha = c->dq;

    DKM_TRY(map(c->settings->user, &c->D, &c->Q));
    dots(&c->D, &c->Q, c->dq);
    for (dkm_idx j = 0; j < c->p; j++)
        alpha[j] = c->dq[j] > 0 ? c->rz[j] / c->dq[j] : 0.0;
    add_scaled(c->X, alpha, 1.0, &c->D);
    add_scaled(&c->R, alpha, -1.0, &c->Q);
out:
    return status;
}

/* The next direction, after a move by alpha. */
static dkm_status redirect(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;
    const double *alpha = c->dq;
    double *beta = c->zq;

    DKM_TRY(c->settings->precondition(c->settings->user, &c->R, &c->Z));
    dots(&c->Z, &c->Q, c->zq); /* z'(r - r_old) = -alpha z'q */
    for (dkm_idx j = 0; j < c->p; j++)
        beta[j] = c->rz[j] > 0 ? -alpha[j] * c->zq[j] / c->rz[j] : 0.0;
    turn(&c->D, beta, &c->Z);
    dots(&c->R, &c->D, c->rz);
out:
    return status;
}

static dkm_status first_direction(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;

    DKM_TRY(c->settings->precondition(c->settings->user, &c->R, &c->Z));
    copy(&c->D, &c->Z);
    dots(&c->R, &c->D, c->rz);
out:
    return status;
}

/* Steps until the residual carried along is small or stops shrinking. */
static dkm_status run(dkm_pcg_run *c, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;
    double target = (c->settings->tolerance < COARSE ? ENOUGH : 0.999) * c->settings->tolerance;
    int patience = c->settings->patience > 0 ? c->settings->patience : PATIENCE;

    while (c->best > target && c->waited < patience && o->steps < c->settings->max_steps) {
        double now;
        DKM_TRY(move(c));
        o->steps++;
        now = dkm_slab_norm(&c->R) / c->norm;
        if (c->settings->history)
            c->settings->history[o->steps - 1] = now;
        c->waited = now < 0.9 * c->best ? 0 : c->waited + 1;
        c->best = now < c->best ? now : c->best;
        dkm_progress(c->ctx, log(c->start / c->best), log(c->start / target));
        dkm_say(c->ctx, DKM_DEBUG, "conjugate gradients, step %d: residual %.2e", o->steps, now);
        if (c->best <= target)
            break;
        DKM_TRY(redirect(c));
        DKM_TRY(dkm_pcg_leave(c, o->steps));
    }
out:
    return status;
}

/* Runs from the residual measured last, until it meets the tolerance or is not worth another. */
static dkm_status run_again(dkm_pcg_run *c, int taken_up, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;

    for (; c->restarts <= RESTARTS && o->residual > c->settings->tolerance; c->restarts++) {
        if (!taken_up) {
            c->start = c->best = o->residual;
            c->waited = 0;
            DKM_TRY(first_direction(c));
        }
        taken_up = 0;
        DKM_TRY(run(c, o));
        DKM_TRY(measure(c, &o->residual));
        if (!(o->residual < WORTH * c->start))
            break;
    }
out:
    return status;
}

dkm_status dkm_pcg(const dkm_slab *Y, const dkm_pcg_settings *settings, dkm_idx m, dkm_slab *X,
                   dkm_pcg_outcome *outcome)
{
    dkm_status status = DKM_OK;
    dkm_pcg_run c = {.settings = settings, .ctx = Y->ctx, .m = m, .p = Y->cols, .Y = Y, .X = X};
    int found = 0;

    *outcome = (dkm_pcg_outcome){.residual = 1.0};
    DKM_AGREE(c.ctx, allocate(&c, m));
    X->cols = c.p;
    memset(X->a, 0, (size_t)(X->n * X->ld) * sizeof *X->a);
    c.norm = dkm_slab_norm(Y);
    copy(&c.R, Y);
    if (c.norm == 0)
        outcome->residual = 0;
    else
        DKM_TRY(dkm_pcg_take_up(&c, &outcome->steps, &found));
    DKM_TRY(run_again(&c, found, outcome));
    if (settings->left)
        copy(settings->left, &c.R);
out:
    release(&c);
    return status;
}
