/* LRU cache of remote rows of the Gram matrix while a quadratic program is solved (like the kernel
 * cache of LIBSVM; Joachims 1999, Making large-scale SVM learning practical, in Advances in Kernel
 * Methods, MIT Press). The solver returns to the same constraints again and again. At most 256 MiB,
 * at least two rows. */
#include "core/alloc.h"
#include "solvers/qp/qp.h"

#define MAX_CACHED_ROWS 33554432 /* numbers that are stored: 256 MiB */

dkm_local dkm_qp_row_cache_open(dkm_qp *qp)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_qp_row_provider *f = qp->provider;

    if (!f || qp->n == 0)
        return local;
    f->slots = MAX_CACHED_ROWS / qp->n;
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

void dkm_qp_row_cache_close(dkm_qp *qp)
{
    if (!qp->provider)
        return;
    DKM_FREE(qp->provider->holds);
    DKM_FREE(qp->provider->used);
    DKM_FREE(qp->provider->slot);
    DKM_FREE(qp->provider->rows);
}

/* The slot that was asked for longest ago. */
static dkm_idx row_cache_oldest(const dkm_qp_row_provider *f)
{
    dkm_idx best = 0;

    for (dkm_idx k = 1; k < f->slots && f->used[best] > 0; k++)
        if (f->used[k] < f->used[best])
            best = k;
    return best;
}

const double *dkm_qp_row(dkm_qp *qp, dkm_idx c)
{
    dkm_qp_row_provider *f = qp->provider;
    dkm_idx k;

    if (!f)
        return qp->G + c * qp->capacity;
    k = f->slot[c];
    if (k < 0) {
        k = row_cache_oldest(f);
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
    return qp->provider ? qp->provider->diagonal[c] : qp->G[c * qp->capacity + c];
}

void dkm_qp_matvec(const dkm_qp *qp, const double *a, const char *skip, double *out)
{
    if (qp->provider) {
        qp->provider->times(qp->provider->user, a, out);
        return;
    }
    for (dkm_idx c = 0; c < qp->n; c++)
        if (!skip || !skip[c])
            out[c] = dkm_qp_dot(qp->n, qp->G + c * qp->capacity, a);
}
