/** @file fixture_objects.h  Objects for tests, made from functions that say what object i is.
 *
 *  Every rank can work out every object, so a test can compare with a reference anywhere. All makers
 *  are collective and note a failed check when they fail.
 */
#ifndef DKMAP_FIXTURE_OBJECTS_H
#define DKMAP_FIXTURE_OBJECTS_H

#include <dkmap/data.h>

/** Element k of row i. */
typedef double (*object_value)(dkm_idx i, dkm_idx k);
/** Write string or set i to @p text, at most @p room bytes. @return its length */
typedef dkm_idx (*object_text)(dkm_idx i, char *text, dkm_idx room);

/** m x d dense rows, Gram rows, distances, or labels (d = 1). */
dkm_data *objects_values(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, object_value value);
/** Sparse rows or graph lists: the elements that are not zero. */
dkm_data *objects_lists(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, object_value value);
/** Strings or sets. */
dkm_data *objects_texts(dkm_ctx *ctx, dkm_type type, dkm_idx m, object_text text);

/** All of some dense rows on every rank. Collective.
 *  @param[out] all  room for rows x cols numbers, row-major */
void objects_gather(const dkm_data *X, double *all);

#endif
