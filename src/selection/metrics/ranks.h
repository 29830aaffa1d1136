/** @file ranks.h  Ranks of numbers in ascending order. Local. */
#ifndef DKMAP_SELECTION_METRICS_RANKS_H
#define DKMAP_SELECTION_METRICS_RANKS_H

#include <dkmap/types.h>

/** Ranks from 1 of every second number; equal numbers share the mean of their ranks.
 *  @param[in]  values       values[2 i] for i < m
 *  @param[out] ranks, work  m numbers each */
void dkm_average_ranks(dkm_idx m, const double *values, double *ranks, double *work);

#endif
