/** @file fixture_rows.h  Dense rows with those among them that kernels find hard: zero and equal ones.
 */
#ifndef DKMAP_FIXTURE_ROWS_H
#define DKMAP_FIXTURE_ROWS_H

#include "support/fixture_objects.h"

enum { ROWS_D = 3 };

/** Training rows: 4 and 11 are zero, 7 is equal to 6. */
double rows_element(dkm_idx i, dkm_idx k);

/** New rows: 0 is zero, 1 is training row 6. */
double rows_new(dkm_idx i, dkm_idx k);

/** <a_i, b_j>, and exp(-||a_i - b_j||^2 / 8). */
double rows_dot(object_value a, dkm_idx i, object_value b, dkm_idx j);
double rows_rbf(object_value a, dkm_idx i, object_value b, dkm_idx j);

#endif
