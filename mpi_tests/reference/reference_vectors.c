#include "reference/reference_vectors.h"

#include <float.h>
#include <math.h>

#include <dkmap/random.h>

#include "reference/reference_kernel.h"

double vector_element(dkm_idx i, dkm_idx k)
{
    uint64_t row = i == 5 ? 4 : (uint64_t)i;

    if (i == 3 || dkm_random_uniform(1, 1, row, (uint64_t)k) < 0.4)
        return 0.0;
    return dkm_random_normal(1, 2, row, (uint64_t)k);
}

double vector_other(dkm_idx i, dkm_idx k)
{
    return i == 2 ? 0.0 : vector_element(i + 1000, k);
}

void vector_row(object_value value, dkm_idx i, double *x)
{
    for (dkm_idx k = 0; k < VECTOR_D; k++)
        x[k] = value(i, k);
}

static double linear(const double *x, const double *y)
{
    return reference_dot(VECTOR_D, x, y);
}

static double poly(const double *x, const double *y)
{
    return pow(reference_dot(VECTOR_D, x, y) + 0.5, 5);
}

static double rbf(const double *x, const double *y)
{
    return exp(-reference_gap(VECTOR_D, x, y, 2) / (2 * 1.5 * 1.5));
}

static double laplace(const double *x, const double *y)
{
    return exp(-reference_gap(VECTOR_D, x, y, 1) / 3);
}

static double expdot(const double *x, const double *y)
{
    return exp(reference_dot(VECTOR_D, x, y) / 4);
}

static double cosine(const double *x, const double *y)
{
    double nx = sqrt(reference_dot(VECTOR_D, x, x)), ny = sqrt(reference_dot(VECTOR_D, y, y));

    if (nx == 0 || ny == 0)
        return nx == ny ? 1.0 : 0.0;
    return reference_dot(VECTOR_D, x, y) / (nx * ny);
}

static double rbf_of_poly(const double *x, const double *y)
{
    return exp(-(poly(x, x) + poly(y, y) - 2 * poly(x, y)) / 200);
}

const vector_case vector_cases[VECTOR_CASES] = {
    {"linear", linear},
    {"poly(degree=5, c=0.5)", poly},
    {"rbf(sigma=1.5)", rbf},
    {"laplace(sigma=3)", laplace},
    {"expdot(sigma=2)", expdot},
    {"cosine", cosine},
    {"rbf(poly(degree=5, c=0.5), sigma=10)", rbf_of_poly},
};

double vector_tolerance(dkm_precision precision, double want)
{
    return 300 * (precision == DKM_F64 ? DBL_EPSILON : FLT_EPSILON) * (1 + fabs(want));
}
