#include "oracle_kernel.h"

#include <math.h>

double oracle_dot(dkm_idx d, const double *x, const double *y)
{
    long double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += (long double)x[k] * y[k];
    return (double)sum;
}

double oracle_gap(dkm_idx d, const double *x, const double *y, int power)
{
    long double sum = 0;

    for (dkm_idx k = 0; k < d; k++) {
        long double gap = (long double)x[k] - y[k];
        sum += power == 2 ? gap * gap : fabsl(gap);
    }
    return (double)sum;
}

static void rotate(dkm_idx n, double *A, dkm_idx p, dkm_idx q)
{
    double theta = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]);
    double c = cos(theta), s = sin(theta);

    for (dkm_idx k = 0; k < n; k++) {
        double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }
    for (dkm_idx k = 0; k < n; k++) {
        double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
}

double oracle_least_eigenvalue(dkm_idx n, double *A)
{
    double least = INFINITY;

    for (int sweep = 0; sweep < 12; sweep++)
        for (dkm_idx p = 0; p < n; p++)
            for (dkm_idx q = p + 1; q < n; q++)
                rotate(n, A, p, q);
    for (dkm_idx k = 0; k < n; k++)
        least = A[k * n + k] < least ? A[k * n + k] : least;
    return least;
}
