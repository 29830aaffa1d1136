/* A kernel as operators on matrices: inner products S = x X' by Gemm, squared distances as
 * a + b' - 2 S of rows whose origin is the mean of the training inputs, so that they keep their digits. */
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "export/export_onnx.h"

static int is(const dkm_node *node, const char *name)
{
    return strcmp(node->kind->name, name) == 0;
}

static dkm_onnx_tensor op_1(dkm_onnx_kernel *k, const char *op, dkm_onnx_tensor a)
{
    return dkm_onnx_1(k->graph, op, a);
}

static dkm_onnx_tensor op_2(dkm_onnx_kernel *k, const char *op, dkm_onnx_tensor a,
                            dkm_onnx_tensor b)
{
    return dkm_onnx_2(k->graph, op, a, b);
}

/* op(a, number) */
static dkm_onnx_tensor by(dkm_onnx_kernel *k, const char *op, dkm_onnx_tensor a, double number)
{
    return op_2(k, op, a, dkm_onnx_number(k->graph, number));
}

static dkm_onnx_tensor where(dkm_onnx_kernel *k, dkm_onnx_tensor condition, dkm_onnx_tensor yes,
                             dkm_onnx_tensor no)
{
    dkm_onnx_tensor inputs[] = {condition, yes, no};

    return dkm_onnx_op(k->graph, "Where", 3, inputs, NULL);
}

static dkm_onnx_tensor as_double(dkm_onnx_kernel *k, dkm_onnx_tensor a)
{
    dkm_onnx_attribute to[] = {{"to", DKM_ONNX_DOUBLE, 0}, {0}};

    return dkm_onnx_op(k->graph, "Cast", 1, &a, to);
}

/* a / b where b > 0, else other */
static dkm_onnx_tensor divide(dkm_onnx_kernel *k, dkm_onnx_tensor a, dkm_onnx_tensor b,
                              dkm_onnx_tensor other)
{
    dkm_onnx_tensor positive = by(k, "Greater", b, 0.0);
    dkm_onnx_tensor safe = where(k, positive, b, dkm_onnx_number(k->graph, 1.0));

    return where(k, positive, op_2(k, "Div", a, safe), other);
}

/* x as a leaf sees it: (x_j - c_j) / w. */
static dkm_onnx_tensor leaf_inputs(dkm_onnx_kernel *k, const dkm_row_transform *t)
{
    dkm_onnx_attribute columns[] = {{"axis", 1, 0}, {0}};
    dkm_onnx_tensor x = k->x;

    if (t->origin)
        x = op_2(k, "Sub", x, dkm_onnx_row(k->graph, k->plan->d, t->origin));
    if (t->columns) {
        dkm_onnx_tensor inputs[] = {x, dkm_onnx_integers(k->graph, t->d, t->columns)};
        x = dkm_onnx_op(k->graph, "Gather", 2, inputs, columns);
    }
    return t->widths ? op_2(k, "Div", x, dkm_onnx_row(k->graph, t->d, t->widths)) : x;
}

static dkm_local open_leaf(dkm_onnx_kernel *k, const dkm_node *node, dkm_onnx_leaf *leaf)
{
    dkm_local local = DKM_LOCAL_OK;
    int differences = is(node, "rbf") || is(node, "matern") || is(node, "rq");

    DKM_STEP(dkm_row_transform_of(k->plan->kernel, node, k->plan->d, differences ? k->origin : NULL,
                                  &leaf->transform));
    leaf->x = leaf_inputs(k, &leaf->transform);
    leaf->X = dkm_onnx_rows(k->graph, k->plan->X, &leaf->transform);
    leaf->a = dkm_onnx_reduce(k->graph, "ReduceSumSquare", leaf->x, 1, 1);
    leaf->b = op_1(k, "Transpose", dkm_onnx_reduce(k->graph, "ReduceSumSquare", leaf->X, 1, 1));
out:
    return local;
}

static dkm_local open_leaves(dkm_onnx_kernel *k)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_kernel *kernel = k->plan->kernel;

    for (dkm_idx n = 0; n < kernel->nodes; n++)
        if (kernel->node[n].inner_count == 0)
            DKM_STEP(open_leaf(k, &kernel->node[n], &k->leaf[n]));
out:
    return local;
}

/* The means of the columns of the training inputs. */
static void find_origin(const dkm_data *X, double *origin)
{
    dkm_idx d = dkm_data_cols(X), m = dkm_data_rows(X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx j = 0; j < d; j++)
            origin[j] += dkm_data_values_const(X)[i * d + j] / (double)m;
    dkm_mpi_allreduce(origin, d, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(dkm_data_ctx(X)));
}

dkm_status dkm_onnx_kernel_open(dkm_onnx_kernel *k, dkm_onnx_graph *graph,
                                const dkm_export_plan *plan, dkm_onnx_tensor x)
{
    dkm_status status = DKM_OK;

    *k = (dkm_onnx_kernel){.graph = graph, .plan = plan, .x = x};
    DKM_AGREE(plan->ctx, dkm_calloc(plan->ctx, plan->d, &k->origin));
    DKM_AGREE(plan->ctx, dkm_calloc(plan->ctx, plan->kernel->nodes, &k->leaf));
    find_origin(plan->X, k->origin);
    DKM_AGREE(plan->ctx, open_leaves(k));
out:
    return status;
}

void dkm_onnx_kernel_close(dkm_onnx_kernel *k)
{
    for (dkm_idx n = 0; k->leaf && n < k->plan->kernel->nodes; n++)
        dkm_row_transform_clear(&k->leaf[n].transform);
    DKM_FREE(k->leaf);
    DKM_FREE(k->origin);
}

/* max(0, a + b - 2 s) */
static dkm_onnx_tensor squared(dkm_onnx_kernel *k, dkm_onnx_tensor a, dkm_onnx_tensor b,
                               dkm_onnx_tensor s)
{
    return op_1(k, "Relu", op_2(k, "Sub", op_2(k, "Add", a, b), by(k, "Mul", s, 2.0)));
}

static dkm_onnx_tensor matern(dkm_onnx_kernel *k, double nu, dkm_onnx_tensor square)
{
    dkm_onnx_tensor t = op_1(k, "Sqrt", by(k, "Mul", square, 2.0 * nu));
    dkm_onnx_tensor fall = op_1(k, "Exp", op_1(k, "Neg", t)), front = by(k, "Add", t, 1.0);

    if (nu == 0.5)
        return fall;
    if (nu == 2.5)
        front = op_2(k, "Add", front, by(k, "Mul", op_2(k, "Mul", t, t), 1.0 / 3.0));
    return op_2(k, "Mul", front, fall);
}

/* Kernels of the distance, from its square. */
static dkm_onnx_tensor stationary(dkm_onnx_kernel *k, const dkm_node *node, dkm_onnx_tensor square)
{
    double sigma = dkm_node_widths(node) ? 1.0 : dkm_node_param(node, 0);

    square = by(k, "Mul", square, 1.0 / (sigma * sigma));
    if (is(node, "rbf"))
        return op_1(k, "Exp", by(k, "Mul", square, -0.5));
    if (is(node, "matern"))
        return matern(k, dkm_node_param(node, 1), square);
    return by(k, "Pow", by(k, "Add", by(k, "Mul", square, 0.5 / dkm_node_param(node, 1)), 1.0),
              -dkm_node_param(node, 1));
}

/* x as N x 1 x d, so that it meets every row of X. */
static dkm_onnx_tensor spread(dkm_onnx_kernel *k, dkm_onnx_tensor x)
{
    return op_2(k, "Unsqueeze", x, dkm_onnx_integers(k->graph, 1, &(dkm_idx){1}));
}

static dkm_onnx_tensor laplace(dkm_onnx_kernel *k, const dkm_node *node, const dkm_onnx_leaf *leaf)
{
    double sigma = dkm_node_widths(node) ? 1.0 : dkm_node_param(node, 0);
    dkm_onnx_attribute drop[] = {{"keepdims", 0, 0}, {0}};
    dkm_onnx_tensor gaps[] = {op_1(k, "Abs", op_2(k, "Sub", spread(k, leaf->x), leaf->X)),
                              dkm_onnx_integers(k->graph, 1, &(dkm_idx){2})};

    return op_1(k, "Exp",
                by(k, "Mul", dkm_onnx_op(k->graph, "ReduceSum", 2, gaps, drop), -1.0 / sigma));
}

/* A leaf of inner products s and squared norms. */
static dkm_onnx_tensor leaf_of_products(dkm_onnx_kernel *k, const dkm_node *node,
                                        const dkm_onnx_leaf *leaf, dkm_onnx_tensor s)
{
    if (is(node, "linear"))
        return s;
    if (is(node, "poly"))
        return by(k, "Pow", by(k, "Add", s, dkm_node_param(node, 1)), dkm_node_param(node, 0));
    if (is(node, "expdot"))
        return op_1(k, "Exp",
                    by(k, "Mul", s, 1.0 / (dkm_node_param(node, 0) * dkm_node_param(node, 0))));
    if (is(node, "cosine"))
        return divide(k, s, op_2(k, "Mul", op_1(k, "Sqrt", leaf->a), op_1(k, "Sqrt", leaf->b)),
                      as_double(k, op_2(k, "Equal", leaf->a, leaf->b)));
    if (is(node, "tanimoto"))
        return divide(k, s, op_2(k, "Sub", op_2(k, "Add", leaf->a, leaf->b), s),
                      dkm_onnx_number(k->graph, 1.0));
    return stationary(k, node, squared(k, leaf->a, leaf->b, s));
}

static dkm_onnx_tensor leaf_values(dkm_onnx_kernel *k, const dkm_node *node)
{
    const dkm_onnx_leaf *leaf = &k->leaf[node->index];
    dkm_onnx_attribute turned[] = {{"transB", 1, 0}, {0}};
    dkm_onnx_tensor rows[] = {leaf->x, leaf->X};

    if (is(node, "laplace"))
        return laplace(k, node, leaf);
    return leaf_of_products(k, node, leaf, dkm_onnx_op(k->graph, "Gemm", 2, rows, turned));
}

/* Sides of the matrix: k(x, x) as N x 1, k(X, X) as 1 x m. */
typedef enum side { NEW, TRAINING } side;

/* k(x, x), of kernels that are 1 there a number. */
static dkm_onnx_tensor diagonal(dkm_onnx_kernel *k, const dkm_node *node, side of)
{
    const dkm_onnx_leaf *leaf = &k->leaf[node->index];
    dkm_onnx_tensor values;

    if (is(node, "linear") || is(node, "poly") || is(node, "expdot"))
        return leaf_of_products(k, node, leaf, of == NEW ? leaf->a : leaf->b);
    if (node->inner_count == 0 || is(node, "rbf") || is(node, "normalize"))
        return dkm_onnx_number(k->graph, 1.0);
    values = diagonal(k, node->inner[0], of);
    if (is(node, "scale"))
        return by(k, "Mul", values, dkm_node_param(node, 0));
    if (is(node, "power"))
        return by(k, "Pow", values, dkm_node_param(node, 0));
    if (is(node, "exp"))
        return op_1(k, "Exp", values);
    for (dkm_idx n = 1; n < node->inner_count; n++)
        values = op_2(k, is(node, "sum") ? "Add" : "Mul", values, diagonal(k, node->inner[n], of));
    return values;
}

/* Whether k(x, x) may be zero. */
static int may_vanish(const dkm_node *node)
{
    int count = 0;

    if (node->inner_count == 0)
        return is(node, "linear") || (is(node, "poly") && dkm_node_param(node, 1) == 0);
    if (is(node, "rbf") || is(node, "normalize") || is(node, "exp"))
        return 0;
    for (dkm_idx n = 0; n < node->inner_count; n++)
        count += may_vanish(node->inner[n]);
    return is(node, "product") ? count > 0 : count == node->inner_count;
}

/* 1 where both k(x, x) and k(X, X) are zero and the rows equal, else 0. */
static dkm_onnx_tensor zero_pairs(dkm_onnx_kernel *k, dkm_onnx_tensor a, dkm_onnx_tensor b)
{
    dkm_onnx_tensor X = dkm_onnx_rows(k->graph, k->plan->X, NULL);
    dkm_onnx_tensor same = as_double(k, op_2(k, "Equal", spread(k, k->x), X));
    dkm_onnx_tensor both = op_2(k, "And", by(k, "Equal", a, 0.0), by(k, "Equal", b, 0.0));

    return op_2(k, "Mul", as_double(k, both), dkm_onnx_reduce(k->graph, "ReduceMin", same, 2, 0));
}

static dkm_onnx_tensor node_values(dkm_onnx_kernel *k, const dkm_node *node);

/* exp(-rate ||x - x'||^2) in the space of a kernel. */
static dkm_onnx_tensor gauss(dkm_onnx_kernel *k, const dkm_node *inner, double rate)
{
    dkm_onnx_tensor square =
        squared(k, diagonal(k, inner, NEW), diagonal(k, inner, TRAINING), node_values(k, inner));

    return op_1(k, "Exp", by(k, "Mul", square, -rate));
}

static dkm_onnx_tensor normalized(dkm_onnx_kernel *k, const dkm_node *inner)
{
    dkm_onnx_tensor a, b, roots;

    if (is(inner, "exp")) /* its values may leave the range of numbers */
        return gauss(k, inner->inner[0], 0.5);
    a = diagonal(k, inner, NEW);
    b = diagonal(k, inner, TRAINING);
    roots = op_2(k, "Mul", op_1(k, "Sqrt", a), op_1(k, "Sqrt", b));
    return may_vanish(inner) ? divide(k, node_values(k, inner), roots, zero_pairs(k, a, b))
                             : op_2(k, "Div", node_values(k, inner), roots);
}

static dkm_onnx_tensor node_values(dkm_onnx_kernel *k, const dkm_node *node)
{
    dkm_onnx_tensor values;
    double p = node->inner_count > 0 && node->kind->params ? dkm_node_param(node, 0) : 0.0;

    if (node->inner_count == 0)
        return leaf_values(k, node);
    if (is(node, "rbf"))
        return gauss(k, node->inner[0], 0.5 / (p * p));
    if (is(node, "normalize"))
        return normalized(k, node->inner[0]);
    values = node_values(k, node->inner[0]);
    if (is(node, "scale"))
        return by(k, "Mul", values, p);
    if (is(node, "power"))
        return by(k, "Pow", values, p);
    if (is(node, "exp"))
        return op_1(k, "Exp", values);
    for (dkm_idx n = 1; n < node->inner_count; n++)
        values = op_2(k, is(node, "sum") ? "Add" : "Mul", values, node_values(k, node->inner[n]));
    return values;
}

dkm_onnx_tensor dkm_onnx_kernel_values(dkm_onnx_kernel *k)
{
    return node_values(k, &k->plan->kernel->node[0]);
}
