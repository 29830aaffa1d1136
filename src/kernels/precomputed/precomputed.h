/** @file precomputed.h  Objects that are rows of kernel values to the training objects. */
#ifndef DKMAP_KERNELS_PRECOMPUTED_PRECOMPUTED_H
#define DKMAP_KERNELS_PRECOMPUTED_PRECOMPUTED_H

#include "kernels/evaluation/panel.h"

/** The extras of such an object: k(x, x), and its index among the training objects or -1. */
enum { DKM_ROW_SELF, DKM_ROW_INDEX, DKM_ROW_EXTRAS };

/** Memory for the extras of @p rows, filled for training objects whose values are kernel values; new
 *  objects do not know their k(x, x). Local. */
DKM_NODISCARD dkm_local dkm_precomputed_add_extras(const dkm_prepared *prepared, dkm_objs *rows);

/** Are there as many training objects as columns? Local. */
DKM_NODISCARD dkm_local dkm_precomputed_check_square(const dkm_prepared *prepared);

/** k(x, x) from the extras, and k(a, b) from the row of a. Local. */
void dkm_precomputed_diag(const dkm_node *node, dkm_panel *panel);
dkm_local dkm_precomputed_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C);

#endif
