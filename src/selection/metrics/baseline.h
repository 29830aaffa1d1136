/** @file baseline.h  Means of data that lie in slabs. */
#ifndef DKMAP_SELECTION_METRICS_BASELINE_H
#define DKMAP_SELECTION_METRICS_BASELINE_H

#include <dkmap/score.h>

/** Means of the columns of dense rows, all d of them on every rank. Collective. */
DKM_NODISCARD dkm_status dkm_column_means(const dkm_data *data, double *means);

#endif
