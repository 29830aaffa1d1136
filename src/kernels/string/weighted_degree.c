/* weighted-degree: the weighted degree kernel of two strings (Raetsch and Sonnenburg 2004, in Kernel
 * Methods in Computational Biology, MIT Press, 277-298), which counts substrings that both have at
 * the same place,
 *
 *     k(x, x') = sum_{d=1}^{D} beta_d sum_l [ x[l:l+d] = x'[l:l+d] ],  beta_d = 2 (D-d+1) / (D (D+1)),
 *
 * and with shifts up to S (Raetsch, Sonnenburg and Schoelkopf 2005, Bioinformatics 21:i369-i377,
 * doi:10.1093/bioinformatics/bti1053) those that are s = 1, ..., S places apart, in either direction,
 * with weight 1 / (2 (s+1)). Places beyond the end of the shorter string count nothing. It is
 * positive definite: 1/2 + sum_{s=1}^{S} cos(s t) / (s+1) >= 0 for every t (Rogosinski and Szegoe
 * 1928, Math. Z. 28:73-94), so the weights of the shifts have a non-negative spectrum.
 *
 * A substring of d characters that ends at a place is common where the run of equal characters that
 * ends there is d long or longer: one pass over the places adds beta_1 + ... + beta_r, r the length of
 * the run or D. Cost: (2 S + 1) min(|x|, |x'|) steps per pair; nothing is sent except the strings. */
#include "core/minmax.h"
#include "kernels/evaluation/panel.h"

enum { DEGREE, SHIFT };

#define MOST 1000 /* of DKM_COUNT */

/* sums[r] = beta_1 + ... + beta_r, r = 0, ..., D. */
static void add_weights(dkm_idx D, double sums[MOST + 1])
{
    sums[0] = 0;
    for (dkm_idx d = 1; d <= D; d++)
        sums[d] = sums[d - 1] + 2.0 * (double)(D - d + 1) / ((double)D * (double)(D + 1));
}

/* The sum over places of n characters each. */
static double common_at(const char *x, const char *y, dkm_idx n, dkm_idx D, const double *sums)
{
    double sum = 0;
    dkm_idx run = 0;

    for (dkm_idx l = 0; l < n; l++) {
        run = x[l] == y[l] ? dkm_idx_min(run + 1, D) : 0;
        sum += sums[run];
    }
    return sum;
}

static double weighted_degree(const dkm_node *node, const double *sums, const dkm_objs *X,
                              dkm_idx i, const dkm_objs *Y, dkm_idx j)
{
    const char *x = X->bytes + X->start[i], *y = Y->bytes + Y->start[j];
    dkm_idx n = X->start[i + 1] - X->start[i], m = Y->start[j + 1] - Y->start[j];
    dkm_idx D = (dkm_idx)dkm_node_param(node, DEGREE), S = (dkm_idx)dkm_node_param(node, SHIFT);
    double k = common_at(x, y, dkm_idx_min(n, m), D, sums);

    for (dkm_idx s = 1; s <= S && (s < n || s < m); s++) {
        double shifted = 0;
        if (s < n)
            shifted += common_at(x + s, y, dkm_idx_min(n - s, m), D, sums);
        if (s < m)
            shifted += common_at(x, y + s, dkm_idx_min(n, m - s), D, sums);
        k += shifted / (2.0 * (double)(s + 1));
    }
    return k;
}

static dkm_local weighted_degree_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    double sums[MOST + 1];

    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    add_weights((dkm_idx)dkm_node_param(node, DEGREE), sums);
    for (dkm_idx i = 0; i < X->n; i++)
        out->extra[i] = weighted_degree(node, sums, X, i, X, i);
out:
    return local;
}

static dkm_local weighted_degree_tile(const dkm_node *node, const dkm_tile_task *task,
                                      const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);
    double sums[MOST + 1];

    add_weights((dkm_idx)dkm_node_param(node, DEGREE), sums);
    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++) {
            int wanted = !task->first || i >= task->first[j];
            dkm_tile_put(C, i, j,
                         wanted ? weighted_degree(node, sums, A, task->a + i, B, task->b + j)
                                : 0.0);
        }
    return DKM_LOCAL_OK;
}

const dkm_kernel_class dkm_kernel_class_weighted_degree = {
    .name = "weighted-degree",
    .types = DKM_TYPE_BIT(DKM_STRINGS),
    .params = DKM_PARAMS({.name = "degree", .range = DKM_COUNT, .default_value = 5},
                         {.name = "shift", .range = DKM_COUNT_OR_ZERO, .default_value = 0}),
    .precompute_params = 2,
    .precompute = weighted_degree_precompute,
    .diag = dkm_panel_diag_from_extra,
    .tile = weighted_degree_tile};
