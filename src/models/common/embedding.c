/* Kernel PCA (Schoelkopf, Smola and Mueller 1998, Neural Computation 10(5):1299-1319,
 * doi:10.1162/089976698300017467): with H K H = V diag(l) V', the coordinates of an object are z =
 * diag(l)^-1/2 V'H (k(X, x) - K 1/m).
 *
 * Cost: the Gram matrix and its leading eigenpairs (solvers/eigen); encoding n objects takes 2 n m
 * t flops over all ranks for t components. Per rank: m^2 / ranks numbers while fitting, m t /
 * ranks after. Replicated: t eigenvalues and the m row means of K. */
#include "models/common/embedding.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

void dkm_embedding_close(dkm_embedding *e)
{
    dkm_dmat_destroy(&e->W);
    dkm_eigen_values_free(&e->values);
    DKM_FREE(e->means);
    DKM_FREE(e->center);
    dkm_fitted_kernel_close(&e->fitted);
}

static dkm_status embedding_check_memory(const dkm_fitted_kernel *fitted)
{
    dkm_idx m = dkm_data_rows(fitted->X);
    const dkm_grid *g = fitted->grid;
    double held = (double)dkm_cyclic_count(m, fitted->nb, dkm_grid_row(g), dkm_grid_rows(g)) *
                  (double)dkm_cyclic_count(m, fitted->nb, dkm_grid_col(g), dkm_grid_cols(g));

    return dkm_memory_check(fitted->ctx, held * sizeof(double), "the kernel matrix");
}

/* V <- H V. Eigenvectors of a centered matrix add up to zero; what rounding leaves of their sums,
 * the more the smaller the eigenvalue, objects of a large mean would blow up. */
static dkm_status center_vectors(dkm_data *vectors)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(vectors);
    dkm_idx n = dkm_data_local_rows(vectors), p = dkm_data_cols(vectors);
    double *v = dkm_data_values(vectors), *sums = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, p, &sums));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < p; j++)
            sums[j] += v[i * p + j];
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < p; j++)
            v[i * p + j] -= sums[j] / (double)dkm_data_rows(vectors);
out:
    DKM_FREE(sums);
    return status;
}

dkm_status dkm_embedding_scale_vectors(dkm_embedding *e, dkm_data *vectors)
{
    dkm_status status = DKM_OK;
    double *v = dkm_data_values(vectors);

    for (dkm_idx i = 0; i < dkm_data_local_rows(vectors); i++)
        for (dkm_idx j = 0; j < e->p; j++)
            v[i * e->p + j] /= sqrt(e->values[j]);
    DKM_TRY(dkm_dmat_create(e->fitted.grid, dkm_data_rows(vectors), e->p, e->fitted.nb,
                            e->fitted.nb, DKM_F64, &e->W));
    DKM_TRY(dkm_dmat_from_rows(e->W, v));
out:
    return status;
}

dkm_local dkm_embedding_check_rank(dkm_ctx *ctx, dkm_idx p)
{
    if (p == 0)
        return dkm_fail(
            ctx, DKM_ERR_NUMERIC,
            "the centered kernel matrix is zero: all objects look alike to this kernel");
    return DKM_LOCAL_OK;
}

dkm_status dkm_embedding_fit(dkm_embedding *e, const dkm_eigen_settings *settings,
                             dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &e->fitted;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(embedding_check_memory(fitted));
    DKM_TRY(dkm_gram(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, DKM_F64, &K));
    DKM_AGREE(fitted->ctx, dkm_calloc(fitted->ctx, dkm_dmat_rows(K), &e->means));
    DKM_TRY(dkm_eigen_leading(K, settings, &e->values, &vectors, e->means, info));
    e->p = info->components;
    DKM_AGREE(fitted->ctx, dkm_embedding_check_rank(fitted->ctx, e->p));
    DKM_TRY(center_vectors(vectors));
    DKM_TRY(dkm_embedding_scale_vectors(e, vectors));
out:
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    return status;
}

double dkm_embedding_estimate(const dkm_settings *settings, dkm_idx m, dkm_cost *cost)
{
    return dkm_cost_replicate(cost, "means of the rows of the kernel matrix, m", 8.0 * (double)m) +
           dkm_example_weights_estimate(settings, m, 3.0, cost);
}

double dkm_embedding_weight(const dkm_embedding *e, dkm_idx i)
{
    return e->center ? e->center[i] : 1.0 / (double)dkm_data_rows(e->fitted.X);
}

static double embedding_weight_of(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)jg;
    return dkm_embedding_weight(user, ig);
}

double dkm_embedding_grand_mean(const dkm_embedding *e)
{
    dkm_idx m = dkm_data_rows(e->fitted.X);
    double sum = 0;

    if (e->center) {
        for (dkm_idx i = 0; i < m; i++)
            sum += e->center[i] * e->means[i];
        return sum;
    }
    for (dkm_idx i = 0; i < m; i++)
        sum += e->means[i];
    return sum / (double)m;
}

void dkm_embedding_center_norms(dkm_idx n, const double *means, double grand, double *norms)
{
    for (dkm_idx i = 0; i < n; i++)
        norms[i] += grand - 2.0 * means[i];
}

/* norms[i] = k(x, x) - 2 mean_j k(x, x_j) + grand mean, from the rows of K before centering. */
static dkm_status embedding_find_norms(const dkm_embedding *e, const dkm_data *X, const dkm_dmat *K,
                                       double *norms)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->fitted.ctx;
    double *row_means = NULL, grand = dkm_embedding_grand_mean(e);
    dkm_prepared *prepared = NULL;
    dkm_dmat *one = NULL, *mean = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &row_means));
    DKM_TRY(dkm_dmat_create(e->fitted.grid, K->n, 1, K->nb, 1, DKM_F64, &one));
    DKM_TRY(dkm_dmat_create_like(K, 1, 1, DKM_F64, &mean));
    dkm_dmat_fill(one, embedding_weight_of, (void *)(uintptr_t)e);
    dkm_la_gemm('N', 'N', 1.0, K, one, 0.0, mean);
    DKM_TRY(dkm_dmat_to_rows(mean, row_means));
    DKM_TRY(dkm_kernel_prepare_new(e->fitted.prepared, X, &prepared));
    DKM_TRY(dkm_kernel_diagonal(prepared, norms));
    dkm_embedding_center_norms(dkm_data_local_rows(X), row_means, grand, norms);
out:
    dkm_prepared_destroy(&prepared);
    dkm_dmat_destroy(&one);
    dkm_dmat_destroy(&mean);
    DKM_FREE(row_means);
    return status;
}

/* Rows of coordinates of objects few enough for their kernel values to be held at once. */
static dkm_status encode_batch(dkm_embedding *e, const dkm_data *X, double *rows, double *norms)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *C = NULL;

    DKM_TRY(dkm_fitted_kernel_cross(&e->fitted, X, &K));
    if (norms)
        DKM_TRY(embedding_find_norms(e, X, K, norms));
    if (e->center)
        dkm_dmat_add_row(K, -1.0, e->means);
    else
        DKM_TRY(dkm_gram_center_new(K, e->means));
    DKM_TRY(dkm_dmat_create_like(K, e->p, e->fitted.nb, DKM_F64, &C));
    dkm_la_gemm('N', 'N', 1.0, K, e->W, 0.0, C);
    DKM_TRY(dkm_dmat_to_rows(C, rows));
out:
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&C);
    return status;
}

dkm_idx dkm_own_batches(const dkm_data *X, dkm_idx first, dkm_idx each, dkm_idx *indices)
{
    int size = dkm_ctx_size(dkm_data_ctx(X));
    dkm_idx m = dkm_data_rows(X), count = 0;

    for (int r = 0; r < size; r++) {
        dkm_idx start = dkm_slab_first(m, r, size) + first, end = dkm_slab_first(m, r + 1, size);
        for (dkm_idx i = start; i < end && i < start + each; i++)
            indices[count++] = i;
    }
    return count;
}

dkm_status dkm_embedding_encode(dkm_embedding *e, const dkm_data *X, dkm_data **Z, double *norms)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->fitted.ctx;
    dkm_idx size = dkm_ctx_size(ctx), longest = dkm_slab_count(dkm_data_rows(X), 0, (int)size);
    dkm_idx each = dkm_fitted_kernel_batch_rows(&e->fitted, e->p) / size + 1, *indices = NULL,
            first = 0;
    dkm_data *found = NULL, *part = NULL;

    *Z = NULL;
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), e->p, &found));
    DKM_AGREE(ctx, dkm_alloc(ctx, (each < longest ? each : longest) * size, &indices));
    do {
        dkm_idx count = dkm_own_batches(X, first, each, indices);
        DKM_TRY(dkm_data_select(X, count, indices, &part));
        DKM_TRY(encode_batch(e, part, dkm_data_values(found) + first * e->p,
                             norms ? norms + first : NULL));
        dkm_data_destroy(&part);
        first += each;
    } while (first < longest);
    *Z = found;
    found = NULL;
out:
    dkm_data_destroy(&part);
    DKM_FREE(indices);
    dkm_data_destroy(&found);
    return status;
}

/* Landmarks are encoded as any objects are: their coordinates are no eigenvectors. */
static dkm_status encode_landmarks(const dkm_embedding *e, dkm_data **Z, double *norms)
{
    return dkm_embedding_encode((dkm_embedding *)(uintptr_t)e, e->fitted.X, Z, norms);
}

static dkm_status landmark_coordinates(const dkm_embedding *e, dkm_dmat **Z)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    DKM_TRY(encode_landmarks(e, &rows, NULL));
    DKM_TRY(dkm_dmat_create_like(e->W, e->p, e->fitted.nb, DKM_F64, Z));
    DKM_TRY(dkm_dmat_from_rows(*Z, dkm_data_values(rows)));
out:
    dkm_data_destroy(&rows);
    return status;
}

dkm_status dkm_embedding_training(const dkm_embedding *e, dkm_dmat **Z)
{
    dkm_status status;

    if (e->center)
        return landmark_coordinates(e, Z);
    status = dkm_dmat_convert(e->W, DKM_F64, Z);
    for (dkm_idx jl = 0; status == DKM_OK && jl < dkm_dmat_local_cols(*Z); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(*Z); il++)
            dkm_dmat_put(*Z, il, jl,
                         dkm_dmat_at(*Z, il, jl) * e->values[dkm_dmat_global_col(*Z, jl)]);
    return status;
}

dkm_status dkm_embedding_training_norms(const dkm_embedding *e, double *norms)
{
    dkm_status status = DKM_OK;
    double grand = dkm_embedding_grand_mean(e);
    dkm_idx first = dkm_data_local_first(e->fitted.X);
    dkm_data *Z = NULL;

    if (e->center) {
        DKM_TRY(encode_landmarks(e, &Z, norms));
        goto out;
    }
    DKM_TRY(dkm_kernel_diagonal(e->fitted.prepared, norms));
    dkm_embedding_center_norms(dkm_data_local_rows(e->fitted.X), e->means + first, grand, norms);
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_local embedding_name_entries(const dkm_embedding *e, dkm_fitted_kernel_names names,
                                        dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_fitted_kernel_to_archive(&e->fitted, names, archive));
    DKM_STEP(dkm_archive_put_reals(archive, "eigenvalues", e->p, e->values));
    DKM_STEP(dkm_archive_put_reals(archive, "means", dkm_data_rows(e->fitted.X), e->means));
    if (e->center)
        DKM_STEP(dkm_archive_put_reals(archive, "center", dkm_data_rows(e->fitted.X), e->center));
out:
    return local;
}

dkm_status dkm_embedding_to_archive(const dkm_embedding *e, dkm_fitted_kernel_names names,
                                    dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(e->fitted.ctx, embedding_name_entries(e, names, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(&e->fitted, archive, "components", e->W));
out:
    return status;
}

/* A copy of the numbers of a part; a count of -1 takes as many as there are. */
static dkm_local embedding_copy_reals(const dkm_archive *archive, const char *name, dkm_idx *count,
                                      double **copy)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *values;
    dkm_idx found = 0;

    DKM_STEP(dkm_archive_reals(archive, name, &found, &values));
    if (*count >= 0 && found != *count)
        DKM_STEP(dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                          "the model's part '%s' has %lld numbers, not %lld", name,
                          (long long)found, (long long)*count));
    DKM_STEP(dkm_alloc(archive->ctx, found, copy));
    memcpy(*copy, values, (size_t)found * sizeof *values);
    *count = found;
out:
    return local;
}

dkm_status dkm_embedding_from_archive(dkm_embedding *e, const dkm_fitted_kernel *other,
                                      dkm_fitted_kernel_names names, dkm_archive *archive,
                                      const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = archive->ctx;
    dkm_idx m;

    *e = (dkm_embedding){.p = -1};
    DKM_TRY(dkm_fitted_kernel_from_archive(&e->fitted, other, names, archive, layout));
    m = dkm_data_rows(e->fitted.X);
    DKM_AGREE(ctx, embedding_copy_reals(archive, "eigenvalues", &e->p, &e->values));
    DKM_AGREE(ctx, dkm_embedding_check_rank(ctx, e->p));
    DKM_AGREE(ctx, embedding_copy_reals(archive, "means", &m, &e->means));
    if (dkm_archive_find(archive, "center"))
        DKM_AGREE(ctx, embedding_copy_reals(archive, "center", &m, &e->center));
    DKM_TRY(dkm_fitted_kernel_take_matrix(&e->fitted, archive, "components", m, e->p, &e->W));
out:
    return status;
}
