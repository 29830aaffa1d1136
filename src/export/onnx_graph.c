#include "export/onnx_graph.h"

#include <stdio.h>
#include <string.h>

#include <dkmap/version.h>

#include "core/alloc.h"

#define MOST_BYTES 2147483647 /* of a message */
enum { MESSAGE_BYTES = 1024, IR_VERSION = 7, OPERATOR_SET = 13 };

/* Wire types. */
enum { VARINT = 0, BYTES = 2 };

/* Fields, by their numbers in onnx.proto. */
enum {
    MODEL_IR = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8
};
enum { OPSET_VERSION = 2 };
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_DOC = 10,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12
};
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_I = 3,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_TYPE = 20,
    ATTRIBUTE_IS_INT = 2,
    ATTRIBUTE_IS_INTS = 7
};
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRING = 6, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum {
    INFO_NAME = 1,
    INFO_TYPE = 2,
    TYPE_TENSOR = 1,
    TENSOR_ELEMENT = 1,
    TENSOR_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_NAME = 2
};

/* A message that grows. */
typedef struct message {
    dkm_idx used, capacity;
    char *bytes;
} message;

/* Rows that belong after so many bytes of the graph. */
typedef struct piece {
    dkm_idx at;
    const dkm_data *rows;
    const dkm_row_transform *transform;
} piece;

struct dkm_onnx_graph {
    dkm_ctx *ctx;
    message graph;
    dkm_idx pieces, pieces_capacity;
    piece *piece;
    dkm_idx numbers; /* of all pieces */
    int names;
    dkm_local local;
};

dkm_local dkm_onnx_graph_open(dkm_ctx *ctx, dkm_onnx_graph **graph)
{
    dkm_local local = dkm_calloc(ctx, 1, graph);

    if (local.code == DKM_OK) {
        (*graph)->ctx = ctx;
        (*graph)->local = DKM_LOCAL_OK;
    }
    return local;
}

void dkm_onnx_graph_close(dkm_onnx_graph **graph)
{
    if (!*graph)
        return;
    DKM_FREE((*graph)->graph.bytes);
    DKM_FREE((*graph)->piece);
    DKM_FREE(*graph);
}

static void put(dkm_onnx_graph *g, message *m, const void *bytes, dkm_idx count)
{
    dkm_idx capacity = m->capacity ? m->capacity : MESSAGE_BYTES;

    while (capacity < m->used + count)
        capacity *= 2;
    if (g->local.code == DKM_OK && capacity > m->capacity)
        g->local = dkm_realloc(g->ctx, capacity, &m->bytes);
    if (g->local.code != DKM_OK)
        return;
    m->capacity = capacity;
    memcpy(m->bytes + m->used, bytes, (size_t)count);
    m->used += count;
}

/* Seven bits a byte, the least first; all but the last byte have the highest bit set. */
static void put_varint(dkm_onnx_graph *g, message *m, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(g, m, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_number(dkm_onnx_graph *g, message *m, int field, dkm_idx value)
{
    put_varint(g, m, (uint64_t)field << 3 | VARINT);
    put_varint(g, m, (uint64_t)value);
}

/* The key and the length of bytes to come. */
static void put_length(dkm_onnx_graph *g, message *m, int field, dkm_idx length)
{
    put_varint(g, m, (uint64_t)field << 3 | BYTES);
    put_varint(g, m, (uint64_t)length);
}

static void put_string(dkm_onnx_graph *g, message *m, int field, const char *text)
{
    put_length(g, m, field, (dkm_idx)strlen(text));
    put(g, m, text, (dkm_idx)strlen(text));
}

/* A message inside another, which it ends. */
static void put_message(dkm_onnx_graph *g, message *m, int field, message *inside)
{
    put_length(g, m, field, inside->used);
    put(g, m, inside->bytes, inside->used);
    DKM_FREE(inside->bytes);
}

static dkm_onnx_tensor new_name(dkm_onnx_graph *g)
{
    dkm_onnx_tensor tensor;

    snprintf(tensor.name, sizeof tensor.name, "t%d", g->names++);
    return tensor;
}

static void put_attribute(dkm_onnx_graph *g, message *node, const dkm_onnx_attribute *a)
{
    message m = {0};

    put_string(g, &m, ATTRIBUTE_NAME, a->name);
    put_number(g, &m, a->is_list ? ATTRIBUTE_INTS : ATTRIBUTE_I, a->value);
    put_number(g, &m, ATTRIBUTE_TYPE, a->is_list ? ATTRIBUTE_IS_INTS : ATTRIBUTE_IS_INT);
    put_message(g, node, NODE_ATTRIBUTE, &m);
}

static void put_node(dkm_onnx_graph *g, const char *op, int count, const dkm_onnx_tensor *inputs,
                     const dkm_onnx_attribute *attributes, const char *output)
{
    message node = {0};

    for (int k = 0; k < count; k++)
        put_string(g, &node, NODE_INPUT, inputs[k].name);
    put_string(g, &node, NODE_OUTPUT, output);
    put_string(g, &node, NODE_OP, op);
    for (; attributes && attributes->name; attributes++)
        put_attribute(g, &node, attributes);
    put_message(g, &g->graph, GRAPH_NODE, &node);
}

dkm_onnx_tensor dkm_onnx_op(dkm_onnx_graph *g, const char *op, int count,
                            const dkm_onnx_tensor *inputs, const dkm_onnx_attribute *attributes)
{
    dkm_onnx_tensor out = new_name(g);

    put_node(g, op, count, inputs, attributes, out.name);
    return out;
}

dkm_onnx_tensor dkm_onnx_1(dkm_onnx_graph *g, const char *op, dkm_onnx_tensor a)
{
    return dkm_onnx_op(g, op, 1, &a, NULL);
}

dkm_onnx_tensor dkm_onnx_2(dkm_onnx_graph *g, const char *op, dkm_onnx_tensor a, dkm_onnx_tensor b)
{
    dkm_onnx_tensor inputs[] = {a, b};

    return dkm_onnx_op(g, op, 2, inputs, NULL);
}

dkm_onnx_tensor dkm_onnx_reduce(dkm_onnx_graph *g, const char *op, dkm_onnx_tensor a, dkm_idx axis,
                                int keep)
{
    dkm_onnx_attribute attributes[] = {{"axes", axis, 1}, {"keepdims", keep, 0}, {0}};

    return dkm_onnx_op(g, op, 1, &a, attributes);
}

/* The beginning of a constant: dimensions below 0 are left out. */
static dkm_onnx_tensor begin_tensor(dkm_onnx_graph *g, message *m, dkm_onnx_type type, dkm_idx rows,
                                    dkm_idx cols)
{
    dkm_onnx_tensor tensor = new_name(g);

    if (rows >= 0)
        put_number(g, m, TENSOR_DIMS, rows);
    if (cols >= 0)
        put_number(g, m, TENSOR_DIMS, cols);
    put_number(g, m, TENSOR_TYPE, type);
    put_string(g, m, TENSOR_NAME, tensor.name);
    return tensor;
}

/* Eight bytes, the least first. */
static void put_word(dkm_onnx_graph *g, message *m, uint64_t word)
{
    for (int b = 0; b < 8; b++) {
        unsigned char byte = (unsigned char)(word >> (8 * b));
        put(g, m, &byte, 1);
    }
}

static dkm_onnx_tensor put_doubles(dkm_onnx_graph *g, dkm_idx rows, dkm_idx cols,
                                   const double *numbers)
{
    message m = {0};
    dkm_idx count = cols < 0 ? 1 : cols;
    dkm_onnx_tensor tensor = begin_tensor(g, &m, DKM_ONNX_DOUBLE, rows, cols);

    put_length(g, &m, TENSOR_RAW, 8 * count);
    for (dkm_idx k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, numbers + k, sizeof word);
        put_word(g, &m, word);
    }
    put_message(g, &g->graph, GRAPH_INITIALIZER, &m);
    return tensor;
}

dkm_onnx_tensor dkm_onnx_number(dkm_onnx_graph *g, double number)
{
    return put_doubles(g, -1, -1, &number);
}

dkm_onnx_tensor dkm_onnx_row(dkm_onnx_graph *g, dkm_idx count, const double *numbers)
{
    return put_doubles(g, 1, count, numbers);
}

dkm_onnx_tensor dkm_onnx_integers(dkm_onnx_graph *g, dkm_idx count, const dkm_idx *numbers)
{
    message m = {0};
    dkm_onnx_tensor tensor = begin_tensor(g, &m, DKM_ONNX_INT64, count, -1);

    put_length(g, &m, TENSOR_RAW, 8 * count);
    for (dkm_idx k = 0; k < count; k++)
        put_word(g, &m, (uint64_t)numbers[k]);
    put_message(g, &g->graph, GRAPH_INITIALIZER, &m);
    return tensor;
}

dkm_onnx_tensor dkm_onnx_strings(dkm_onnx_graph *g, dkm_idx count, const char *const *strings,
                                 const dkm_idx *lengths)
{
    message m = {0};
    dkm_onnx_tensor tensor = begin_tensor(g, &m, DKM_ONNX_STRING, count, -1);

    for (dkm_idx k = 0; k < count; k++) {
        put_length(g, &m, TENSOR_STRING, lengths[k]);
        put(g, &m, strings[k], lengths[k]);
    }
    put_message(g, &g->graph, GRAPH_INITIALIZER, &m);
    return tensor;
}

/* Remember where rows belong. */
static void add_piece(dkm_onnx_graph *g, const dkm_data *rows, const dkm_row_transform *transform,
                      dkm_idx numbers)
{
    if (g->local.code == DKM_OK && g->pieces == g->pieces_capacity) {
        g->pieces_capacity = 2 * g->pieces_capacity + 8;
        g->local = dkm_realloc(g->ctx, g->pieces_capacity, &g->piece);
    }
    if (g->local.code != DKM_OK)
        return;
    g->piece[g->pieces++] = (piece){g->graph.used, rows, transform};
    g->numbers += numbers;
}

dkm_onnx_tensor dkm_onnx_rows(dkm_onnx_graph *g, const dkm_data *rows,
                              const dkm_row_transform *transform)
{
    message m = {0};
    dkm_idx m_rows = dkm_data_rows(rows), d = dkm_data_cols(rows);
    dkm_idx cols = transform ? transform->d : d > 0 ? d : 1, numbers = m_rows * cols;
    dkm_onnx_tensor tensor = begin_tensor(g, &m, DKM_ONNX_DOUBLE, m_rows, cols);

    put_length(g, &m, TENSOR_RAW, 8 * numbers);
    put_length(g, &g->graph, GRAPH_INITIALIZER, m.used + 8 * numbers);
    put(g, &g->graph, m.bytes, m.used);
    DKM_FREE(m.bytes);
    add_piece(g, rows, transform, numbers);
    return tensor;
}

/* The type and shape of what goes in or comes out. */
static void put_info(dkm_onnx_graph *g, int field, const char *name, dkm_onnx_type type,
                     dkm_idx cols)
{
    message info = {0}, of_type = {0}, tensor = {0}, shape = {0}, dim = {0};

    put_string(g, &dim, DIM_NAME, "N");
    put_message(g, &shape, SHAPE_DIM, &dim);
    dim = (message){0};
    if (cols > 0) {
        put_number(g, &dim, DIM_VALUE, cols);
        put_message(g, &shape, SHAPE_DIM, &dim);
    }
    put_number(g, &tensor, TENSOR_ELEMENT, type);
    put_message(g, &tensor, TENSOR_SHAPE, &shape);
    put_message(g, &of_type, TYPE_TENSOR, &tensor);
    put_string(g, &info, INFO_NAME, name);
    put_message(g, &info, INFO_TYPE, &of_type);
    put_message(g, &g->graph, field, &info);
}

dkm_onnx_tensor dkm_onnx_input(dkm_onnx_graph *g, const char *name, dkm_idx cols)
{
    dkm_onnx_tensor tensor;

    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    put_info(g, GRAPH_INPUT, name, DKM_ONNX_DOUBLE, cols);
    return tensor;
}

void dkm_onnx_output(dkm_onnx_graph *g, dkm_onnx_tensor tensor, const char *name,
                     dkm_onnx_type type, dkm_idx cols)
{
    put_node(g, "Identity", 1, &tensor, NULL, name);
    put_info(g, GRAPH_OUTPUT, name, type, cols);
}

/* What stands before the graph. */
static void put_model(dkm_onnx_graph *g, message *model, dkm_idx length)
{
    message opset = {0};

    put_number(g, &opset, OPSET_VERSION, OPERATOR_SET);
    put_number(g, model, MODEL_IR, IR_VERSION);
    put_string(g, model, MODEL_PRODUCER, "dkmap");
    put_string(g, model, MODEL_PRODUCER_VERSION, DKMAP_VERSION);
    put_message(g, model, MODEL_OPSET, &opset);
    put_length(g, model, MODEL_GRAPH, length);
}

static dkm_local check_size(const dkm_onnx_graph *g)
{
    if (g->local.code != DKM_OK)
        return g->local;
    if (g->graph.used + 8 * g->numbers > MOST_BYTES - MESSAGE_BYTES)
        return dkm_fail(
            g->ctx, DKM_ERR_SIZE,
            "the model has %.1f GiB, and ONNX files have less than 2: fit with landmarks "
            "or fewer examples",
            (double)(g->graph.used + 8 * g->numbers) / 1073741824.0);
    return DKM_LOCAL_OK;
}

dkm_status dkm_onnx_graph_write(dkm_onnx_graph *g, const char *about, dkm_export_file *file)
{
    dkm_status status = DKM_OK;
    message model = {0};
    dkm_idx from = 0;

    put_string(g, &g->graph, GRAPH_NAME, "dkmap");
    put_string(g, &g->graph, GRAPH_DOC, about);
    put_model(g, &model, g->graph.used + 8 * g->numbers);
    DKM_AGREE(g->ctx, check_size(g));
    dkm_export_bytes(file, model.bytes, model.used);
    for (dkm_idx k = 0; k < g->pieces; k++) {
        dkm_export_bytes(file, g->graph.bytes + from, g->piece[k].at - from);
        DKM_TRY(dkm_export_rows(file, g->piece[k].rows, g->piece[k].transform, dkm_export_doubles));
        from = g->piece[k].at;
    }
    dkm_export_bytes(file, g->graph.bytes + from, g->graph.used - from);
out:
    DKM_FREE(model.bytes);
    return status;
}
