/* Kernel values to a few of the objects. Rows of a kernel matrix have theirs already: the columns
 * of the landmarks. */
#include <string.h>

#include "core/alloc.h"
#include "models/common/fitted_kernel.h"
#include "models/features/features_impl.h"
#include "solvers/landmarks/greedy.h"

#define LEVERAGE_RIDGE 1e-6 /* features are fitted to no outputs: next to none */

typedef struct landmarks {
    dkm_fitted_kernel fitted; /* its objects are the landmarks; none where there are indices */
    dkm_idx n, width;
    double *indices; /* of columns among `width`, of rows of a kernel matrix; else NULL */
} landmarks;

static const dkm_fitted_kernel_names names = {"landmark_kernel", "landmarks", NULL};

static void features_landmarks_destroy(void *state)
{
    landmarks *s = state;

    DKM_FREE(s->indices);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

static dkm_local features_landmarks_check_rows(const landmarks *s, const dkm_data *X)
{
    if (dkm_data_type(X) != DKM_GRAM)
        return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                        "rows of kernel values (type gram) are wanted, and these are %s",
                        dkm_type_name(dkm_data_type(X)));
    if (dkm_data_cols(X) != s->width)
        return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                        "rows of %lld kernel values are wanted, and these have %lld",
                        (long long)s->width, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

static dkm_status pick_columns(const landmarks *s, const dkm_data *X, dkm_data **F)
{
    dkm_status status = DKM_OK;
    const double *rows = dkm_data_values_const(X);

    DKM_AGREE(s->fitted.ctx, features_landmarks_check_rows(s, X));
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), s->n, F));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx j = 0; j < s->n; j++)
            dkm_data_values(*F)[i * s->n + j] = rows[i * s->width + (dkm_idx)s->indices[j]];
out:
    return status;
}

static dkm_status features_landmarks_apply(void *state, const dkm_data *X, dkm_data **F)
{
    landmarks *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;

    if (s->indices)
        return pick_columns(s, X, F);
    DKM_TRY(dkm_fitted_kernel_cross(&s->fitted, X, &K));
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), s->n, F));
    DKM_TRY(dkm_dmat_to_rows(K, dkm_data_values(*F)));
out:
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local name_columns(const landmarks *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_reals(archive, "landmark_places", s->n, s->indices));
    DKM_STEP(dkm_archive_put_real(archive, "landmark_columns", (double)s->width));
out:
    return local;
}

static dkm_status features_landmarks_to_archive(void *state, dkm_archive *archive)
{
    landmarks *s = state;

    return dkm_agree(s->fitted.ctx, s->indices
                                        ? name_columns(s, archive)
                                        : dkm_fitted_kernel_to_archive(&s->fitted, names, archive));
}

static dkm_local read_columns(landmarks *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *indices = NULL;

    DKM_STEP(dkm_archive_numbers(archive, "landmark_places", s->n, &indices));
    DKM_STEP(dkm_archive_count(archive, "landmark_columns", 1, INT64_MAX, &s->width));
    DKM_STEP(dkm_alloc(archive->ctx, s->n, &s->indices));
    memcpy(s->indices, indices, (size_t)s->n * sizeof *indices);
    for (dkm_idx k = 0; k < s->n; k++)
        if (!(indices[k] >= 0 && indices[k] < (double)s->width))
            return dkm_fail(archive->ctx, DKM_ERR_FORMAT, "landmarks that the matrix has not");
out:
    return local;
}

static dkm_status features_landmarks_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                                  const dkm_layout *layout, dkm_idx n, void **state)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    landmarks *s = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->fitted.ctx = ctx;
    s->n = n;
    if (dkm_archive_find(archive, "landmark_places"))
        DKM_AGREE(ctx, read_columns(s, archive));
    else
        DKM_TRY(dkm_fitted_kernel_from_archive(&s->fitted, NULL, names, archive, layout));
    if (!s->indices && dkm_data_rows(s->fitted.X) != n)
        local = dkm_fail(ctx, DKM_ERR_FORMAT, "%lld features of %lld landmarks", (long long)n,
                         (long long)dkm_data_rows(s->fitted.X));
    DKM_AGREE(ctx, local);
    *state = s;
    s = NULL;
out:
    if (s)
        features_landmarks_destroy(s);
    return status;
}

const dkm_features_kind dkm_features_kind_landmarks = {.name = "landmarks",
                                                       .apply = features_landmarks_apply,
                                                       .to_archive = features_landmarks_to_archive,
                                                       .from_archive =
                                                           features_landmarks_from_archive,
                                                       .destroy = features_landmarks_destroy};

static dkm_local features_landmarks_check_count(dkm_ctx *ctx, const dkm_data *X, dkm_idx n)
{
    if (n >= 1 && n <= dkm_data_rows(X))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG, "%lld landmarks of %lld objects cannot be chosen",
                    (long long)n, (long long)dkm_data_rows(X));
}

dkm_status dkm_features_indices(const dkm_data *X, const dkm_kernel *kernel,
                                dkm_landmark_method choice, const dkm_layout *layout, dkm_idx *n,
                                dkm_idx **indices)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_grid *grid = NULL;
    dkm_prepared *prepared = NULL;

    DKM_AGREE(ctx, features_landmarks_check_count(ctx, X, *n));
    DKM_AGREE(ctx, dkm_alloc(ctx, *n, indices));
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &grid));
    DKM_TRY(dkm_kernel_prepare(kernel, X, &prepared));
    DKM_TRY(dkm_landmarks_choose(grid, prepared, choice, LEVERAGE_RIDGE, n, *indices));
out:
    dkm_prepared_destroy(&prepared);
    dkm_grid_destroy(&grid);
    return status;
}

static dkm_local store_indices(landmarks *s, const dkm_data *X, const dkm_idx *indices)
{
    dkm_local local = DKM_LOCAL_OK;

    s->width = dkm_data_cols(X);
    DKM_STEP(dkm_alloc(s->fitted.ctx, s->n, &s->indices));
    for (dkm_idx k = 0; k < s->n; k++)
        s->indices[k] = (double)indices[k];
out:
    return local;
}

dkm_status dkm_features_landmarks(const dkm_data *X, const dkm_kernel *kernel, dkm_idx n,
                                  dkm_landmark_method choice, const dkm_layout *layout,
                                  dkm_features **map)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    landmarks *s = NULL;
    dkm_idx *indices = NULL;
    dkm_data *chosen = NULL;

    *map = NULL;
    DKM_TRY(dkm_features_indices(X, kernel, choice, layout, &n, &indices));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->fitted.ctx = ctx;
    s->n = n;
    if (dkm_data_type(X) == DKM_GRAM) {
        DKM_AGREE(ctx, store_indices(s, X, indices));
    } else {
        DKM_TRY(dkm_data_select(X, n, indices, &chosen));
        DKM_TRY(dkm_fitted_kernel_open(&s->fitted, ctx, chosen, kernel, layout));
    }
    status = dkm_features_wrap(ctx, &dkm_features_kind_landmarks, n, s, map);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        features_landmarks_destroy(s);
    dkm_data_destroy(&chosen);
    DKM_FREE(indices);
    return status;
}
