#include "reference/reference_ridge.h"

#include <string.h>

#include "reference/reference_linalg.h"

enum { N = ORACLE_MOST };

void reference_ridge_fit(const reference_ridge *r, double *B, double *b)
{
    static double A[N * N], T[N * N];
    int m = r->m, c = r->outputs;

    for (int j = 0; j < c; j++) {
        b[j] = 0;
        for (int i = 0; i < m && r->center; i++)
            b[j] += r->Y[i + j * m] / m;
        for (int i = 0; i < m; i++)
            T[i + j * m] = r->Y[i + j * m] - b[j];
    }
    memcpy(A, r->K, sizeof *A * (size_t)(m * m));
    memcpy(B, T, sizeof *B * (size_t)(m * c));
    if (r->penalty == DKM_PENALTY_COEFFICIENTS) {
        reference_multiply(m, 0, 0, r->K, r->K, A);
        for (int i = 0; i < m * c; i++) {
            B[i] = 0;
            for (int k = 0; k < m; k++)
                B[i] += r->K[i % m + k * m] * T[k + i / m * m];
        }
    }
    for (int i = 0; i < m; i++)
        A[i + i * m] += r->gamma;
    reference_solve(m, c, A, B);
}

/* The problem without example i. */
static reference_ridge without(const reference_ridge *r, int i, double *K, double *Y)
{
    reference_ridge less = *r;
    int m = r->m, n = 0;

    for (int k = 0; k < m * m; k++)
        if (k % m != i && k / m != i)
            K[n++] = r->K[k];
    n = 0;
    for (int k = 0; k < m * r->outputs; k++)
        if (k % m != i)
            Y[n++] = r->Y[k];
    less.m = m - 1;
    less.K = K;
    less.Y = Y;
    return less;
}

static int largest(const double *row, int stride, int n)
{
    int best = 0;

    for (int j = 1; j < n; j++)
        if (row[j * stride] > row[best * stride])
            best = j;
    return best;
}

void reference_ridge_loo(const reference_ridge *r, double *error, double *wrong)
{
    static double K[N * N], Y[N * N], B[N * N], b[N], f[N];
    int m = r->m, c = r->outputs;

    *error = *wrong = 0;
    for (int i = 0; i < m; i++) {
        reference_ridge less = without(r, i, K, Y);
        reference_ridge_fit(&less, B, b);
        for (int j = 0; j < c; j++) {
            f[j] = b[j];
            for (int k = 0; k < m - 1; k++)
                f[j] += r->K[i + (k < i ? k : k + 1) * m] * B[k + j * (m - 1)];
            *error += (r->Y[i + j * m] - f[j]) * (r->Y[i + j * m] - f[j]) / (m * c);
        }
        *wrong += (largest(f, 1, c) != largest(r->Y + i, m, c)) / (double)m;
    }
}

/* F = the fit at the training inputs. */
static void fitted(const reference_ridge *r, double *F)
{
    static double B[N * N], b[N];
    int m = r->m;

    reference_ridge_fit(r, B, b);
    for (int i = 0; i < m * r->outputs; i++) {
        F[i] = b[i / m];
        for (int k = 0; k < m; k++)
            F[i] += r->K[i % m + k * m] * B[k + i / m * m];
    }
}

double reference_ridge_gcv(const reference_ridge *r)
{
    static double F[N * N], units[N * N];
    reference_ridge of_units = *r;
    double square = 0, trace = 0;
    int m = r->m, c = r->outputs;

    fitted(r, F);
    for (int i = 0; i < m * c; i++)
        square += (r->Y[i] - F[i]) * (r->Y[i] - F[i]) / (m * c);
    for (int i = 0; i < m * m; i++)
        units[i] = i % (m + 1) == 0;
    of_units.outputs = m;
    of_units.Y = units;
    fitted(&of_units, F);
    for (int i = 0; i < m; i++)
        trace += F[i + i * m];
    return square / (1 - trace / m) / (1 - trace / m);
}
