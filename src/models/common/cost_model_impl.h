/** @file cost_model_impl.h  What the files of the cost model share. */
#ifndef DKMAP_MODELS_COMMON_COST_MODEL_IMPL_H
#define DKMAP_MODELS_COMMON_COST_MODEL_IMPL_H

#include "models/common/comm_model.h"
#include "models/common/cost_model.h"

/** Elements of an m x m matrix, and rows of a slab, on the rank that has most. */
double dkm_cost_elements(const dkm_cost_terms *p);
double dkm_cost_slab(const dkm_cost_terms *p);
/** Bytes of a tile of kernel values, and of what a Gram matrix takes beside its elements. */
double dkm_cost_tile(const dkm_cost_terms *p);
double dkm_cost_beside_gram(const dkm_cost_terms *p, double bytes, double columns);
/** How much more of its machine the calibration put to use than the planned ranks do. */
double dkm_cost_slowdown(const dkm_cost_terms *p, const dkm_rates *c);
dkm_comm_grid dkm_cost_grid(const dkm_cost_terms *p);
/** What the phase that was added last allocates and communicates. */
void dkm_cost_note_phase(dkm_cost *out, double allocated, dkm_comm comm);

#endif
