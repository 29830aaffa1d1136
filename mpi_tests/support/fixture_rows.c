#include "support/fixture_rows.h"

#include <math.h>

#include <dkmap/random.h>

double rows_element(dkm_idx i, dkm_idx k)
{
    if (i == 4 || i == 11)
        return 0;
    return dkm_random_normal(5, 1, (uint64_t)(i == 7 ? 6 : i), (uint64_t)k);
}

double rows_new(dkm_idx i, dkm_idx k)
{
    return i == 0 ? 0 : rows_element(i == 1 ? 6 : i + 500, k);
}

double rows_dot(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double sum = 0;

    for (dkm_idx k = 0; k < ROWS_D; k++)
        sum += a(i, k) * b(j, k);
    return sum;
}

double rows_rbf(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double gap = rows_dot(a, i, a, i) + rows_dot(b, j, b, j) - 2 * rows_dot(a, i, b, j);

    return exp(-gap / 8);
}
