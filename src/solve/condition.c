#include "solve/condition.h"

#include <math.h>

#include <dkmap/random.h>

#include "scalapack/linalg.h"

#define POWER_STEPS  3
#define POWER_STREAM 0x706f776572u

/* Positive on the whole, so that it is far from orthogonal to the leading vector of a Gram matrix.
 */
static double start(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    (void)jg;
    return 1.0 + dkm_random_uniform(0, POWER_STREAM, (uint64_t)ig, 0);
}

static double rough(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    (void)jg;
    return dkm_random_normal(0, POWER_STREAM, (uint64_t)ig, 1);
}

static void scale(dkm_dmat *v, double by)
{
    for (dkm_idx i = 0; i < dkm_dmat_local_rows(v) * dkm_dmat_local_cols(v); i++) {
        if (dkm_dmat_precision(v) == DKM_F64)
            dkm_dmat_f64(v)[i] *= by;
        else
            dkm_dmat_f32(v)[i] *= (float)by;
    }
}

dkm_status dkm_largest_eigenvalue(const dkm_dmat *A, double *value)
{
    dkm_status status = DKM_OK;
    dkm_dmat *v = NULL, *w = NULL;

    *value = 0;
    DKM_TRY(dkm_dmat_create_beside(A, 1, 1, dkm_dmat_precision(A), &v));
    DKM_TRY(dkm_dmat_create_beside(A, 1, 1, dkm_dmat_precision(A), &w));
    dkm_dmat_fill(v, start, NULL);
    for (int k = 0; k < POWER_STEPS; k++) {
        double norm = dkm_dmat_norm(v);
        dkm_dmat *swap = v;
        if (!(norm > 0))
            break;
        scale(v, 1.0 / norm);
        dkm_la_symm('L', 1.0, A, v, 0.0, w);
        *value = dkm_dmat_norm(w);
        v = w;
        w = swap;
    }
out:
    dkm_dmat_destroy(&v);
    dkm_dmat_destroy(&w);
    return status;
}

dkm_status dkm_smallest_eigenvalue(const dkm_dmat *L, double *value)
{
    dkm_status status = DKM_OK;
    dkm_dmat *v = NULL;
    double norm = 0;

    *value = 0;
    DKM_TRY(dkm_dmat_create_beside(L, 1, 1, dkm_dmat_precision(L), &v));
    dkm_dmat_fill(v, rough, NULL);
    for (int k = 0; k < POWER_STEPS; k++) {
        norm = dkm_dmat_norm(v);
        if (!(norm > 0))
            break;
        scale(v, 1.0 / norm);
        dkm_la_lower_solve('N', L, v);
        dkm_la_lower_solve('T', L, v);
    }
    norm = dkm_dmat_norm(v);
    *value = norm > 0 ? 1.0 / norm : 0.0;
out:
    dkm_dmat_destroy(&v);
    return status;
}
