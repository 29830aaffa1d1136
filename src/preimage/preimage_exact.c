/* With k(x, x') = f(<x, x'>) and f invertible, an x with phi(x) = Psi has the elements
 *   x_k = <x, e_k> = f^-1(<Psi, phi(e_k)>) = f^-1(sum_i a_i f(x_ik)).
 * For the squared inner product Psi is the matrix M = sum_i a_i x_i x_i', and the best x x' is its
 * leading eigenpair, x = sqrt(lambda) u, up to its sign: found by the power method, all points at
 * once, each from a training object near to it, whose side it stays on.
 *
 * f^-1 of an expansion: Schoelkopf, Mika, Burges, Knirsch, Mueller, Raetsch and Smola 1999,
 * IEEE Trans. Neural Networks 10(5):1000-1017, doi:10.1109/72.788641, section III. Cost per
 * point: 2 m d flops, and as much for every step of the power method. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "preimage/descent.h"

typedef struct exact_state {
    dkm_descent_state descent; /* of the squared inner product */
    dkm_candidates training;   /* of others */
    dkm_dmat *F;               /* f(X), m x d */
} exact_state;

static void preimage_exact_clear(void *state)
{
    exact_state *s = state;

    dkm_descent_clear(&s->descent);
    dkm_candidates_clear(&s->training);
    dkm_dmat_destroy(&s->F);
}

static int is_squared(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, "poly(degree=2, c=0)") ||
           dkm_preimage_dense(e, "power(linear, degree=2)");
}

static int preimage_exact_accepts(const dkm_embedding *e)
{
    return is_squared(e) ||
           (dkm_preimage_dense(e, NULL) && dkm_kernel_invertible(e->fitted.kernel));
}

/* x <- f(x), element by element. */
static void apply_kernel(const dkm_kernel *kernel, dkm_idx n, double *x)
{
    double zero[DKM_PAIRS] = {0}, k[DKM_PAIRS], dk_ds[DKM_PAIRS], dk_da[DKM_PAIRS];

    for (dkm_idx i = 0; i < n; i += DKM_PAIRS) {
        dkm_idx some = n - i < DKM_PAIRS ? n - i : DKM_PAIRS;
        dkm_dots pairs = {some, x + i, zero, zero};
        dkm_derivatives out = {k, dk_ds, dk_da};
        dkm_kernel_derivatives(kernel, &pairs, &out);
        memcpy(x + i, k, (size_t)some * sizeof *x);
    }
}

static dkm_status preimage_exact_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    exact_state *s = state;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;

    if (is_squared(pre->e))
        return dkm_descent_prepare(pre, &s->descent);
    DKM_TRY(dkm_preimage_training(pre, &s->training));
    DKM_TRY(dkm_fitted_kernel_objects(fitted, &s->F));
    for (dkm_idx jl = 0; jl < s->F->n_loc; jl++)
        apply_kernel(fitted->kernel, s->F->m_loc, s->F->a.f64 + jl * s->F->ld);
out:
    return status;
}

/* <Psi, phi(e_k)> for every point and k, in slabs. */
static dkm_status inner_products(const dkm_preimage *pre, const exact_state *s, const dkm_data *Z,
                                 double *rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *A = NULL, *V = NULL;

    DKM_TRY(dkm_kernel_expansion_weights(pre->e, Z, &A));
    DKM_TRY(dkm_dmat_create_like(A, dkm_dmat_cols(s->F), pre->e->fitted.nb, DKM_F64, &V));
    dkm_la_gemm('N', 'N', 1.0, A, s->F, 0.0, V);
    DKM_TRY(dkm_dmat_to_rows(V, rows));
out:
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&A);
    return status;
}

static dkm_status solve_inverse(const dkm_preimage *pre, const exact_state *s, const dkm_data *Z,
                                dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    dkm_idx d = dkm_data_cols(fitted->X);
    dkm_data *found = NULL;

    DKM_TRY(dkm_data_create_dense(fitted->ctx, dkm_data_rows(Z), d, &found));
    DKM_TRY(inner_products(pre, s, Z, dkm_data_values(found)));
    for (dkm_idx k = 0; k < dkm_data_local_rows(found) * d; k++)
        dkm_data_values(found)[k] = dkm_kernel_inverse(fitted->kernel, dkm_data_values(found)[k]);
    DKM_TRY(dkm_preimage_mend(pre, &s->training, Z, found));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    return status;
}

/* by_s is 2 M t, inner t'Mt: a step of the power method, as long as M makes t. */
static int preimage_exact_direction(const dkm_descent_point *point,
                                    double *preimage_exact_direction)
{
    double square = 0, image = 0, length;

    for (dkm_idx k = 0; k < point->d; k++) {
        square += point->t[k] * point->t[k];
        image += point->dk_ds[k] * point->dk_ds[k];
    }
    if (!(point->inner > 0 && image > 0))
        return 1;
    length = sqrt(point->inner / square) / sqrt(image);
    for (dkm_idx k = 0; k < point->d; k++)
        preimage_exact_direction[k] = length * point->dk_ds[k] - point->t[k];
    return 0;
}

static const dkm_descent_rule rule = {
    .name = "exact", .full_steps = 1, .direction = preimage_exact_direction};

static dkm_status preimage_exact_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                       const dkm_data *Z, dkm_data **Y)
{
    exact_state *s = state;

    (void)X;
    return is_squared(pre->e) ? dkm_descent_solve(pre, &s->descent, &rule, Z, Y)
                              : solve_inverse(pre, s, Z, Y);
}

static dkm_idx preimage_exact_width(const dkm_preimage *pre)
{
    return is_squared(pre->e) ? dkm_descent_width(pre) : dkm_data_rows(pre->e->fitted.X);
}

const dkm_preimage_kind dkm_preimage_exact = {.method = DKM_PREIMAGE_EXACT,
                                              .state_size = sizeof(exact_state),
                                              .suits = preimage_exact_accepts,
                                              .width = preimage_exact_width,
                                              .prepare = preimage_exact_prepare,
                                              .solve = preimage_exact_solve,
                                              .clear = preimage_exact_clear};
