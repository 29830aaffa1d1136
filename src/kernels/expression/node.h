/** @file node.h  The meaning of one term of a kernel expression. */
#ifndef DKMAP_KERNELS_EXPRESSION_NODE_H
#define DKMAP_KERNELS_EXPRESSION_NODE_H

#include "kernels/evaluation/kernel_impl.h"
#include "kernels/expression/expression.h"

/** Set class, parameters and argument of @p node from a term and its settings.
 *
 *  Local. Parameters and argument are owned by the node, also after a failure (params.h).
 *
 *  @return ok; DKM_ERR_ARG with a caret under the wrong place; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_local dkm_node_read(const dkm_expression *e, dkm_idx term, dkm_node *node);

#endif
