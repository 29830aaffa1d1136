#include "solve/condition.h"

#include <math.h>

#include <dkmap/random.h>

#include "scalapack/linalg.h"
#include "scalapack/sweep.h"
#include "solve/slab.h"

#define POWER_STEPS  3
#define POWER_STREAM 0x706f776572u

static dkm_status open_vector(const dkm_dmat *A, dkm_slab *v)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(A));

    DKM_AGREE(ctx, dkm_slab_init(v, ctx, dkm_dmat_rows(A), 1));
    v->cols = 1;
out:
    return status;
}

/* Positive on the whole, so that it is far from orthogonal to the leading vector of a Gram matrix;
 * or of all directions. */
static void start(dkm_slab *v, dkm_idx m, int positive)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(v->ctx), dkm_ctx_size(v->ctx));

    for (dkm_idx i = 0; i < v->n; i++)
        v->a[i] = positive ? 1.0 + dkm_random_uniform(0, POWER_STREAM, (uint64_t)(first + i), 0)
                           : dkm_random_normal(0, POWER_STREAM, (uint64_t)(first + i), 1);
}

static void shorten(dkm_slab *v, double norm)
{
    for (dkm_idx i = 0; i < v->n; i++)
        v->a[i] /= norm;
}

dkm_status dkm_largest_eigenvalue(const dkm_dmat *A, double *value)
{
    dkm_status status = DKM_OK;
    dkm_slab v = {0};
    double norm;

    *value = 0;
    DKM_TRY(open_vector(A, &v));
    start(&v, dkm_dmat_rows(A), 1);
    norm = dkm_slab_norm(&v);
    for (int k = 0; k < POWER_STEPS && norm > 0; k++) {
        shorten(&v, norm);
        DKM_TRY(dkm_sweep_rows('L', A, 1, v.a));
        *value = norm = dkm_slab_norm(&v);
    }
out:
    dkm_slab_free(&v);
    return status;
}

dkm_status dkm_smallest_eigenvalue(const dkm_dmat *L, double *value)
{
    dkm_status status = DKM_OK;
    dkm_slab v = {0};
    double norm;

    *value = 0;
    DKM_TRY(open_vector(L, &v));
    start(&v, dkm_dmat_rows(L), 0);
    norm = dkm_slab_norm(&v);
    for (int k = 0; k < POWER_STEPS && norm > 0; k++) {
        shorten(&v, norm);
        DKM_TRY(dkm_la_narrow_solve(L, 1, v.a));
        norm = dkm_slab_norm(&v);
    }
    *value = norm > 0 ? 1.0 / norm : 0.0;
out:
    dkm_slab_free(&v);
    return status;
}
