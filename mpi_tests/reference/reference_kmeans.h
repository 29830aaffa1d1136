/** @file reference_kmeans.h  k-means on whole data, by plain loops. */
#ifndef DKMAP_REFERENCE_KMEANS_H
#define DKMAP_REFERENCE_KMEANS_H

#include <dkmap/kmeans.h>

/** Cluster m rows of d numbers (at most ORACLE_NUMBERS in all) with the draws of @p seed. Local.
 *  @param[out] labels  m of them */
dkm_kmeans_info reference_kmeans(uint64_t seed, int m, int d, const double *rows, int clusters,
                                 int max_rounds, int *labels);

#define ORACLE_NUMBERS 4096

#endif
