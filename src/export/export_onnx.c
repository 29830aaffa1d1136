/* A model as a graph: columns through the table, the kernel, f(x) = (k(x, X) - c(x)) C + b, and what
 * becomes of it. Input: `inputs`, N x columns. Outputs: `outputs`, or `label`, `scores` and
 * `probabilities` of classes, `labels` and `scores` of label sets, `coordinates` of kpca and kde. */
#include "export/export_onnx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/table/table.h"

static dkm_onnx_tensor where_missing(dkm_onnx_graph *g, dkm_onnx_tensor x, dkm_onnx_tensor fill)
{
    dkm_onnx_tensor inputs[] = {dkm_onnx_1(g, "IsNaN", x), fill, x};

    return dkm_onnx_op(g, "Where", 3, inputs, NULL);
}

/* (x - shift) / scale, with missing numbers filled in before. */
static dkm_onnx_tensor through_table(dkm_onnx_graph *g, const dkm_table *t, double *scratch,
                                     dkm_onnx_tensor x)
{
    double *fill = scratch, *shift = scratch + t->count, *scale = scratch + 2 * t->count;

    for (dkm_idx j = 0; j < t->count; j++) {
        fill[j] = t->column[j].fill;
        shift[j] = t->column[j].shift;
        scale[j] = t->column[j].scale;
    }
    if (t->settings.missing == DKM_MISSING_MEAN || t->settings.missing == DKM_MISSING_MEDIAN)
        x = where_missing(g, x, dkm_onnx_row(g, t->count, fill));
    return dkm_onnx_2(g, "Div", dkm_onnx_2(g, "Sub", x, dkm_onnx_row(g, t->count, shift)),
                      dkm_onnx_row(g, t->count, scale));
}

static dkm_local put_inputs(const dkm_export_plan *plan, dkm_onnx_graph *g, dkm_onnx_tensor *x)
{
    dkm_local local = DKM_LOCAL_OK;
    double *scratch = NULL;

    *x = dkm_onnx_input(g, "inputs", plan->cols);
    if (!plan->table)
        return local;
    DKM_STEP(dkm_alloc(plan->ctx, 3 * plan->cols, &scratch));
    *x = through_table(g, plan->table, scratch, *x);
out:
    DKM_FREE(scratch);
    return local;
}

/* f(x) from kernel values, or from x itself. */
static dkm_onnx_tensor put_function(const dkm_export_plan *plan, dkm_onnx_graph *g,
                                    dkm_onnx_tensor k)
{
    if (plan->centers_rows)
        k = dkm_onnx_2(g, "Sub", k,
                       dkm_onnx_2(g, "Sub", dkm_onnx_reduce(g, "ReduceMean", k, 1, 1),
                                  dkm_onnx_number(g, plan->grand)));
    if (plan->means)
        k = dkm_onnx_2(g, "Sub", k, dkm_onnx_row(g, dkm_data_rows(plan->X), plan->means));
    k = dkm_onnx_2(g, "MatMul", k, dkm_onnx_rows(g, plan->C, NULL));
    return plan->b ? dkm_onnx_2(g, "Add", k, dkm_onnx_row(g, plan->outputs, plan->b)) : k;
}

/* Elements of a vector, or rows of a matrix, by their index. */
static dkm_onnx_tensor gather(dkm_onnx_graph *g, dkm_onnx_tensor from, dkm_onnx_tensor index)
{
    dkm_onnx_attribute rows[] = {{"axis", 0, 0}, {0}};
    dkm_onnx_tensor inputs[] = {from, index};

    return dkm_onnx_op(g, "Gather", 2, inputs, rows);
}

static dkm_onnx_tensor best(dkm_onnx_graph *g, const char *op, dkm_onnx_tensor a)
{
    dkm_onnx_attribute columns[] = {{"axis", 1, 0}, {"keepdims", 0, 0}, {0}};

    return dkm_onnx_op(g, op, 1, &a, columns);
}

static dkm_onnx_tensor as_integers(dkm_onnx_graph *g, dkm_onnx_tensor a)
{
    dkm_onnx_attribute to[] = {{"to", DKM_ONNX_INT64, 0}, {0}};

    return dkm_onnx_op(g, "Cast", 1, &a, to);
}

/* The names of the classes, or their numbers. */
static dkm_local put_class_table(const dkm_export_plan *plan, dkm_onnx_graph *g,
                                 dkm_onnx_tensor *table)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *numbers = NULL;
    const char **names = NULL;

    DKM_STEP(dkm_alloc(plan->ctx, plan->outputs, &numbers));
    DKM_STEP(dkm_alloc(plan->ctx, plan->outputs, &names));
    for (dkm_idx j = 0; j < plan->outputs; j++) {
        numbers[j] = (dkm_idx)plan->classes[j];
        if (plan->names)
            names[j] = dkm_categories_name(plan->names, numbers[j], &numbers[j]);
    }
    *table = plan->names ? dkm_onnx_strings(g, plan->outputs, names, numbers)
                         : dkm_onnx_integers(g, plan->outputs, numbers);
out:
    DKM_FREE(names);
    DKM_FREE(numbers);
    return local;
}

static dkm_local put_classes(const dkm_export_plan *plan, dkm_onnx_graph *g, dkm_onnx_tensor scores)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_onnx_attribute columns[] = {{"axis", 1, 0}, {0}};
    dkm_onnx_tensor table, scaled;

    if (plan->target == DKM_LABEL_SETS) {
        dkm_onnx_tensor in =
            dkm_onnx_2(g, "GreaterOrEqual", scores, dkm_onnx_number(g, plan->threshold));
        dkm_onnx_output(g, as_integers(g, in), "labels", DKM_ONNX_INT64, plan->outputs);
    } else {
        DKM_STEP(put_class_table(plan, g, &table));
        dkm_onnx_output(g, gather(g, table, best(g, "ArgMax", scores)), "label",
                        plan->names ? DKM_ONNX_STRING : DKM_ONNX_INT64, 0);
    }
    dkm_onnx_output(g, scores, "scores", DKM_ONNX_DOUBLE, plan->outputs);
    if (plan->slope > 0) {
        scaled = dkm_onnx_2(g, "Mul", scores, dkm_onnx_number(g, plan->slope));
        dkm_onnx_output(g, dkm_onnx_op(g, "Softmax", 1, &scaled, columns), "probabilities",
                        DKM_ONNX_DOUBLE, plan->outputs);
    }
out:
    return local;
}

/* The nearest candidate by ||phi(c) - Psi||^2, less what all have in common: norms - 2 z Z'. */
static dkm_onnx_tensor nearest(dkm_onnx_graph *g, const dkm_export_decoder *d, dkm_onnx_tensor z)
{
    dkm_onnx_attribute turned[] = {{"transB", 1, 0}, {0}};
    dkm_onnx_tensor rows[] = {z, dkm_onnx_rows(g, d->Z, NULL)};
    dkm_onnx_tensor products = dkm_onnx_op(g, "Gemm", 2, rows, turned);
    dkm_onnx_tensor norms = dkm_onnx_1(g, "Transpose", dkm_onnx_rows(g, d->norms, NULL));

    return best(
        g, "ArgMin",
        dkm_onnx_2(g, "Sub", norms, dkm_onnx_2(g, "Mul", products, dkm_onnx_number(g, 2.0))));
}

/* Objects from coordinates. */
static void put_decoder(const dkm_export_plan *plan, dkm_onnx_graph *g, dkm_onnx_tensor z)
{
    const dkm_export_decoder *d = &plan->decoder;
    dkm_onnx_tensor y;

    if (d->method == DKM_PREIMAGE_LINEAR)
        y = dkm_onnx_2(g, "Add", dkm_onnx_2(g, "MatMul", z, dkm_onnx_rows(g, d->map, NULL)),
                       dkm_onnx_row(g, d->cols, d->mean));
    else
        y = gather(g, dkm_onnx_rows(g, d->objects, NULL), nearest(g, d, z));
    dkm_onnx_output(g, y, "outputs", DKM_ONNX_DOUBLE, d->cols);
}

static dkm_status put_all(const dkm_export_plan *plan, dkm_onnx_graph *g, dkm_onnx_kernel *kernel)
{
    dkm_status status = DKM_OK;
    dkm_onnx_tensor f;

    DKM_AGREE(plan->ctx, put_inputs(plan, g, &f));
    if (plan->kernel) {
        DKM_TRY(dkm_onnx_kernel_open(kernel, g, plan, f));
        f = dkm_onnx_kernel_values(kernel);
    }
    f = put_function(plan, g, f);
    if (plan->is_coordinates)
        dkm_onnx_output(g, f, "coordinates", DKM_ONNX_DOUBLE, plan->outputs);
    else if (plan->classes)
        DKM_AGREE(plan->ctx, put_classes(plan, g, f));
    else
        dkm_onnx_output(g, f, "outputs", DKM_ONNX_DOUBLE, plan->outputs);
    if (plan->decoder.method != DKM_PREIMAGE_AUTO)
        put_decoder(plan, g, f);
out:
    return status;
}

dkm_status dkm_export_onnx(const dkm_export_plan *plan, dkm_export_file *file)
{
    dkm_status status = DKM_OK;
    dkm_onnx_graph *g = NULL;
    dkm_onnx_kernel kernel = {.plan = plan};
    char about[512];

    snprintf(about, sizeof about, "a model of %s with the kernel %s", plan->method,
             plan->kernel ? dkm_kernel_text(plan->kernel) : "linear");
    DKM_AGREE(plan->ctx, dkm_onnx_graph_open(plan->ctx, &g));
    DKM_TRY(put_all(plan, g, &kernel));
    DKM_TRY(dkm_onnx_graph_write(g, about, file));
out:
    dkm_onnx_kernel_close(&kernel);
    dkm_onnx_graph_close(&g);
    return status;
}
