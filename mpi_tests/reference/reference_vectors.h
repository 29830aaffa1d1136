/** @file reference_vectors.h  Rows of numbers, and kernels on them by their definitions. */
#ifndef DKMAP_REFERENCE_VECTORS_H
#define DKMAP_REFERENCE_VECTORS_H

#include <dkmap/kernel.h>

#include "support/fixture_objects.h"

enum { VECTOR_D = 7, VECTOR_M = 37, VECTOR_CASES = 7 };

typedef struct vector_case {
    const char *text;
    double (*value)(const double *x, const double *y);
} vector_case;

extern const vector_case vector_cases[VECTOR_CASES];

/** Number k of row i. There are zeros, a zero row (3) and a row (5) that is a copy of another (4).
 */
double vector_element(dkm_idx i, dkm_idx k);
/** The same of rows that are others; row 2 is zero. */
double vector_other(dkm_idx i, dkm_idx k);
/** All VECTOR_D numbers of a row. */
void vector_row(object_value value, dkm_idx i, double *x);

/** Values are sums of VECTOR_D products each below 50 or so, and their powers: some tens of
 *  roundings. */
double vector_tolerance(dkm_precision precision, double want);

#endif
