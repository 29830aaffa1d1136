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
 * three allreduces of p numbers and one of a norm. Held: X, R, Z, D, Q, 5 m p / ranks numbers; p
 * numbers are replicated. */
#include "solvers/krylov/pcg_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define DEFAULT_PATIENCE 6 /* where the settings say nothing */
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

/* out[j] = a_j'b_j for every column. Collective. */
static void pcg_column_dots(const dkm_multivec *A, const dkm_multivec *B, double *out)
{
    memset(out, 0, (size_t)A->cols * sizeof *out);
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            out[j] += A->a[i * A->ld + j] * B->a[i * B->ld + j];
    MPI_Allreduce(MPI_IN_PLACE, out, (int)A->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(A->ctx));
}

/* A_j <- A_j + sign scale[j] B_j for every column. */
static void pcg_column_axpy(dkm_multivec *A, const double *scale, double sign,
                            const dkm_multivec *B)
{
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx j = 0; j < A->cols; j++)
            A->a[i * A->ld + j] += sign * scale[j] * B->a[i * B->ld + j];
}

/* D_j <- Z_j + beta[j] D_j */
static void pcg_column_xpay(dkm_multivec *D, const double *beta, const dkm_multivec *Z)
{
    for (dkm_idx i = 0; i < D->n; i++)
        for (dkm_idx j = 0; j < D->cols; j++)
            D->a[i * D->ld + j] = Z->a[i * Z->ld + j] + beta[j] * D->a[i * D->ld + j];
}

static void pcg_copy(dkm_multivec *to, const dkm_multivec *from)
{
    to->cols = 0;
    dkm_multivec_append(to, from);
}

/* R <- Y - A X, measured. */
static dkm_status pcg_true_residual(dkm_pcg_run *c, double *relative)
{
    dkm_status status = DKM_OK;

    DKM_TRY(c->settings->apply(c->settings->user, c->X, &c->Q));
    pcg_copy(&c->R, c->Y);
    for (dkm_idx i = 0; i < c->R.n; i++)
        for (dkm_idx j = 0; j < c->p; j++)
            c->R.a[i * c->R.ld + j] -= c->Q.a[i * c->Q.ld + j];
    *relative = dkm_multivec_norm(&c->R) / (c->norm > 0 ? c->norm : 1.0);
out:
    return status;
}

/* X and R move along D for all columns. A column whose direction has no length left stays where it
 * is. */
static dkm_status pcg_update_solution(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;
    dkm_multivec_fn map = c->settings->rough ? c->settings->rough : c->settings->apply;
    double *alpha = c->dq;

    DKM_TRY(map(c->settings->user, &c->D, &c->Q));
    pcg_column_dots(&c->D, &c->Q, c->dq);
    for (dkm_idx j = 0; j < c->p; j++)
        alpha[j] = c->dq[j] > 0 ? c->rz[j] / c->dq[j] : 0.0;
    pcg_column_axpy(c->X, alpha, 1.0, &c->D);
    pcg_column_axpy(&c->R, alpha, -1.0, &c->Q);
out:
    return status;
}

/* The next direction, after a move by alpha. */
static dkm_status pcg_update_direction(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;
    const double *alpha = c->dq;
    double *beta = c->zq;

    DKM_TRY(c->settings->precondition(c->settings->user, &c->R, &c->Z));
    pcg_column_dots(&c->Z, &c->Q, c->zq); /* z'(r - r_old) = -alpha z'q */
    for (dkm_idx j = 0; j < c->p; j++)
        beta[j] = c->rz[j] > 0 ? -alpha[j] * c->zq[j] / c->rz[j] : 0.0;
    pcg_column_xpay(&c->D, beta, &c->Z);
    pcg_column_dots(&c->R, &c->D, c->rz);
out:
    return status;
}

static dkm_status pcg_first_direction(dkm_pcg_run *c)
{
    dkm_status status = DKM_OK;

    DKM_TRY(c->settings->precondition(c->settings->user, &c->R, &c->Z));
    pcg_copy(&c->D, &c->Z);
    pcg_column_dots(&c->R, &c->D, c->rz);
out:
    return status;
}

/* Steps until the residual carried along is small or stops shrinking. */
static dkm_status pcg_run(dkm_pcg_run *c, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;
    double target = (c->settings->tolerance < RECURRENCE_MARGIN_FROM ? RECURRENCE_MARGIN : 0.999) *
                    c->settings->tolerance;
    int patience = c->settings->patience > 0 ? c->settings->patience : DEFAULT_PATIENCE;

    while (c->best > target && c->waited < patience && o->steps < c->settings->max_steps) {
        double now;
        DKM_TRY(pcg_update_solution(c));
        o->steps++;
        now = dkm_multivec_norm(&c->R) / c->norm;
        if (c->settings->history)
            c->settings->history[o->steps - 1] = now;
        c->waited = now < 0.9 * c->best ? 0 : c->waited + 1;
        c->best = now < c->best ? now : c->best;
        dkm_progress(c->ctx, log(c->start / c->best), log(c->start / target));
        dkm_log(c->ctx, DKM_DEBUG, "conjugate gradients, step %d: residual %.2e", o->steps, now);
        if (c->best <= target)
            break;
        DKM_TRY(pcg_update_direction(c));
        DKM_TRY(dkm_pcg_save(c, o->steps));
    }
out:
    return status;
}

/* Runs from the residual measured last, until it meets the tolerance or is not worth another. */
static dkm_status pcg_restart(dkm_pcg_run *c, int taken_up, dkm_pcg_outcome *o)
{
    dkm_status status = DKM_OK;

    for (; c->restarts <= MAX_RESTARTS && o->residual > c->settings->tolerance; c->restarts++) {
        if (!taken_up) {
            c->start = c->best = o->residual;
            c->waited = 0;
            DKM_TRY(pcg_first_direction(c));
        }
        taken_up = 0;
        DKM_TRY(pcg_run(c, o));
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
    pcg_copy(&c.R, Y);
    if (c.norm == 0)
        outcome->residual = 0;
    else
        DKM_TRY(dkm_pcg_restore(&c, &outcome->steps, &found));
    DKM_TRY(pcg_restart(&c, found, outcome));
    if (settings->left)
        pcg_copy(settings->left, &c.R);
out:
    pcg_free(&c);
    return status;
}
