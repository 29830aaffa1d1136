/** @file params.h  Parameters and arguments of the nodes of a kernel: read, printed, copied. */
#ifndef DKMAP_KERNELS_EXPRESSION_PARAMS_H
#define DKMAP_KERNELS_EXPRESSION_PARAMS_H

#include "kernels/evaluation/kernel_impl.h"
#include "kernels/expression/expression.h"

/** How many parameters a class has. Local. */
int dkm_kernel_class_params(const dkm_kernel_class *kind);

/** Set parameters and argument of @p node, whose class is known, from the settings of a term.
 *
 *  Local. Parameters that are not given have their default values. What is set is owned by the
 *  node, also after a failure: dkm_params_clear() frees it.
 *
 *  @return ok; DKM_ERR_ARG with a caret under the wrong place; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_local dkm_params_read(const dkm_expression *e, dkm_idx term, dkm_node *node);

/** What is between two numbers of a parameter that takes several: ';', or 'x' in a shape; 0 for a
 *  parameter that takes one. Local. */
char dkm_param_separator(const dkm_param *p);

/** Replace the word of parameter @p k by the number that it stands for. Local.
 *  @return ok; DKM_ERR_NUMERIC when the number is out of range; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_params_resolve(dkm_ctx *ctx, dkm_node *node, int k, double number);

/** Whether the first @p count parameters of two nodes of one class have equal values. Local. */
int dkm_params_equal(const dkm_node *a, const dkm_node *b, int count);

/** Copy parameters and argument of a node. Local; @p to owns them, also after a failure. */
DKM_NODISCARD dkm_local dkm_params_copy(dkm_ctx *ctx, const dkm_node *from, dkm_node *to);

/** Free parameters and argument. Local. */
void dkm_params_clear(dkm_node *node);

#endif
