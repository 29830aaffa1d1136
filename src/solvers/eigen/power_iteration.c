/* Extremal eigenvalues by a few steps of power iteration, v <- A v / ||A v||, and of inverse power
 * iteration with a Cholesky factor, v <- (L L')^-1 v, normalized.
 *
 * From a random start this gives a lower bound on the largest eigenvalue and an upper bound on the
 * smallest, usually within a small factor (Kuczynski and Wozniakowski 1992, SIAM J. Matrix Anal.
 * Appl. 13(4):1094-1122, doi:10.1137/0613066): good enough for condition estimates and for the
 * scale of a jitter. Cost per step: one symmetric product or one solve with one vector
 * (symm_multivec.c, potrs_multivec.c). */
#include "solvers/eigen/power_iteration.h"

#include <math.h>

#include <dkmap/random.h>

#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/multivec.h"

#define POWER_ITERATIONS 3
#define POWER_STREAM     0x706f776572u

static dkm_status power_open_vector(const dkm_dmat *A, dkm_multivec *v)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(A));

    DKM_AGREE(ctx, dkm_multivec_init(v, ctx, dkm_dmat_rows(A), 1));
    v->cols = 1;
out:
    return status;
}

/* Mostly positive, so that it is far from orthogonal to the leading vector of a Gram matrix;
 * or of all directions. */
static void power_start_vector(dkm_multivec *v, dkm_idx m, int positive)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(v->ctx), dkm_ctx_size(v->ctx));

    for (dkm_idx i = 0; i < v->n; i++)
        v->a[i] = positive ? 1.0 + dkm_random_uniform(0, POWER_STREAM, (uint64_t)(first + i), 0)
                           : dkm_random_normal(0, POWER_STREAM, (uint64_t)(first + i), 1);
}

static void power_normalize(dkm_multivec *v, double norm)
{
    for (dkm_idx i = 0; i < v->n; i++)
        v->a[i] /= norm;
}

/* The norm that a vector of norm 1 is given by A, or by the inverse of the matrix that A is the factor of. */
static dkm_status power_iterate(const dkm_dmat *A, int inverse, double *norm)
{
    dkm_status status = DKM_OK;
    dkm_multivec v = {0};

    *norm = 0;
    DKM_TRY(power_open_vector(A, &v));
    power_start_vector(&v, dkm_dmat_rows(A), !inverse);
    *norm = dkm_multivec_norm(&v);
    for (int k = 0; k<POWER_ITERATIONS && * norm> 0; k++) {
        power_normalize(&v, *norm);
        DKM_TRY(inverse ? dkm_la_potrs_multivec(A, 1, v.a) : dkm_symm_multivec('L', A, 1, v.a));
        *norm = dkm_multivec_norm(&v);
    }
out:
    dkm_multivec_free(&v);
    return status;
}

dkm_status dkm_largest_eigenvalue(const dkm_dmat *A, double *value)
{
    return power_iterate(A, 0, value);
}

dkm_status dkm_smallest_eigenvalue(const dkm_dmat *L, double *value)
{
    dkm_status status = power_iterate(L, 1, value);

    *value = status == DKM_OK && *value > 0 ? 1.0 / *value : 0.0;
    return status;
}
