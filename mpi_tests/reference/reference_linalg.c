#include "reference/reference_linalg.h"

#include <math.h>
#include <string.h>

#include "matrix/dmat_impl.h"

void reference_gather(const dkm_dmat *A, double *a)
{
    memset(a, 0, (size_t)(A->m * A->n) * sizeof *a);
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            a[dkm_dmat_global_row(A, il) + dkm_dmat_global_col(A, jl) * A->m] =
                dkm_dmat_at(A, il, jl);
    MPI_Allreduce(MPI_IN_PLACE, a, (int)(A->m * A->n), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(dkm_grid_ctx(A->grid)));
}

void reference_multiply(int n, int ta, int tb, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (ta ? a[k + i * n] : a[i + k * n]) * (tb ? b[j + k * n] : b[k + j * n]);
            c[i + j * n] = sum;
        }
}

static void swap_rows(int n, int columns, double *a, int i, int j)
{
    for (int k = 0; k < columns; k++) {
        double t = a[i + k * n];
        a[i + k * n] = a[j + k * n];
        a[j + k * n] = t;
    }
}

void reference_solve(int n, int k, double *a, double *b)
{
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p + 1; i < n; i++)
            if (fabs(a[i + p * n]) > fabs(a[best + p * n]))
                best = i;
        swap_rows(n, n, a, p, best);
        swap_rows(n, k, b, p, best);
        for (int i = 0; i < n; i++) {
            double f = a[i + p * n] / a[p + p * n];
            if (i == p)
                continue;
            for (int j = p; j < n; j++)
                a[i + j * n] -= f * a[p + j * n];
            for (int j = 0; j < k; j++)
                b[i + j * n] -= f * b[p + j * n];
        }
    }
    for (int j = 0; j < k; j++)
        for (int i = 0; i < n; i++)
            b[i + j * n] /= a[i + i * n];
}

/* Rotate rows and columns p and q so that a(p, q) becomes zero. */
static void rotate(int n, double *a, double *v, int p, int q)
{
    double theta = 0.5 * atan2(2.0 * a[p + q * n], a[q + q * n] - a[p + p * n]);
    double c = cos(theta), s = sin(theta);

    for (int k = 0; k < n; k++) {
        double x = a[k + p * n], y = a[k + q * n];
        a[k + p * n] = c * x - s * y;
        a[k + q * n] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        double x = a[p + k * n], y = a[q + k * n];
        a[p + k * n] = c * x - s * y;
        a[q + k * n] = s * x + c * y;
    }
    for (int k = 0; v && k < n; k++) {
        double x = v[k + p * n], y = v[k + q * n];
        v[k + p * n] = c * x - s * y;
        v[k + q * n] = s * x + c * y;
    }
}

static void exchange_pairs(int n, double *values, double *v, int i, int j)
{
    double t = values[i];

    values[i] = values[j];
    values[j] = t;
    for (int k = 0; v && k < n; k++) {
        t = v[k + i * n];
        v[k + i * n] = v[k + j * n];
        v[k + j * n] = t;
    }
}

/* Largest element off the diagonal that still counts beside the largest on it. */
static double off_diagonal(int n, const double *a)
{
    double off = 0, on = 0;

    for (int i = 0; i < n * n; i++)
        *(i % (n + 1) == 0 ? &on : &off) = fmax(i % (n + 1) == 0 ? on : off, fabs(a[i]));
    return off > 1e-18 * on ? off : 0.0;
}

void reference_eigen(int n, double *a, double *values, double *vectors)
{
    for (int i = 0; vectors && i < n * n; i++)
        vectors[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60 && off_diagonal(n, a) > 0; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (a[p + q * n] != 0.0)
                    rotate(n, a, vectors, p, q);
    for (int i = 0; i < n; i++)
        values[i] = a[i + i * n];
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (values[j] > values[i])
                exchange_pairs(n, values, vectors, i, j);
}
