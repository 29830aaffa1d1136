/* What an exported model computes. Cost: nothing but the coordinates and norms of candidates (those
 * of the training objects are at hand) or, of the linear pre-image, 2 m p d flops; p d numbers are
 * sent by every rank for that. */
#include "export/export_plan.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "io/table/table.h"
#include "kernels/evaluation/kernel_impl.h"
#include "matrix/dmat_impl.h"
#include "models/registry/model_impl.h"
#include "preimage/kernel_expansion.h"
#include "preimage/linear_map.h"

/* Kernels on rows of numbers that both formats have. */
static const char *const exportable[] = {
    "linear", "poly", "rbf", "laplace", "expdot", "cosine", "tanimoto", "matern",
    "rq",     "on",   "sum", "product", "scale",  "power",  "exp",      "normalize"};

static int is_exportable(const char *name)
{
    for (size_t k = 0; k < sizeof exportable / sizeof *exportable; k++)
        if (strcmp(name, exportable[k]) == 0)
            return 1;
    return 0;
}

static dkm_local check_kernel(const dkm_export_plan *plan)
{
    for (dkm_idx k = 0; k < plan->kernel->nodes; k++) {
        const dkm_kernel_class *kind = plan->kernel->node[k].kind;
        if (kind->callback || !is_exportable(kind->name))
            return dkm_fail(plan->ctx, DKM_ERR_UNSUPPORTED,
                            "the kernel %s cannot be exported: those of rows of numbers can, such "
                            "as rbf, poly, laplace and matern, and their sums and products",
                            kind->name);
    }
    return DKM_LOCAL_OK;
}

static dkm_local check_table(const dkm_export_plan *plan)
{
    const dkm_table *table = plan->table;

    if (table && table->count != plan->d)
        return dkm_fail(plan->ctx, DKM_ERR_FORMAT,
                        "damaged model file: a table of %lld columns, and inputs of %lld",
                        (long long)table->count, (long long)plan->d);
    for (dkm_idx j = 0; table && j < table->count; j++)
        if (table->column[j].categories)
            return dkm_fail(plan->ctx, DKM_ERR_UNSUPPORTED,
                            "column %lld (%s) of the inputs is text: models of numbers can be "
                            "exported",
                            (long long)j, table->column[j].name ? table->column[j].name : "");
    return DKM_LOCAL_OK;
}

static dkm_local check_type(const dkm_export_plan *plan, const char *what, dkm_type type)
{
    if (type != DKM_DENSE)
        return dkm_fail(plan->ctx, DKM_ERR_UNSUPPORTED,
                        "the %s of the model are %s: models of dense rows can be exported", what,
                        dkm_type_name(type));
    return DKM_LOCAL_OK;
}

/* The inputs: in primal form their columns alone. */
static dkm_status plan_inputs(dkm_export_plan *plan)
{
    dkm_status status = DKM_OK;
    dkm_idx one;

    plan->X = dkm_parts_data(plan->parts, "inputs");
    if (plan->X) {
        DKM_AGREE(plan->ctx, check_type(plan, "inputs", dkm_data_type(plan->X)));
        DKM_TRY(dkm_kernel_parse(plan->ctx, dkm_parts_text(plan->parts, "kernel"), &plan->kernel));
        DKM_AGREE(plan->ctx, check_kernel(plan));
        plan->d = dkm_data_cols(plan->X);
    } else {
        plan->d = (dkm_idx)dkm_parts_reals(plan->parts, "input_cols", &one)[0];
    }
    DKM_AGREE(plan->ctx, check_table(plan));
    plan->cols = plan->table ? plan->table->count : plan->d;
out:
    return status;
}

static double one_real(const dkm_export_plan *plan, const char *name, double otherwise)
{
    dkm_idx count;
    const double *value = dkm_parts_reals(plan->parts, name, &count);

    return count > 0 ? value[0] : otherwise;
}

/* Coefficients, and what becomes of their sums. */
static void plan_outputs(dkm_export_plan *plan, const dkm_model *model)
{
    const char *type = dkm_parts_text(plan->parts, "target_type");
    dkm_idx count, m;

    plan->is_coordinates = !type;
    plan->C = dkm_parts_data(plan->parts, strcmp(plan->method, "kpca") == 0 ? "components"
                                          : plan->X                         ? "coefficients"
                                                                            : "weights");
    plan->outputs = dkm_data_cols(plan->C);
    plan->b = dkm_parts_reals(plan->parts, "intercept", &count);
    plan->target = type ? dkm_type_from_name(type) : DKM_DENSE;
    plan->classes = dkm_parts_reals(plan->parts, "classes", &count);
    plan->names = dkm_model_class_names(model);
    plan->threshold = one_real(plan, "threshold", 0.5);
    plan->slope = plan->target == DKM_LABELS ? one_real(plan, "calibration", 0.0) : 0.0;
    if (strcmp(plan->method, "kpca") != 0)
        return;
    plan->means = dkm_parts_reals(plan->parts, "means", &m);
    plan->centers_rows = !dkm_parts_reals(plan->parts, "center", &count);
    for (dkm_idx i = 0; i < m; i++)
        plan->grand += plan->means[i] / (double)m;
}

/* Labels that are to be written as names must have one. */
static dkm_local check_names(const dkm_export_plan *plan, dkm_idx count, const double *labels)
{
    for (dkm_idx k = 0; plan->names && k < count; k++)
        if (!(labels[k] >= 0) || labels[k] >= (double)dkm_categories_count(plan->names))
            return dkm_fail(plan->ctx, DKM_ERR_FORMAT,
                            "damaged model file: a class %g, and there are %lld names", labels[k],
                            (long long)dkm_categories_count(plan->names));
    return DKM_LOCAL_OK;
}

/* Norms as topk compares them: less the least, and zero where rounding alone is left. */
static dkm_status level_norms(dkm_ctx *ctx, dkm_idx m, const double *norms, dkm_data **column)
{
    dkm_status status = DKM_OK;
    dkm_norm_range range = dkm_norm_range_empty();

    DKM_TRY(dkm_data_create_dense(ctx, m, 1, column));
    dkm_norm_range_add(&range, dkm_data_local_rows(*column), norms);
    dkm_norm_range_combine(ctx, &range);
    for (dkm_idx i = 0; i < dkm_data_local_rows(*column); i++)
        dkm_data_values(*column)[i] = dkm_norm_range_level(&range, norms[i]);
out:
    return status;
}

/* Coordinates and norms of the objects to choose from. */
static dkm_status plan_candidates(dkm_export_decoder *d, const dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_candidates found = {0};

    if (pre->settings.candidates) {
        d->objects = pre->settings.candidates;
        DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(d->objects), &found.norms));
        DKM_TRY(dkm_embedding_encode(pre->e, d->objects, &found.Z, found.norms));
    } else {
        DKM_TRY(dkm_preimage_training(pre, &found));
    }
    DKM_TRY(level_norms(ctx, dkm_data_rows(d->objects), found.norms, &d->norms));
    d->Z = found.Z;
    found.Z = NULL;
out:
    dkm_candidates_clear(&found);
    return status;
}

/* Rows of a distributed matrix as data. */
static dkm_status rows_of(const dkm_dmat *A, dkm_ctx *ctx, dkm_data **rows)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, dkm_dmat_rows(A), dkm_dmat_cols(A), rows));
    DKM_TRY(dkm_dmat_to_rows(A, dkm_data_values(*rows)));
out:
    return status;
}

static dkm_status plan_linear(dkm_export_decoder *d, const dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_linear_map map = {0};

    DKM_TRY(dkm_preimage_linear.prepare(pre, &map));
    DKM_TRY(rows_of(map.U, pre->e->fitted.ctx, &d->map));
    d->mean = map.mean;
    map.mean = NULL;
out:
    dkm_linear_map_clear(&map);
    return status;
}

static dkm_status plan_fixed_point(dkm_export_decoder *d, const dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    const dkm_embedding *e = pre->e;
    double sigma = dkm_node_param(&e->fitted.kernel->node[0], 0);
    dkm_kernel_expansion expansion = {0};

    DKM_TRY(plan_candidates(d, pre));
    DKM_TRY(dkm_kernel_expansion_open(&expansion, pre->e));
    DKM_TRY(rows_of(e->W, e->fitted.ctx, &d->weights));
    DKM_TRY(dkm_data_create_dense(e->fitted.ctx, dkm_data_rows(d->objects), 1, &d->center));
    for (dkm_idx i = 0; i < dkm_data_local_rows(d->center); i++)
        dkm_data_values(d->center)[i] =
            dkm_embedding_weight(e, dkm_data_local_first(d->center) + i);
    d->size = expansion.size;
    d->rate = 0.5 / (sigma * sigma);
out:
    dkm_kernel_expansion_close(&expansion);
    return status;
}

/* Whether a format has a pre-image, for the objects it makes. */
static int has_decoder(const dkm_preimage *pre, dkm_export_format format)
{
    dkm_preimage_method method = pre->kind->method;
    dkm_type type = dkm_preimage_type(pre);

    if (pre->settings.top > 0 || pre->settings.stream || (type != DKM_DENSE && type != DKM_LABELS))
        return 0;
    return method == DKM_PREIMAGE_LINEAR || method == DKM_PREIMAGE_CANDIDATES ||
           (method == DKM_PREIMAGE_FIXED_POINT && format == DKM_EXPORT_C);
}

/* kpca can do without pre-images, and kde where coordinates are asked for. */
static dkm_local check_decoder(const dkm_export_plan *plan, const dkm_preimage *pre, int has)
{
    if (has || strcmp(plan->method, "kpca") == 0 || pre->kind->method == DKM_PREIMAGE_NONE)
        return DKM_LOCAL_OK;
    return dkm_fail(plan->ctx, DKM_ERR_UNSUPPORTED,
                    "this pre-image cannot be exported for %s objects: linear and candidates (and "
                    "in C fixed-point) can, for dense rows and labels, or coordinates",
                    dkm_type_name(dkm_data_type(pre->e->fitted.X)));
}

static dkm_status plan_decoder(dkm_export_plan *plan, const dkm_model *model,
                               dkm_export_format format)
{
    dkm_status status = DKM_OK;
    dkm_export_decoder *d = &plan->decoder;
    const dkm_preimage *pre = model->class->preimage ? model->class->preimage(model->state) : NULL;
    int has = pre && has_decoder(pre, format) &&
              (format == DKM_EXPORT_C || strcmp(plan->method, "kpca") != 0);

    if (!pre)
        return DKM_OK;
    DKM_AGREE(plan->ctx, check_decoder(plan, pre, has));
    if (!has)
        goto out;
    d->method = pre->kind->method;
    d->objects = pre->e->fitted.X;
    d->cols = dkm_preimage_cols(pre) > 0 ? dkm_preimage_cols(pre) : 1;
    if (dkm_preimage_type(pre) == DKM_LABELS)
        plan->target = DKM_LABELS;
    status = d->method == DKM_PREIMAGE_LINEAR       ? plan_linear(d, pre)
             : d->method == DKM_PREIMAGE_CANDIDATES ? plan_candidates(d, pre)
                                                    : plan_fixed_point(d, pre);
out:
    return status;
}

static dkm_local check_method(dkm_ctx *ctx, const dkm_model *model)
{
    static const char *const methods[] = {"krr", "krr-primal", "svm", "kpca", "kde"};

    if (model->unconfigured)
        return dkm_fail(ctx, DKM_ERR_ARG, "the model has no pre-image: configure it again");
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        if (strcmp(model->class->name, methods[k]) == 0)
            return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                    "models of %s cannot be exported: those of krr, svm, kpca and kde can",
                    dkm_model_method(model));
}

dkm_status dkm_export_plan_open(dkm_export_plan *plan, dkm_model *model, dkm_export_format format)
{
    dkm_status status = DKM_OK;
    const dkm_data *objects;

    *plan = (dkm_export_plan){
        .ctx = model->ctx, .method = dkm_model_method(model), .table = dkm_model_table(model)};
    DKM_AGREE(plan->ctx, check_method(plan->ctx, model));
    DKM_TRY(dkm_parts_create(model, &plan->parts));
    DKM_TRY(plan_inputs(plan));
    plan_outputs(plan, model);
    if (plan->classes)
        DKM_AGREE(plan->ctx, check_names(plan, plan->outputs, plan->classes));
    DKM_TRY(plan_decoder(plan, model, format));
    objects = plan->decoder.objects;
    if (objects && dkm_data_type(objects) == DKM_LABELS)
        DKM_AGREE(plan->ctx,
                  check_names(plan, dkm_data_local_rows(objects), dkm_data_values_const(objects)));
out:
    return status;
}

void dkm_export_plan_close(dkm_export_plan *plan)
{
    dkm_export_decoder *d = &plan->decoder;

    dkm_data_destroy(&d->Z);
    dkm_data_destroy(&d->norms);
    dkm_data_destroy(&d->map);
    DKM_FREE(d->mean);
    dkm_data_destroy(&d->weights);
    dkm_data_destroy(&d->center);
    dkm_kernel_destroy(&plan->kernel);
    dkm_parts_destroy(&plan->parts);
}
