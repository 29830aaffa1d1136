#include "reference/reference_cone.h"

#include <math.h>
#include <string.h>

#include "reference/reference_linalg.h"

enum { MOST = ORACLE_CONE_MOST, ROUNDS = 40000 };

/* Project g onto a - kappa b >= 1/2: a cone with its tip at y/2, in the plane of y and the rest. */
static void project(int q, double kappa, const double *y, double *g)
{
    double a = 0, b = 0, rest[MOST], t;

    for (int k = 0; k < q; k++)
        a += g[k] * y[k];
    for (int k = 0; k < q; k++) {
        rest[k] = g[k] - a * y[k];
        b += rest[k] * rest[k];
    }
    b = sqrt(b);
    if (a - kappa * b >= 0.5)
        return;
    /* along the edge (kappa, 1) from the tip */
    t = ((a - 0.5) * kappa + b) / (kappa * kappa + 1);
    t = t > 0 ? t : 0;
    for (int k = 0; k < q; k++)
        g[k] = (0.5 + t * kappa) * y[k] + (b > 0 ? t * rest[k] / b : 0);
}

/* (I + rho A'A)^-1, t x t. */
static void invert(const reference_cone *c, double rho, double *inverse)
{
    double N[MOST * MOST];

    for (int i = 0; i < c->t; i++)
        for (int j = 0; j < c->t; j++) {
            N[i * c->t + j] = inverse[i * c->t + j] = i == j;
            for (int k = 0; k < c->m * c->q; k++)
                N[i * c->t + j] += rho * c->A[k * c->t + i] * c->A[k * c->t + j];
        }
    reference_solve(c->t, c->t, N, inverse);
}

double reference_cone_solve(const reference_cone *c, double *theta)
{
    double kappa = sqrt(1 - c->epsilon * c->epsilon / 4) / (c->epsilon / 2), rho = 10, square = 0;
    double inverse[MOST * MOST], z[MOST] = {0}, u[MOST] = {0}, right[MOST];
    int n = c->m * c->q;

    invert(c, rho, inverse);
    for (int round = 0; round < ROUNDS; round++) {
        memset(right, 0, sizeof right);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < c->t; j++)
                right[j] += rho * c->A[k * c->t + j] * (z[k] - u[k]);
        for (int i = 0; i < c->t; i++) {
            theta[i] = 0;
            for (int j = 0; j < c->t; j++)
                theta[i] += inverse[i * c->t + j] * right[j];
        }
        for (int k = 0; k < n; k++) {
            z[k] = u[k];
            for (int j = 0; j < c->t; j++)
                z[k] += c->A[k * c->t + j] * theta[j];
            u[k] = z[k];
        }
        for (int i = 0; i < c->m; i++)
            project(c->q, kappa, c->Y + i * c->q, z + i * c->q);
        for (int k = 0; k < n; k++)
            u[k] -= z[k];
    }
    for (int i = 0; i < c->t; i++)
        square += theta[i] * theta[i];
    return square / 2;
}
