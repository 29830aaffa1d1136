/** @file fixture_points.h  Points in the plane and kernel principal components of them, for tests
 * of pre-images. All calls but the elements are collective, and note a failed check when they fail.
 */
#ifndef DKMAP_FIXTURE_POINTS_H
#define DKMAP_FIXTURE_POINTS_H

#include <dkmap/kpca.h>

#include "support/fixture_objects.h"

enum { POINTS = 34, POINTS_NEW = 11, POINTS_D = 2 };

/** Training points, and new ones. */
double points_element(dkm_idx i, dkm_idx k);
double points_new(dkm_idx i, dkm_idx k);

/** Components of some objects, which are taken over. */
dkm_status points_fit_objects(dkm_ctx *ctx, const dkm_data *X, const char *expression,
                              dkm_idx components, dkm_model **model);
/** Components of the training points. */
dkm_model *points_fit(dkm_ctx *ctx, const char *expression, dkm_idx components);
/** Coordinates of n points. */
dkm_data *points_encode(dkm_ctx *ctx, dkm_model *model, dkm_idx n, object_value value);

#endif
