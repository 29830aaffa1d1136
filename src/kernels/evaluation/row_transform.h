/** @file row_transform.h  Rows of numbers as one leaf of a kernel sees them.
 *
 *  A leaf inside `on(COLUMNS, K)` sees these columns alone; rows of a leaf that sees nothing but
 *  differences may have another origin c (column_shift.h); and a list of widths, one per column,
 *  divides them:  y_k = (x_j - c_j) / w_k,  j the k-th of the columns.
 */
#ifndef DKMAP_KERNELS_EVALUATION_ROW_TRANSFORM_H
#define DKMAP_KERNELS_EVALUATION_ROW_TRANSFORM_H

#include "kernels/evaluation/kernel_impl.h"

typedef struct dkm_row_transform {
    dkm_idx d;            /**< columns that remain */
    dkm_idx *columns;     /**< which they are, increasing; NULL for all */
    const double *origin; /**< c, of all columns; NULL for zero. Dense rows alone have one */
    const double *widths; /**< w, of those that remain; NULL for ones */
} dkm_row_transform;

/** What a node does to rows of numbers before it looks at them. Local.
 *  @param[in]  d          columns of the training objects
 *  @param[in]  origin     that the training objects suggest, or NULL
 *  @param[out] transform  dkm_row_transform_clear() frees it, also after a failure
 *  @return ok; DKM_ERR_ARG for columns that the rows do not have, or another number of widths */
DKM_NODISCARD dkm_local dkm_row_transform_of(const dkm_kernel *kernel, const dkm_node *node,
                                             dkm_idx d, const double *origin,
                                             dkm_row_transform *transform);

/** Whether it leaves rows as they are. Local. */
int dkm_row_transform_is_identity(const dkm_row_transform *transform);

/** New rows y. Local; dkm_objs_clear() frees @p out, also after a failure.
 *  @return ok; DKM_ERR_ARG for sparse rows with a column that has no width; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_row_transform_apply(const dkm_row_transform *transform,
                                                const dkm_objs *X, dkm_objs *out);

void dkm_row_transform_clear(dkm_row_transform *transform);

/** The widths of a node, one per column, or NULL. Local. */
const dkm_param_value *dkm_node_widths(const dkm_node *node);

/** The innermost node with an argument of columns around @p node, or NULL. Local. */
const dkm_node *dkm_node_columns(const dkm_kernel *kernel, const dkm_node *node);

#endif
