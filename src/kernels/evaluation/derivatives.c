#include "kernels/evaluation/derivatives.h"

#include <math.h>

#include "kernels/evaluation/row_transform.h"

int dkm_kernel_has_derivatives(const dkm_kernel *kernel)
{
    for (dkm_idx i = 0; i < kernel->nodes; i++)
        if (!kernel->node[i].kind->derivatives || dkm_node_widths(&kernel->node[i]))
            return 0;
    return 1;
}

void dkm_kernel_derivatives(const dkm_kernel *kernel, const dkm_dots *pairs,
                            const dkm_derivatives *out)
{
    for (dkm_idx i = 0; i < pairs->n; i += DKM_PAIRS) {
        dkm_dots some = {pairs->n - i < DKM_PAIRS ? pairs->n - i : DKM_PAIRS, pairs->s + i,
                         pairs->a + i, pairs->b + i};
        dkm_derivatives part = {out->k + i, out->dk_ds + i, out->dk_da + i};
        dkm_node_derivatives(kernel->node, &some, &part);
    }
}

/* The kernel is symmetric, so g_b = g_a where x = x'. */
void dkm_node_diag_derivatives(const dkm_node *node, dkm_idx n, const double *a, double *k,
                               double *dk_da)
{
    double dk_ds[DKM_PAIRS];
    dkm_dots same = {n, a, a, a};
    dkm_derivatives out = {k, dk_ds, dk_da};

    dkm_node_derivatives(node, &same, &out);
    for (dkm_idx i = 0; i < n; i++)
        dk_da[i] = dk_ds[i] + 2.0 * dk_da[i];
}

static int invertible(const dkm_node *node)
{
    const dkm_kernel_class *kind = node->kind;

    if (!kind->inverse || isnan(kind->inverse(node, 1.0)))
        return 0;
    return node->inner_count == 0 || invertible(node->inner[0]);
}

int dkm_kernel_invertible(const dkm_kernel *kernel)
{
    return invertible(kernel->node);
}

double dkm_kernel_inverse(const dkm_kernel *kernel, double k)
{
    const dkm_node *node = kernel->node;

    for (; node->inner_count > 0; node = node->inner[0])
        k = node->kind->inverse(node, k);
    return node->kind->inverse(node, k);
}

double dkm_odd_root(double x, double degree)
{
    return fmod(degree, 2.0) == 1.0 ? copysign(pow(fabs(x), 1.0 / degree), x) : NAN;
}
