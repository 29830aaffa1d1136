/* Flexible preconditioned conjugate gradients for A X = Y, all columns at once.
 *
 * Hestenes and Stiefel 1952, J. Res. Natl. Bur. Stand. 49(6):409-436, doi:10.6028/jres.049.044;
 * with the flexible beta_j = z_j'(r_j - r_j,old) / (z'r)_old of Golub and Ye 1999, SIAM J. Sci.
 * Comput. 21(4):1305-1320, doi:10.1137/S1064827597323415 (see also Notay 2000, SIAM J. Sci. Comput.
 * 22(4):1444-1460, doi:10.1137/S1064827599362314), which tolerates rounding in the preconditioner.
 * Every column has its own alpha and beta; it is not a block method. A run ends when the residual
 * of the recurrence is small enough. Then the true residual Y - A X is computed, and a run that
 * missed the tolerance is restarted from it.
 *
 * Cost per iteration: one A and one preconditioner applied to p columns, 12 m p / ranks flops,
 * three allreduces of p numbers and one of a norm; nothing is allocated. Held: X, R, Z, D, Q, 5 m p
 * / ranks numbers; p numbers are replicated. */
#include "solvers/krylov/pcg_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define DEFAULT_PATIENCE 6 /* where the settings say nothing */
#define RATE_STEPS       3 /* after which the rate of convergence is known */
#define RECURRENCE_MARGIN                                                                          \
    0.5 /* of the tolerance, for the residual carried along: rounding adds to it ... */
#define RECURRENCE_MARGIN_FROM 1e-3 /* ... but not to one so large */
#define MAX_RESTARTS           4    /* from the residual measured at the end of a run */
#define RESTART_GAIN                                                                               \
    0.1 /* a restart is worth it when the last run shrank the residual this much                   \
         */

static dkm_local pcg_alloc(dkm_pcg_run *c, dkm_idx m)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_multivec *slabs[] = {&c->R, &c->Z, &c->D, &c->Q};

    for (int k = 0; k < 4; k++) {
        DKM_STEP(dkm_multivec_init(slabs[k], c->ctx, m, c->p));
        slabs[k]->cols = c->p;
    }
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->rz));
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->dq));
    DKM_STEP(dkm_alloc(c->ctx, c->p, &c->zq));
out:
    return local;
}

static void pcg_free(dkm_pcg_run *c)
{
    dkm_multivec_free(&c->R);
    dkm_multivec_free(&c->Z);
    dkm_multivec_free(&c->D);
    dkm_multivec_free(&c->Q);
    DKM_FREE(c->rz);
    DKM_FREE(c->dq);
    DKM_FREE(c->zq);
}

/* R <- Y - A X, measured. */
static dkm_status pcg_true_residual(dkm_pcg_run *c, double *relative)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_linop_apply(&c->settings->A, c->X, &c->Q));
    dkm_multivec_copy(c->Y, &c->R);
    dkm_multivec_axpy(-1.0, &c->Q, &c->R);
    *relative = dkm_multivec_norm(&c->R) / (c->norm > 0 ? c->norm : 1.0);
out:
    return status;
}

/* The residual carried along, and how long it has not shrunk. */
static void pcg_note_residual(dkm_pcg_run *c, int steps, double target)
{
    double now = dkm_multivec_norm(&c->R) / c->norm;

    if (c->settings->history)
        c->settings->history[steps - 1] = now;
    c->waited = now < 0.9 * c->best ? 0 : c->waited + 1;
    c->best = now < c->best ? now : c->best;
    dkm_progress(c->ctx, log(c->start / c->best), log(c->start / target));
    dkm_log(c->ctx, DKM_DEBUG, "conjugate gradients, step %d: residual %.2e", steps, now);
}

/* Whether the steps still to come, at the mean rate of those since the residual was measured, are
 * more than they are worth. */
static int pcg_too_slow(const dkm_pcg_run *c, int steps, double target)
{
    double gained = log(c->start / c->best), left = log(c->best / target);

    return c->settings->worth > 0 && steps >= RATE_STEPS &&
           !(left * steps <= c->settings->worth * gained);
}

/* Steps from R = Y - A X, or from the state of an earlier run, until the residual carried along is
 * small or stops shrinking. Formulas hold for every column; one whose direction has no length left
 * stays where it is. */
static dkm_status pcg_run(dkm_pcg_run *c, int resumed, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;
    const dkm_pcg_settings *s = c->settings;
    const dkm_linop *A = s->f32.apply ? &s->f32 : &s->A;
    double target =
        (s->tolerance < RECURRENCE_MARGIN_FROM ? RECURRENCE_MARGIN : 0.999) * s->tolerance;
    int patience = s->patience > 0 ? s->patience : DEFAULT_PATIENCE;
    double *alpha = c->dq, *beta = c->zq;
    int before = resumed ? 0 : o->steps;

    if (!resumed) { /* z = M r, d = z */
        DKM_TRY(dkm_linop_apply(&s->M, &c->R, &c->Z));
        dkm_multivec_copy(&c->Z, &c->D);
        dkm_multivec_dots(&c->R, &c->D, c->rz);
    }
    while (c->best > target && c->waited < patience && o->steps < s->max_steps) {
        /* q = A d, alpha = r'd / d'q */
        DKM_TRY(dkm_linop_apply(A, &c->D, &c->Q));
        dkm_multivec_dots(&c->D, &c->Q, c->dq);
        for (dkm_idx j = 0; j < c->p; j++)
            alpha[j] = c->dq[j] > 0 ? c->rz[j] / c->dq[j] : 0.0;
        /* x = x + alpha d, r = r - alpha q */
        dkm_multivec_axpy_columns(1.0, alpha, &c->D, c->X);
        dkm_multivec_axpy_columns(-1.0, alpha, &c->Q, &c->R);
        pcg_note_residual(c, ++o->steps, target);
        if (c->best <= target || pcg_too_slow(c, o->steps - before, target))
            break;
        /* z = M r, beta = z'(r - r_old) / (r'd)_old, where r - r_old = -alpha q */
        DKM_TRY(dkm_linop_apply(&s->M, &c->R, &c->Z));
        dkm_multivec_dots(&c->Z, &c->Q, c->zq);
        for (dkm_idx j = 0; j < c->p; j++)
            beta[j] = c->rz[j] > 0 ? -alpha[j] * c->zq[j] / c->rz[j] : 0.0;
        /* d = z + beta d */
        dkm_multivec_xpay_columns(beta, &c->Z, &c->D);
        dkm_multivec_dots(&c->R, &c->D, c->rz);
        DKM_TRY(dkm_pcg_save(c, o->steps));
    }
out:
    return status;
}

/* Runs from the residual measured last, until it meets the tolerance or is not worth another. */
static dkm_status pcg_restart(dkm_pcg_run *c, int resumed, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;

    for (; c->restarts <= MAX_RESTARTS && o->residual > c->settings->tolerance; c->restarts++) {
        if (!resumed) {
            c->start = c->best = o->residual;
            c->waited = 0;
        }
        DKM_TRY(pcg_run(c, resumed, o));
        resumed = 0;
        DKM_TRY(pcg_true_residual(c, &o->residual));
        if (!(o->residual < RESTART_GAIN * c->start))
            break;
    }
out:
    return status;
}

dkm_status dkm_pcg(const dkm_multivec *Y, const dkm_pcg_settings *settings, dkm_idx m,
                   dkm_multivec *X, dkm_pcg_outcome *outcome)
{
    dkm_status status = DKM_OK;
    dkm_pcg_run c = {.settings = settings, .ctx = Y->ctx, .m = m, .p = Y->cols, .Y = Y, .X = X};
    int found = 0;

    *outcome = (dkm_pcg_outcome){.residual = 1.0};
    DKM_AGREE(c.ctx, pcg_alloc(&c, m));
    X->cols = c.p;
    memset(X->a, 0, (size_t)(X->n * X->ld) * sizeof *X->a);
    c.norm = dkm_multivec_norm(Y);
    dkm_multivec_copy(Y, &c.R);
    if (c.norm == 0)
        outcome->residual = 0;
    else
        DKM_TRY(dkm_pcg_restore(&c, &outcome->steps, &found));
    DKM_TRY(pcg_restart(&c, found, outcome));
    if (settings->left)
        dkm_multivec_copy(&c.R, settings->left);
out:
    pcg_free(&c);
    return status;
}
