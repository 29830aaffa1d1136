/* For an rbf the gradient of <Psi, phi(t)> = sum_i a_i k(t, x_i) vanishes where
 *   t = sum_i a_i k(t, x_i) x_i / sum_i a_i k(t, x_i) = by_s / (-2 by_a).
 * Going there is a step uphill as long as the denominator, <Psi, phi(t)> itself, is positive; where
 * it vanishes or is negative another start is needed. */
#include <string.h>

#include "model/descent.h"

#define VANISHING 1e-10

static int suits(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, NULL) &&
           strncmp(dkm_kernel_text(e->base.kernel), "rbf(sigma", strlen("rbf(sigma")) == 0;
}

static int direction(const dkm_descent_point *point, double *direction)
{
    if (!(point->inner > VANISHING))
        return 1;
    for (dkm_idx k = 0; k < point->d; k++)
        direction[k] = point->by_s[k] / (-2.0 * point->by_a) - point->t[k];
    return 0;
}

static const dkm_descent_rule rule = {
    .name = "fixed-point", .whole_steps = 1, .direction = direction};

static dkm_status solve(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    return dkm_descent_solve(pre, &rule, Z, Y);
}

const dkm_preimage_kind dkm_preimage_fixed_point = {.method = DKM_PREIMAGE_FIXED_POINT,
                                                    .suits = suits,
                                                    .width = dkm_descent_width,
                                                    .prepare = dkm_descent_prepare,
                                                    .solve = solve};
