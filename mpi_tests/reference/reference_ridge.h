/** @file reference_ridge.h  Ridge regression by elimination, and its errors by refitting. */
#ifndef DKMAP_REFERENCE_RIDGE_H
#define DKMAP_REFERENCE_RIDGE_H

#include <dkmap/ridge_path.h>

enum { ORACLE_MOST = 48 }; /**< examples */

typedef struct reference_ridge {
    int m, outputs;
    const double *K; /**< m x m, column-major */
    const double *Y; /**< m x outputs, column-major */
    double gamma;
    dkm_penalty penalty;
    int center; /**< take the mean of the outputs off first */
} reference_ridge;

/** Coefficients (m x outputs) and intercepts. */
void reference_ridge_fit(const reference_ridge *r, double *B, double *b);

/** Leave-one-out error by m refits, and how often the largest output is another than the true one.
 */
void reference_ridge_loo(const reference_ridge *r, double *error, double *wrong);

/** Generalised cross-validation error by fitting the m unit vectors. */
double reference_ridge_gcv(const reference_ridge *r);

#endif
