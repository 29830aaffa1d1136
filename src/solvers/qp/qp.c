/* The quadratic program of qp.h: storage of G, b and a that grows with the constraints, and the
 * choice of the solver: active set (active_set.c) without a budget, SMO (smo.c) with one. Cost:
 * n^2 numbers on rank 0, or rows on their ranks (distributed.c). */
#include "solvers/qp/qp.h"

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
    qp->n = qp->capacity = qp->active = qp->factor_capacity = 0;
}

/* G in a block of another leading dimension. */
static dkm_local qp_widen(dkm_qp *qp, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;
    double *wide = NULL;

    DKM_STEP(dkm_calloc(qp->ctx, capacity * capacity, &wide));
    for (dkm_idx i = 0; i < qp->n; i++)
        memcpy(wide + i * capacity, qp->G + i * qp->capacity, (size_t)qp->n * sizeof *wide);
    DKM_FREE(qp->G);
    qp->G = wide;
out:
    return local;
}

static dkm_local qp_enlarge(dkm_qp *qp, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_realloc(qp->ctx, capacity, &qp->b));
    DKM_STEP(dkm_realloc(qp->ctx, capacity, &qp->a));
    DKM_STEP(dkm_realloc(qp->ctx, capacity, &qp->group));
    DKM_STEP(dkm_realloc(qp->ctx, capacity, &qp->member));
    if (!qp->provider)
        DKM_STEP(qp_widen(qp, capacity));
    qp->capacity = capacity;
out:
    return local;
}

dkm_local dkm_qp_grow(dkm_qp *qp, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = qp->n + count;

    if (n > qp->capacity)
        DKM_STEP(qp_enlarge(qp, n + n / 2 + 16));
    for (dkm_idx c = qp->n; c < n; c++) {
        qp->a[c] = qp->b[c] = 0;
        qp->group[c] = 0;
    }
    qp->n = n;
out:
    return local;
}

void dkm_qp_use_row_provider(dkm_qp *qp, dkm_qp_row_provider *provider)
{
    DKM_FREE(qp->G);
    qp->provider = provider;
}

double *dkm_qp_factor_row(const dkm_qp *qp, dkm_idx i)
{
    return qp->L + i * (i + 3) / 2;
}

dkm_local dkm_qp_widen_factor(dkm_qp *qp)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx capacity = qp->active + qp->active / 4 + 32;

    if (qp->active < qp->factor_capacity)
        return local;
    DKM_STEP(dkm_realloc(qp->ctx, capacity * (capacity + 3) / 2, &qp->L));
    qp->factor_capacity = capacity;
out:
    return local;
}

void dkm_qp_keep(dkm_qp *qp, const char *keep)
{
    dkm_idx n_kept = 0, capacity = qp->capacity;

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
        for (dkm_idx d = 0; !qp->provider && d < qp->n; d++)
            if (keep[d])
                qp->G[n_kept * capacity + col++] = qp->G[c * capacity + d];
        qp->a[n_kept] = qp->a[c];
        qp->b[n_kept] = qp->b[c];
        qp->group[n_kept++] = qp->group[c];
    }
    qp->n = n_kept;
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

double dkm_qp_objective(const dkm_qp *qp, double *scratch)
{
    double sum = 0;

    if (qp->provider)
        dkm_qp_matvec(qp, qp->a, NULL, scratch);
    for (dkm_idx c = 0; c < qp->n; c++)
        if (qp->a[c] != 0)
            sum += qp->a[c] *
                   (qp->b[c] - 0.5 * (qp->provider
                                          ? scratch[c]
                                          : dkm_qp_dot(qp->n, qp->G + c * qp->capacity, qp->a)));
    return sum;
}
