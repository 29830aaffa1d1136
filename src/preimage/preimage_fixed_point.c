/* Fixed-point pre-images for rbf kernels (Mika, Schoelkopf, Smola, Mueller, Scholz and Raetsch
 * 1999, NIPS 11:536-542). The gradient of <Psi, phi(t)> = sum_i a_i k(t, x_i) vanishes where
 *   t = sum_i a_i k(t, x_i) x_i / sum_i a_i k(t, x_i) = dk_ds / (-2 dk_da).
 * The step increases <Psi, phi(t)> as long as the denominator, <Psi, phi(t)> itself, is positive;
 * if it is zero or negative, another start is needed.
 *
 * Cost per iteration of n points: 4 n m d flops over all ranks; see descent.h for what is sent. */
#include "kernels/evaluation/kernel_impl.h"
#include "preimage/descent.h"

#define VANISHING 1e-10

static int preimage_fixed_point_accepts(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, NULL) && dkm_kernel_is_rbf(e->fitted.kernel);
}

static int preimage_fixed_point_direction(const dkm_descent_point *point,
                                          double *preimage_fixed_point_direction)
{
    if (!(point->inner > VANISHING))
        return 1;
    for (dkm_idx k = 0; k < point->d; k++)
        preimage_fixed_point_direction[k] = point->dk_ds[k] / (-2.0 * point->dk_da) - point->t[k];
    return 0;
}

static const dkm_descent_rule rule = {
    .name = "fixed-point", .full_steps = 1, .direction = preimage_fixed_point_direction};

static dkm_status preimage_fixed_point_solve(const dkm_preimage *pre, void *state,
                                             const dkm_data *X, const dkm_data *Z, dkm_data **Y)
{
    (void)X;
    return dkm_descent_solve(pre, state, &rule, Z, Y);
}

const dkm_preimage_kind dkm_preimage_fixed_point = {.method = DKM_PREIMAGE_FIXED_POINT,
                                                    .state_size = sizeof(dkm_descent_state),
                                                    .suits = preimage_fixed_point_accepts,
                                                    .width = dkm_descent_width,
                                                    .prepare = dkm_descent_prepare,
                                                    .solve = preimage_fixed_point_solve,
                                                    .clear = dkm_descent_clear};
