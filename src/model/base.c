#include "model/base.h"

#include "kernel/window.h"

#define STRETCH_BYTES                                                                              \
    25165824.0 /* of cross-Gram a rank: little enough for the heap to give again */
#define STRETCH_MOST 65536.0

const dkm_base_names dkm_input_names = {"kernel", "inputs"};
const dkm_base_names dkm_output_names = {"output_kernel", "outputs"};

static dkm_status prepare(dkm_base *base, const char *kernel)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_kernel_parse(base->ctx, kernel, &base->kernel));
    DKM_TRY(dkm_kernel_prepare(base->kernel, base->X, &base->prepared));
out:
    return status;
}

dkm_status dkm_base_open(dkm_base *base, dkm_ctx *ctx, dkm_data **X, const char *kernel,
                         const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    *base = (dkm_base){.ctx = ctx, .X = *X};
    *X = NULL;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &base->grid));
    base->nb = layout->block ? layout->block : dkm_grid_block(base->grid, dkm_data_rows(base->X));
    DKM_TRY(prepare(base, kernel));
out:
    return status;
}

dkm_status dkm_base_open_beside(dkm_base *base, const dkm_base *other, dkm_data **X,
                                const char *kernel)
{
    *base = (dkm_base){.ctx = other->ctx, .grid = other->grid, .shares_grid = 1, .nb = other->nb};
    base->X = *X;
    *X = NULL;
    return prepare(base, kernel);
}

dkm_status dkm_base_use_distances(dkm_base *base)
{
    if (!dkm_kernel_has_better_distances(base->kernel))
        return DKM_OK;
    dkm_prepared_destroy(&base->prepared);
    dkm_kernel_use_distances(base->kernel);
    return dkm_kernel_prepare(base->kernel, base->X, &base->prepared);
}

void dkm_base_close(dkm_base *base)
{
    dkm_cross_destroy(&base->cross);
    dkm_prepared_destroy(&base->prepared);
    dkm_data_destroy(&base->X);
    dkm_kernel_destroy(&base->kernel);
    if (!base->shares_grid)
        dkm_grid_destroy(&base->grid);
}

static dkm_local check_inputs(const dkm_base *base, const dkm_data *X)
{
    dkm_type type = dkm_data_type(X);

    if (type != dkm_data_type(base->X))
        return dkm_fail(base->ctx, DKM_ERR_ARG, "the model was trained on %s inputs, these are %s",
                        dkm_type_name(dkm_data_type(base->X)), dkm_type_name(type));
    if (type == DKM_DENSE && dkm_data_cols(X) != dkm_data_cols(base->X))
        return dkm_fail(base->ctx, DKM_ERR_ARG,
                        "the model was trained on inputs of %lld columns, these have %lld",
                        (long long)dkm_data_cols(base->X), (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

dkm_status dkm_base_cross(dkm_base *base, const dkm_data *X, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;

    *K = NULL;
    DKM_AGREE(base->ctx, check_inputs(base, X));
    DKM_TRY(dkm_kernel_prepare_new(base->prepared, X, &prepared));
    if (dkm_window_wanted(base->prepared)) { /* kept, they would take more than their own share */
        DKM_TRY(dkm_gram_cross(base->grid, base->kernel, prepared, base->prepared, base->nb,
                               base->nb, DKM_F64, K));
        goto out;
    }
    if (!base->cross)
        DKM_TRY(dkm_cross_create(base->grid, base->kernel, base->prepared, base->nb, DKM_F64,
                                 &base->cross));
    DKM_TRY(dkm_cross_rows(base->cross, prepared, base->nb, K));
out:
    dkm_prepared_destroy(&prepared);
    return status;
}

dkm_status dkm_base_objects(const dkm_base *base, dkm_dmat **X)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(base->grid, dkm_data_rows(base->X), dkm_data_cols(base->X), base->nb,
                            base->nb, DKM_F64, X));
    DKM_TRY(dkm_dmat_from_rows(*X, dkm_data_values_const(base->X)));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(X);
    return status;
}

dkm_idx dkm_base_stretch(const dkm_base *base, dkm_idx outputs)
{
    double width = (double)(dkm_data_rows(base->X) + outputs) * sizeof(double);
    double rows = STRETCH_BYTES * dkm_grid_rows(base->grid) * dkm_grid_cols(base->grid) / width;

    return (dkm_idx)(rows < 1 ? 1 : rows > STRETCH_MOST ? STRETCH_MOST : rows);
}

dkm_local dkm_base_to_bundle(const dkm_base *base, dkm_base_names names, dkm_bundle *bundle)
{
    dkm_local local = dkm_bundle_put_text(bundle, names.kernel, dkm_kernel_text(base->kernel));

    return local.code == DKM_OK ? dkm_bundle_lend_data(bundle, names.objects, base->X) : local;
}

dkm_status dkm_base_from_bundle(dkm_base *base, const dkm_base *other, dkm_base_names names,
                                dkm_bundle *bundle, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = bundle->ctx;
    const char *kernel = NULL;
    dkm_data *X = NULL;

    *base = (dkm_base){.ctx = ctx};
    DKM_AGREE(ctx, dkm_bundle_text(bundle, names.kernel, &kernel));
    DKM_AGREE(ctx, dkm_bundle_take_data(bundle, names.objects, &X));
    if (other)
        DKM_TRY(dkm_base_open_beside(base, other, &X, kernel));
    else
        DKM_TRY(dkm_base_open(base, ctx, &X, kernel, layout));
out:
    dkm_data_destroy(&X);
    return status;
}

dkm_status dkm_base_put_matrix(const dkm_base *base, dkm_bundle *bundle, const char *name,
                               const dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    DKM_TRY(dkm_data_create_dense(base->ctx, dkm_dmat_rows(A), dkm_dmat_cols(A), &rows));
    DKM_TRY(dkm_dmat_to_rows(A, dkm_data_values(rows)));
    DKM_AGREE(base->ctx, dkm_bundle_put_data(bundle, name, &rows));
out:
    dkm_data_destroy(&rows);
    return status;
}

static dkm_local check_shape(dkm_ctx *ctx, const char *name, const dkm_data *data, dkm_idx rows,
                             dkm_idx cols)
{
    if (dkm_data_rows(data) == rows && dkm_data_cols(data) == cols)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_FORMAT, "the model's part '%s' is %lld x %lld, not %lld x %lld",
                    name, (long long)dkm_data_rows(data), (long long)dkm_data_cols(data),
                    (long long)rows, (long long)cols);
}

dkm_status dkm_base_take_matrix(const dkm_base *base, dkm_bundle *bundle, const char *name,
                                dkm_idx rows, dkm_idx cols, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_data *data = NULL;

    *A = NULL;
    DKM_AGREE(base->ctx, dkm_bundle_take_rows(bundle, name, &data));
    DKM_AGREE(base->ctx, check_shape(base->ctx, name, data, rows, cols));
    DKM_TRY(dkm_dmat_create(base->grid, rows, cols, base->nb, base->nb, DKM_F64, A));
    DKM_TRY(dkm_dmat_from_rows(*A, dkm_data_values_const(data)));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(A);
    dkm_data_destroy(&data);
    return status;
}
