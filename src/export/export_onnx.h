/** @file export_onnx.h  Kernels as operators of a graph. */
#ifndef DKMAP_EXPORT_EXPORT_ONNX_H
#define DKMAP_EXPORT_EXPORT_ONNX_H

#include "export/export_plan.h"
#include "export/onnx_graph.h"
#include "kernels/evaluation/kernel_impl.h"

/** What a leaf of the kernel sees: rows x (N x d) and training rows X (m x d), and their squared
 *  norms a (N x 1) and b (1 x m). */
typedef struct dkm_onnx_leaf {
    dkm_onnx_tensor x, X, a, b;
    dkm_row_transform transform;
} dkm_onnx_leaf;

typedef struct dkm_onnx_kernel {
    dkm_onnx_graph *graph;
    const dkm_export_plan *plan;
    dkm_onnx_tensor x;   /**< N x d, as the kernel sees them */
    double *origin;      /**< column means of the training inputs, for kernels of differences */
    dkm_onnx_leaf *leaf; /**< one per node, those of leaves filled */
} dkm_onnx_kernel;

/** Leaves of the kernel. Collective; dkm_onnx_kernel_close() frees after the graph is written, also
 *  after a failure. */
DKM_NODISCARD dkm_status dkm_onnx_kernel_open(dkm_onnx_kernel *k, dkm_onnx_graph *graph,
                                              const dkm_export_plan *plan, dkm_onnx_tensor x);
void dkm_onnx_kernel_close(dkm_onnx_kernel *k);

/** k(x, X), N x m. Local. */
dkm_onnx_tensor dkm_onnx_kernel_values(dkm_onnx_kernel *k);

#endif
