/** @file chain_set.h  The 1-slack formulation for chains: a constraint sums up one label sequence of
 *  every example, and is stored as its weight vector, distributed over the ranks by its numbers. */
#ifndef DKMAP_MODELS_JKM_CHAIN_CHAIN_SET_H
#define DKMAP_MODELS_JKM_CHAIN_CHAIN_SET_H

#include "models/jkm/chain/chain.h"
#include "models/jkm/constraint_set.h"

/** An empty set. Collective; see dkm_one_slack_create(). The oracle has a chain. */
DKM_NODISCARD dkm_status dkm_chain_set_create(dkm_joint_map *map,
                                              const dkm_separation_oracle *oracle,
                                              const dkm_jkm_settings *settings,
                                              dkm_constraint_set **set);

/** Find the most violating label sequence of every own example: the violation and the loss of each
 *  are those of its first position, times its weight. Local. */
void dkm_chain_separate(dkm_separation_oracle *oracle, const double *G);

#endif
