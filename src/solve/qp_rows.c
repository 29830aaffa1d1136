/* Rows of G, here or far. Of those that are far the ones asked for last are kept while a program is
 * solved: trades and projections come back to the same constraints again and again. */
#include "core/alloc.h"
#include "solve/qp.h"

#define MOST 33554432 /* numbers that are kept: 256 MiB */

dkm_local dkm_qp_open_rows(dkm_qp *qp)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_qp_far *f = qp->far;

    if (!f || qp->n == 0)
        return local;
    f->slots = MOST / qp->n;
    f->slots = f->slots < 2 ? 2 : f->slots > qp->n ? qp->n : f->slots;
    f->slots = f->slots < 2 ? 2 : f->slots;
    f->clock = 0;
    DKM_STEP(dkm_alloc(qp->ctx, f->slots, &f->holds));
    DKM_STEP(dkm_calloc(qp->ctx, f->slots, &f->used));
    DKM_STEP(dkm_alloc(qp->ctx, qp->n, &f->slot));
    DKM_STEP(dkm_alloc(qp->ctx, f->slots * qp->n, &f->rows));
    for (dkm_idx k = 0; k < f->slots; k++)
        f->holds[k] = -1;
    for (dkm_idx c = 0; c < qp->n; c++)
        f->slot[c] = -1;
out:
    return local;
}

void dkm_qp_close_rows(dkm_qp *qp)
{
    if (!qp->far)
        return;
    DKM_FREE(qp->far->holds);
    DKM_FREE(qp->far->used);
    DKM_FREE(qp->far->slot);
    DKM_FREE(qp->far->rows);
}

/* The slot that was asked for longest ago. */
static dkm_idx oldest(const dkm_qp_far *f)
{
    dkm_idx best = 0;

    for (dkm_idx k = 1; k < f->slots && f->used[best] > 0; k++)
        if (f->used[k] < f->used[best])
            best = k;
    return best;
}

const double *dkm_qp_row(dkm_qp *qp, dkm_idx c)
{
    dkm_qp_far *f = qp->far;
    dkm_idx k;

    if (!f)
        return qp->G + c * qp->room;
    k = f->slot[c];
    if (k < 0) {
        k = oldest(f);
        if (f->holds[k] >= 0)
            f->slot[f->holds[k]] = -1;
        f->holds[k] = c;
        f->slot[c] = k;
        f->row(f->user, c, f->rows + k * qp->n);
    }
    f->used[k] = ++f->clock;
    return f->rows + k * qp->n;
}

double dkm_qp_diagonal(const dkm_qp *qp, dkm_idx c)
{
    return qp->far ? qp->far->diagonal[c] : qp->G[c * qp->room + c];
}

void dkm_qp_times(const dkm_qp *qp, const double *a, const char *skip, double *out)
{
    if (qp->far) {
        qp->far->times(qp->far->user, a, out);
        return;
    }
    for (dkm_idx c = 0; c < qp->n; c++)
        if (!skip || !skip[c])
            out[c] = dkm_qp_dot(qp->n, qp->G + c * qp->room, a);
}
