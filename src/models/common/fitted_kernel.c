/* Training inputs, their kernel and a grid: cross-Gram matrices of new inputs, in batches whose
 * rows times training inputs stay within a budget, and the parts of a model file. Cost of n new
 * inputs: n m kernel values over all ranks; objects travel along grid rows and columns
 * (kernels/gram). */
#include "models/common/fitted_kernel.h"

#include <math.h>

#include "data/objects.h"
#include "kernels/gram/column_block.h"
#include "kernels/gram/gram.h"

/* Bytes of cross-Gram per rank: little enough for the heap to give again. */
#define BATCH_BYTES 25165824.0
#define BATCH_MAX   65536.0
/* Bytes of new inputs per rank where cross-Gram matrices are not stored. */
#define PRODUCT_BYTES 4194304.0

const dkm_fitted_kernel_names dkm_input_names = {"kernel", "inputs", "input_indices"};
const dkm_fitted_kernel_names dkm_output_names = {"output_kernel", "outputs", "output_indices"};

/* On a grid of its own, or (no layout) on that of another. Collective. */
static dkm_status fitted_kernel_lay_out(dkm_fitted_kernel *fitted, const dkm_fitted_kernel *other,
                                        dkm_ctx *ctx, const dkm_data *X, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    *fitted = (dkm_fitted_kernel){.ctx = ctx, .X = dkm_data_share(X), .shares_grid = other != NULL};
    if (other) {
        fitted->grid = other->grid;
        fitted->nb = other->nb;
        return DKM_OK;
    }
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &fitted->grid));
    fitted->nb =
        layout->block ? layout->block : dkm_grid_block(fitted->grid, dkm_data_rows(fitted->X));
out:
    return status;
}

dkm_status dkm_fitted_kernel_open(dkm_fitted_kernel *fitted, dkm_ctx *ctx, const dkm_data *X,
                                  const dkm_kernel *kernel, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    DKM_TRY(fitted_kernel_lay_out(fitted, NULL, ctx, X, layout));
    DKM_TRY(dkm_kernel_clone(ctx, kernel, &fitted->kernel));
    DKM_TRY(dkm_kernel_prepare(fitted->kernel, fitted->X, &fitted->prepared));
out:
    return status;
}

dkm_status dkm_fitted_kernel_open_sharing_grid(dkm_fitted_kernel *fitted,
                                               const dkm_fitted_kernel *other, const dkm_data *X,
                                               const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;

    DKM_TRY(fitted_kernel_lay_out(fitted, other, other->ctx, X, NULL));
    DKM_TRY(dkm_kernel_clone(other->ctx, kernel, &fitted->kernel));
    DKM_TRY(dkm_kernel_prepare(fitted->kernel, fitted->X, &fitted->prepared));
out:
    return status;
}

dkm_status dkm_fitted_kernel_parse(dkm_fitted_kernel *fitted, const dkm_fitted_kernel *other,
                                   const dkm_data *X, const char *kernel, const dkm_layout *layout)
{
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_status status = DKM_OK;

    DKM_TRY(fitted_kernel_lay_out(fitted, other, ctx, X, layout));
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &fitted->kernel));
    DKM_TRY(dkm_kernel_prepare(fitted->kernel, fitted->X, &fitted->prepared));
out:
    return status;
}

dkm_status dkm_fitted_kernel_use_distances(dkm_fitted_kernel *fitted)
{
    if (!dkm_kernel_has_better_distances(fitted->kernel))
        return DKM_OK;
    dkm_prepared_destroy(&fitted->prepared);
    dkm_kernel_use_distances(fitted->kernel);
    return dkm_kernel_prepare(fitted->kernel, fitted->X, &fitted->prepared);
}

void dkm_fitted_kernel_close(dkm_fitted_kernel *fitted)
{
    dkm_cross_gram_destroy(&fitted->cross);
    dkm_prepared_destroy(&fitted->prepared);
    dkm_data_destroy(&fitted->indices);
    dkm_data_destroy(&fitted->X);
    dkm_kernel_destroy(&fitted->kernel);
    if (!fitted->shares_grid)
        dkm_grid_destroy(&fitted->grid);
}

static dkm_local fitted_kernel_check_inputs(const dkm_fitted_kernel *fitted, const dkm_data *X)
{
    dkm_type type = dkm_data_type(X);

    if (type != dkm_data_type(fitted->X))
        return dkm_fail(fitted->ctx, DKM_ERR_ARG,
                        "the model was trained on %s inputs, these are %s",
                        dkm_type_name(dkm_data_type(fitted->X)), dkm_type_name(type));
    if (type == DKM_DENSE && dkm_data_cols(X) != dkm_data_cols(fitted->X))
        return dkm_fail(fitted->ctx, DKM_ERR_ARG,
                        "the model was trained on inputs of %lld columns, these have %lld",
                        (long long)dkm_data_cols(fitted->X), (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

/* New inputs, prepared; and the training inputs brought together for all of them, unless they are
 * stored, so wide that this would take more than their own share. */
static dkm_status fitted_kernel_prepare_new(dkm_fitted_kernel *fitted, const dkm_data *X,
                                            dkm_prepared **prepared)
{
    dkm_status status = DKM_OK;

    *prepared = NULL;
    DKM_AGREE(fitted->ctx, fitted_kernel_check_inputs(fitted, X));
    DKM_TRY(dkm_kernel_prepare_new(fitted->prepared, X, prepared));
    if (!fitted->cross && !dkm_column_block_wanted(fitted->prepared))
        DKM_TRY(dkm_cross_gram_create(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb,
                                      DKM_F64, &fitted->cross));
out:
    if (status != DKM_OK)
        dkm_prepared_destroy(prepared);
    return status;
}

dkm_status dkm_fitted_kernel_cross(dkm_fitted_kernel *fitted, const dkm_data *X, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;

    *K = NULL;
    DKM_TRY(fitted_kernel_prepare_new(fitted, X, &prepared));
    if (dkm_column_block_wanted(fitted->prepared))
        DKM_TRY(dkm_gram_cross(fitted->grid, fitted->kernel, prepared, fitted->prepared, fitted->nb,
                               fitted->nb, DKM_F64, K));
    else
        DKM_TRY(dkm_cross_gram_eval(fitted->cross, prepared, fitted->nb, K));
out:
    dkm_prepared_destroy(&prepared);
    return status;
}

dkm_status dkm_fitted_kernel_multiply(dkm_fitted_kernel *fitted, const dkm_data *X,
                                      const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;

    DKM_TRY(fitted_kernel_prepare_new(fitted, X, &prepared));
    if (dkm_column_block_wanted(fitted->prepared))
        DKM_TRY(
            dkm_gram_cross_multiply(fitted->grid, prepared, fitted->prepared, fitted->nb, V, W));
    else
        DKM_TRY(dkm_cross_gram_multiply(fitted->cross, prepared, fitted->nb, V, W));
out:
    dkm_prepared_destroy(&prepared);
    return status;
}

dkm_status dkm_fitted_kernel_objects(const dkm_fitted_kernel *fitted, dkm_dmat **X)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create(fitted->grid, dkm_data_rows(fitted->X), dkm_data_cols(fitted->X),
                            fitted->nb, fitted->nb, DKM_F64, X));
    DKM_TRY(dkm_dmat_from_rows(*X, dkm_data_values_const(fitted->X)));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(X);
    return status;
}

dkm_idx dkm_batch_rows(dkm_idx width, double bytes, int ranks)
{
    double rows = bytes * ranks / ((double)width * sizeof(double));

    return (dkm_idx)fmax(1.0, fmin(rows, BATCH_MAX));
}

dkm_idx dkm_fitted_kernel_batch_rows(const dkm_fitted_kernel *fitted, dkm_idx outputs)
{
    if (dkm_data_type(fitted->X) == DKM_GRAPH) /* no part of a graph stands for itself */
        return dkm_data_rows(fitted->X);
    return dkm_batch_rows(dkm_data_rows(fitted->X) + outputs, BATCH_BYTES,
                          dkm_grid_rows(fitted->grid) * dkm_grid_cols(fitted->grid));
}

dkm_idx dkm_fitted_kernel_product_rows(const dkm_fitted_kernel *fitted, dkm_idx outputs)
{
    dkm_idx rows = dkm_fitted_kernel_batch_rows(fitted, outputs), all;

    if (dkm_data_type(fitted->X) != DKM_DENSE)
        return rows;
    all = dkm_batch_rows(dkm_data_cols(fitted->X) + outputs, PRODUCT_BYTES,
                         dkm_grid_rows(fitted->grid) * dkm_grid_cols(fitted->grid));
    return all > rows ? all : rows;
}

static dkm_local fitted_kernel_check_shape(dkm_ctx *ctx, const char *name, const dkm_data *data,
                                           dkm_idx rows, dkm_idx cols)
{
    if (dkm_data_rows(data) == rows && dkm_data_cols(data) == cols)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_FORMAT, "the model's part '%s' is %lld x %lld, not %lld x %lld",
                    name, (long long)dkm_data_rows(data), (long long)dkm_data_cols(data),
                    (long long)rows, (long long)cols);
}

dkm_status dkm_fitted_kernel_set_indices(dkm_fitted_kernel *fitted, const dkm_idx *indices)
{
    dkm_idx first = dkm_data_local_first(fitted->X);
    dkm_status status =
        dkm_data_create_dense(fitted->ctx, dkm_data_rows(fitted->X), 1, &fitted->indices);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(fitted->X); i++)
        dkm_data_values(fitted->indices)[i] = (double)indices[first + i];
    return status;
}

dkm_local dkm_fitted_kernel_put_indices(const dkm_fitted_kernel *fitted, const char *name,
                                        dkm_archive *archive)
{
    return fitted->indices ? dkm_archive_borrow_data(archive, name, fitted->indices) : DKM_LOCAL_OK;
}

dkm_local dkm_fitted_kernel_take_indices(dkm_fitted_kernel *fitted, const char *name,
                                         dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    if (!name || !dkm_archive_find(archive, name))
        return local;
    DKM_STEP(dkm_archive_take_rows(archive, name, &fitted->indices));
    DKM_STEP(
        fitted_kernel_check_shape(fitted->ctx, name, fitted->indices, dkm_data_rows(fitted->X), 1));
out:
    return local;
}

dkm_local dkm_fitted_kernel_to_archive(const dkm_fitted_kernel *fitted,
                                       dkm_fitted_kernel_names names, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(archive, names.kernel, dkm_kernel_text(fitted->kernel)));
    DKM_STEP(dkm_archive_borrow_data(archive, names.objects, fitted->X));
    DKM_STEP(dkm_fitted_kernel_put_indices(fitted, names.indices, archive));
out:
    return local;
}

dkm_status dkm_fitted_kernel_from_archive(dkm_fitted_kernel *fitted, const dkm_fitted_kernel *other,
                                          dkm_fitted_kernel_names names, dkm_archive *archive,
                                          const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = archive->ctx;
    const char *kernel = NULL;
    dkm_data *X = NULL;

    *fitted = (dkm_fitted_kernel){.ctx = ctx};
    DKM_AGREE(ctx, dkm_archive_text(archive, names.kernel, &kernel));
    DKM_AGREE(ctx, dkm_archive_take_data(archive, names.objects, &X));
    DKM_TRY(dkm_fitted_kernel_parse(fitted, other, X, kernel, layout));
    DKM_AGREE(ctx, dkm_fitted_kernel_take_indices(fitted, names.indices, archive));
out:
    dkm_data_destroy(&X);
    return status;
}

dkm_status dkm_fitted_kernel_put_matrix(const dkm_fitted_kernel *fitted, dkm_archive *archive,
                                        const char *name, const dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    DKM_TRY(dkm_data_create_dense(fitted->ctx, dkm_dmat_rows(A), dkm_dmat_cols(A), &rows));
    DKM_TRY(dkm_dmat_to_rows(A, dkm_data_values(rows)));
    DKM_AGREE(fitted->ctx, dkm_archive_put_data(archive, name, &rows));
out:
    dkm_data_destroy(&rows);
    return status;
}

dkm_status dkm_fitted_kernel_take_matrix(const dkm_fitted_kernel *fitted, dkm_archive *archive,
                                         const char *name, dkm_idx rows, dkm_idx cols, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_data *data = NULL;

    *A = NULL;
    DKM_AGREE(fitted->ctx, dkm_archive_take_rows(archive, name, &data));
    DKM_AGREE(fitted->ctx, fitted_kernel_check_shape(fitted->ctx, name, data, rows, cols));
    DKM_TRY(dkm_dmat_create(fitted->grid, rows, cols, fitted->nb, fitted->nb, DKM_F64, A));
    DKM_TRY(dkm_dmat_from_rows(*A, dkm_data_values_const(data)));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(A);
    dkm_data_destroy(&data);
    return status;
}
