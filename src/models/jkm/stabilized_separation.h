/** @file stabilized_separation.h  Separation at an exponentially averaged iterate. */
#ifndef DKMAP_MODELS_JKM_STABILIZED_SEPARATION_H
#define DKMAP_MODELS_JKM_STABILIZED_SEPARATION_H

#include "models/jkm/separation_oracle.h"

typedef struct dkm_stabilized_separation {
    int enabled;
    int begun; /**< whether H has been set */
    double *H; /**< own examples x r: W x of the averaged w */
    double *V; /**< own examples x r: the oracle's constraints at H */
} dkm_stabilized_separation;

/** Memory for the examples of an oracle, where stabilization is enabled: without slacks, for outputs
 *  on the sphere. Local; dkm_stabilized_separation_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_stabilized_separation_open(dkm_stabilized_separation *s,
                                                       const dkm_separation_oracle *oracle,
                                                       double C);
void dkm_stabilized_separation_close(dkm_stabilized_separation *s);

/** Find a violated constraint of each own example, and how far the most violated one is from being
 *  met: at G = W x or, where stabilization is enabled, at the average. Collective. */
DKM_NODISCARD dkm_status dkm_stabilized_separation_search(dkm_stabilized_separation *s,
                                                          dkm_separation_oracle *oracle,
                                                          const double *G);

#endif
