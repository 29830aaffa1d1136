/* Descent on ||Psi - phi(t)||^2 = k(t, t) - 2 <Psi, phi(t)> + ||Psi||^2 for any kernel whose
 * gradient is known: 2 slope t - 2 (by_s + 2 by_a t). */
#include <math.h>

#include "kernel/slopes.h"
#include "model/descent.h"

static int suits(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, NULL) && dkm_kernel_has_slopes(e->base.kernel);
}

static int direction(const dkm_descent_point *point, double *direction)
{
    double own = 2.0 * point->by_a - point->slope, sum = 0;

    for (dkm_idx k = 0; k < point->d; k++) {
        direction[k] = 2.0 * (point->by_s[k] + own * point->t[k]);
        sum += direction[k];
    }
    return !isfinite(sum);
}

static const dkm_descent_rule rule = {.name = "gradient", .direction = direction};

static dkm_status solve(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    return dkm_descent_solve(pre, &rule, Z, Y);
}

const dkm_preimage_kind dkm_preimage_gradient = {.method = DKM_PREIMAGE_GRADIENT,
                                                 .suits = suits,
                                                 .width = dkm_descent_width,
                                                 .prepare = dkm_descent_prepare,
                                                 .solve = solve};
