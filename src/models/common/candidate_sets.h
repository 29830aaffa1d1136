/** @file candidate_sets.h  Prediction sets: label sets of candidates or classes, and intervals. */
#ifndef DKMAP_MODELS_COMMON_CANDIDATE_SETS_H
#define DKMAP_MODELS_COMMON_CANDIDATE_SETS_H

#include "data/objects.h"

/** The candidates c with distance(i, c) <= radius, for each object i of this rank. Collective.
 *
 *  @param[in]  m         objects of all ranks
 *  @param[in]  count     candidates
 *  @param[in]  labels    what candidates are called, ascending; NULL for their numbers
 *  @param[in]  distance  of this rank's objects x count
 *  @param[out] S         new, owned by the caller */
DKM_NODISCARD dkm_status dkm_candidate_sets(dkm_ctx *ctx, dkm_idx m, dkm_idx count,
                                            const double *labels, const double *distance,
                                            double radius, dkm_data **S);

/** Whether classes can be members of label sets, which are integers from 0. Local.
 *  @param[in] classes  ascending
 *  @return ok; DKM_ERR_UNSUPPORTED */
DKM_NODISCARD dkm_local dkm_class_sets_check(dkm_ctx *ctx, dkm_idx count, const double *classes);

/** Numbers of f with an interval about each. Collective. */
DKM_NODISCARD dkm_status dkm_intervals(const dkm_data *F, const double *radius, dkm_data **S);

/** Label sets of classes c with ||e_c - f||^2 <= radius, f being dense rows. Collective.
 *  @param[in] classes  one per column, ascending */
DKM_NODISCARD dkm_status dkm_class_sets(const dkm_data *F, const double *classes, double radius,
                                        dkm_data **S);

/** ||e_c - f||^2 for the column of class @p c, or a class that has none. Local. */
double dkm_class_distance(const double *f, dkm_idx cols, const double *classes, double c);

#endif
