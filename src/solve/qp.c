#include "solve/qp.h"

#include <string.h>

#include "core/alloc.h"

dkm_qp dkm_qp_empty(dkm_ctx *ctx)
{
    return (dkm_qp){.ctx = ctx};
}

void dkm_qp_clear(dkm_qp *qp)
{
    DKM_FREE(qp->G);
    DKM_FREE(qp->b);
    DKM_FREE(qp->a);
    DKM_FREE(qp->group);
    DKM_FREE(qp->member);
    DKM_FREE(qp->L);
    qp->n = qp->room = qp->active = 0;
}

/* A square matrix of `from` used rows and leading dimension ld, in a block of leading dimension
 * room. */
static dkm_local widen(dkm_ctx *ctx, dkm_idx used, dkm_idx ld, dkm_idx room, double **A)
{
    dkm_local local = DKM_LOCAL_OK;
    double *wide = NULL;

    DKM_STEP(dkm_calloc(ctx, room * room, &wide));
    for (dkm_idx i = 0; i < used; i++)
        memcpy(wide + i * room, *A + i * ld, (size_t)used * sizeof *wide);
    DKM_FREE(*A);
    *A = wide;
out:
    return local;
}

static dkm_local enlarge(dkm_qp *qp, dkm_idx room)
{
    dkm_local local = DKM_LOCAL_OK;
    double *L = qp->L;

    DKM_STEP(dkm_realloc(qp->ctx, room, &qp->b));
    DKM_STEP(dkm_realloc(qp->ctx, room, &qp->a));
    DKM_STEP(dkm_realloc(qp->ctx, room, &qp->group));
    DKM_STEP(dkm_realloc(qp->ctx, room, &qp->member));
    DKM_STEP(widen(qp->ctx, qp->active, qp->room, room, &L));
    qp->L = L;
    local = widen(qp->ctx, qp->n, qp->room, room, &qp->G);
    if (local.code == DKM_OK)
        qp->room = room;
    else
        qp->active = 0; /* the factor has another leading dimension already: begin it anew */
out:
    return local;
}

dkm_local dkm_qp_grow(dkm_qp *qp, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = qp->n + count;

    if (n > qp->room)
        DKM_STEP(enlarge(qp, n + n / 2 + 16));
    for (dkm_idx c = qp->n; c < n; c++) {
        qp->a[c] = qp->b[c] = 0;
        qp->group[c] = 0;
    }
    qp->n = n;
out:
    return local;
}

void dkm_qp_keep(dkm_qp *qp, const char *keep)
{
    dkm_idx kept = 0, room = qp->room;

    for (dkm_idx i = 0; i < qp->active; i++) {
        dkm_idx place = 0;
        for (dkm_idx c = 0; c < qp->member[i]; c++)
            place += keep[c] != 0;
        qp->member[i] = place;
    }
    for (dkm_idx c = 0; c < qp->n; c++) {
        dkm_idx col = 0;
        if (!keep[c])
            continue;
        for (dkm_idx d = 0; d < qp->n; d++)
            if (keep[d])
                qp->G[kept * room + col++] = qp->G[c * room + d];
        qp->a[kept] = qp->a[c];
        qp->b[kept] = qp->b[c];
        qp->group[kept++] = qp->group[c];
    }
    qp->n = kept;
}

double dkm_qp_dot(dkm_idx n, const double *x, const double *y)
{
    double sum[8] = {0}, total = 0;
    dkm_idx k = 0;

    for (; k + 8 <= n; k += 8)
        for (int j = 0; j < 8; j++)
            sum[j] += x[k + j] * y[k + j];
    for (; k < n; k++)
        sum[k % 8] += x[k] * y[k];
    for (int j = 0; j < 8; j++)
        total += sum[j];
    return total;
}

double dkm_qp_objective(const dkm_qp *qp)
{
    double sum = 0;

    for (dkm_idx c = 0; c < qp->n; c++)
        if (qp->a[c] != 0)
            sum += qp->a[c] * (qp->b[c] - 0.5 * dkm_qp_dot(qp->n, qp->G + c * qp->room, qp->a));
    return sum;
}
