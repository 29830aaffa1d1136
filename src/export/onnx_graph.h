/** @file onnx_graph.h  A graph of ONNX operators, and its file.
 *
 *  The file is a ModelProto of Protocol Buffers: fields with a key (number and wire type), of varints
 *  or of bytes with their length before them (github.com/onnx/onnx, onnx.proto). The graph is built
 *  in memory, but for the rows of data, which are read when it is written: their positions and lengths
 *  are known before. Every rank builds the same graph. Failures are recorded until it is written.
 */
#ifndef DKMAP_EXPORT_ONNX_GRAPH_H
#define DKMAP_EXPORT_ONNX_GRAPH_H

#include "export/export_file.h"

/** Types of tensors, by their numbers in ONNX. */
typedef enum dkm_onnx_type {
    DKM_ONNX_INT64 = 7,
    DKM_ONNX_STRING = 8,
    DKM_ONNX_DOUBLE = 11
} dkm_onnx_type;

/** The name of a tensor. */
typedef struct dkm_onnx_tensor {
    char name[24];
} dkm_onnx_tensor;

/** An attribute of an operator: an integer, or a list of one. An array ends with {0}. */
typedef struct dkm_onnx_attribute {
    const char *name;
    dkm_idx value;
    int is_list;
} dkm_onnx_attribute;

typedef struct dkm_onnx_graph dkm_onnx_graph;

/** Begin. Local. dkm_onnx_graph_close() frees; NULL on failure. */
DKM_NODISCARD dkm_local dkm_onnx_graph_open(dkm_ctx *ctx, dkm_onnx_graph **graph);
void dkm_onnx_graph_close(dkm_onnx_graph **graph);

/** An operator with one output. Local.
 *  @param[in] inputs      at most 3, @p count of them
 *  @param[in] attributes  may be NULL */
dkm_onnx_tensor dkm_onnx_op(dkm_onnx_graph *graph, const char *op, int count,
                            const dkm_onnx_tensor *inputs, const dkm_onnx_attribute *attributes);
/** Operators of one and of two inputs. Local. */
dkm_onnx_tensor dkm_onnx_1(dkm_onnx_graph *graph, const char *op, dkm_onnx_tensor a);
dkm_onnx_tensor dkm_onnx_2(dkm_onnx_graph *graph, const char *op, dkm_onnx_tensor a,
                           dkm_onnx_tensor b);
/** An operator along an axis: op(a, axes=[axis], keepdims=keep). Local. */
dkm_onnx_tensor dkm_onnx_reduce(dkm_onnx_graph *graph, const char *op, dkm_onnx_tensor a,
                                dkm_idx axis, int keep);

/** Constants: one number; numbers as a 1 x count matrix; integers and strings as vectors. Local. */
dkm_onnx_tensor dkm_onnx_number(dkm_onnx_graph *graph, double number);
dkm_onnx_tensor dkm_onnx_row(dkm_onnx_graph *graph, dkm_idx count, const double *numbers);
dkm_onnx_tensor dkm_onnx_integers(dkm_onnx_graph *graph, dkm_idx count, const dkm_idx *numbers);
dkm_onnx_tensor dkm_onnx_strings(dkm_onnx_graph *graph, dkm_idx count, const char *const *strings,
                                 const dkm_idx *lengths);
/** Rows of data, as they are after a transform or (NULL) before. Local; both are borrowed until the
 *  graph is written. */
dkm_onnx_tensor dkm_onnx_rows(dkm_onnx_graph *graph, const dkm_data *rows,
                              const dkm_row_transform *transform);

/** Name an input of N x cols numbers, or give a tensor out under a name: N x cols, or N where cols is 0.
 *  Local. */
dkm_onnx_tensor dkm_onnx_input(dkm_onnx_graph *graph, const char *name, dkm_idx cols);
void dkm_onnx_output(dkm_onnx_graph *graph, dkm_onnx_tensor tensor, const char *name,
                     dkm_onnx_type type, dkm_idx cols);

/** Write the file. Collective.
 *  @param[in] about  for the reader
 *  @return DKM_OK; DKM_ERR_SIZE where it would have 2 GiB or more; the first failure before */
DKM_NODISCARD dkm_status dkm_onnx_graph_write(dkm_onnx_graph *graph, const char *about,
                                              dkm_export_file *file);

#endif
