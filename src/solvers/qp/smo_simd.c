/* Passes over gradients and multipliers; see smo_simd.h. 2 n flops each, in cache for some 10^4
 * variables. Compiled for each instruction set, without contraction to fused multiply-add. */
#include "solvers/qp/smo_simd.h"

#include <math.h>

#define LANES 8 /* members looked at together */

static void exchange(dkm_idx n, double t, const double *plus, const double *minus,
                     double *restrict grad)
{
    for (dkm_idx c = 0; c < n; c++)
        grad[c] -= t * (plus[c] - minus[c]);
}

static void shift(dkm_idx n, double t, const double *g, double *restrict grad)
{
    for (dkm_idx c = 0; c < n; c++)
        grad[c] -= t * g[c];
}

static void extremes(dkm_idx n, const double *grad, const double *a, double *most, double *least)
{
    double high[LANES], low[LANES];
    dkm_idx c = 0;

    for (int l = 0; l < LANES; l++) {
        high[l] = *most;
        low[l] = *least;
    }
    for (; c + LANES <= n; c += LANES)
        for (int l = 0; l < LANES; l++) {
            double gives = a[c + l] > 0 ? grad[c + l] : INFINITY;
            high[l] = grad[c + l] > high[l] ? grad[c + l] : high[l];
            low[l] = gives < low[l] ? gives : low[l];
        }
    for (; c < n; c++) {
        double gives = a[c] > 0 ? grad[c] : INFINITY;
        high[0] = grad[c] > high[0] ? grad[c] : high[0];
        low[0] = gives < low[0] ? gives : low[0];
    }
    for (int l = 0; l < LANES; l++) {
        *most = high[l] > *most ? high[l] : *most;
        *least = low[l] < *least ? low[l] : *least;
    }
}

const dkm_smo_simd DKM_SIMD(dkm_smo_simd_table) = {exchange, shift, extremes};
