#include "model/embedding.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "scalapack/linalg.h"

void dkm_embedding_close(dkm_embedding *e)
{
    dkm_dmat_destroy(&e->W);
    dkm_eigen_values_free(&e->values);
    DKM_FREE(e->means);
    DKM_FREE(e->center);
    dkm_base_close(&e->base);
}

static dkm_status check_memory(const dkm_base *base)
{
    dkm_idx m = dkm_data_rows(base->X);
    const dkm_grid *g = base->grid;
    double held = (double)dkm_cyclic_count(m, base->nb, dkm_grid_row(g), dkm_grid_rows(g)) *
                  (double)dkm_cyclic_count(m, base->nb, dkm_grid_col(g), dkm_grid_cols(g));

    return dkm_memory_check(base->ctx, held * sizeof(double), "the kernel matrix");
}

/* V <- H V. Eigenvectors of a centred matrix add up to zero; what rounding leaves of their sums,
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

/* W = V diag(l)^-1/2 from the eigenvectors in slabs, which are overwritten. */
static dkm_status scale_vectors(dkm_embedding *e, dkm_data *vectors)
{
    dkm_status status = DKM_OK;
    double *v = dkm_data_values(vectors);

    for (dkm_idx i = 0; i < dkm_data_local_rows(vectors); i++)
        for (dkm_idx j = 0; j < e->p; j++)
            v[i * e->p + j] /= sqrt(e->values[j]);
    DKM_TRY(dkm_dmat_create(e->base.grid, dkm_data_rows(vectors), e->p, e->base.nb, e->base.nb,
                            DKM_F64, &e->W));
    DKM_TRY(dkm_dmat_from_rows(e->W, v));
out:
    return status;
}

dkm_local dkm_embedding_check_rank(dkm_ctx *ctx, dkm_idx p)
{
    if (p == 0)
        return dkm_fail(ctx, DKM_ERR_NUMERIC,
                        "the centred kernel matrix is zero: all objects look alike to this kernel");
    return DKM_LOCAL_OK;
}

dkm_status dkm_embedding_fit(dkm_embedding *e, const dkm_eigen_settings *settings,
                             dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &e->base;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(check_memory(base));
    DKM_TRY(dkm_gram(base->grid, base->kernel, base->prepared, base->nb, DKM_F64, &K));
    DKM_AGREE(base->ctx, dkm_calloc(base->ctx, dkm_dmat_rows(K), &e->means));
    DKM_TRY(dkm_eigen_leading(K, settings, &e->values, &vectors, e->means, info));
    e->p = info->components;
    DKM_AGREE(base->ctx, dkm_embedding_check_rank(base->ctx, e->p));
    DKM_TRY(center_vectors(vectors));
    DKM_TRY(scale_vectors(e, vectors));
out:
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    return status;
}

double dkm_embedding_weight(const dkm_embedding *e, dkm_idx i)
{
    return e->center ? e->center[i] : 1.0 / (double)dkm_data_rows(e->base.X);
}

static double weight_of(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)jg;
    return dkm_embedding_weight(user, ig);
}

double dkm_embedding_grand_mean(const dkm_embedding *e)
{
    dkm_idx m = dkm_data_rows(e->base.X);
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

/* norms[i] = k(x, x) - 2 mean_j k(x, x_j) + grand mean, from the rows of K before centring. */
static dkm_status find_norms(const dkm_embedding *e, const dkm_data *X, const dkm_dmat *K,
                             double *norms)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->base.ctx;
    double *row_means = NULL, grand = dkm_embedding_grand_mean(e);
    dkm_prepared *prepared = NULL;
    dkm_dmat *one = NULL, *mean = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &row_means));
    DKM_TRY(dkm_dmat_create(e->base.grid, K->n, 1, K->nb, 1, DKM_F64, &one));
    DKM_TRY(dkm_dmat_create_beside(K, 1, 1, DKM_F64, &mean));
    dkm_dmat_fill(one, weight_of, (void *)(uintptr_t)e);
    dkm_la_gemm('N', 'N', 1.0, K, one, 0.0, mean);
    DKM_TRY(dkm_dmat_to_rows(mean, row_means));
    DKM_TRY(dkm_kernel_prepare_new(e->base.prepared, X, &prepared));
    DKM_TRY(dkm_kernel_selves(prepared, norms));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        norms[i] += grand - 2.0 * row_means[i];
out:
    dkm_prepared_destroy(&prepared);
    dkm_dmat_destroy(&one);
    dkm_dmat_destroy(&mean);
    DKM_FREE(row_means);
    return status;
}

/* Rows of coordinates of objects few enough for their kernel values to be held at once. */
static dkm_status encode_stretch(dkm_embedding *e, const dkm_data *X, double *rows, double *norms)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *C = NULL;

    DKM_TRY(dkm_base_cross(&e->base, X, &K));
    if (norms)
        DKM_TRY(find_norms(e, X, K, norms));
    if (e->center)
        dkm_dmat_add_row(K, -1.0, e->means);
    else
        DKM_TRY(dkm_gram_center_new(K, e->means));
    DKM_TRY(dkm_dmat_create_beside(K, e->p, e->base.nb, DKM_F64, &C));
    dkm_la_gemm('N', 'N', 1.0, K, e->W, 0.0, C);
    DKM_TRY(dkm_dmat_to_rows(C, rows));
out:
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&C);
    return status;
}

dkm_idx dkm_own_stretches(const dkm_data *X, dkm_idx first, dkm_idx each, dkm_idx *wanted)
{
    int size = dkm_ctx_size(dkm_data_ctx(X));
    dkm_idx m = dkm_data_rows(X), count = 0;

    for (int r = 0; r < size; r++) {
        dkm_idx start = dkm_slab_first(m, r, size) + first, end = dkm_slab_first(m, r + 1, size);
        for (dkm_idx i = start; i < end && i < start + each; i++)
            wanted[count++] = i;
    }
    return count;
}

dkm_status dkm_embedding_encode(dkm_embedding *e, const dkm_data *X, dkm_data **Z, double *norms)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->base.ctx;
    dkm_idx size = dkm_ctx_size(ctx), longest = dkm_slab_count(dkm_data_rows(X), 0, (int)size);
    dkm_idx each = dkm_base_stretch(&e->base, e->p) / size + 1, *wanted = NULL, first = 0;
    dkm_data *found = NULL, *part = NULL;

    *Z = NULL;
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), e->p, &found));
    DKM_AGREE(ctx, dkm_alloc(ctx, (each < longest ? each : longest) * size, &wanted));
    do {
        dkm_idx count = dkm_own_stretches(X, first, each, wanted);
        DKM_TRY(dkm_data_select(X, count, wanted, &part));
        DKM_TRY(encode_stretch(e, part, dkm_data_values(found) + first * e->p,
                               norms ? norms + first : NULL));
        dkm_data_destroy(&part);
        first += each;
    } while (first < longest);
    *Z = found;
    found = NULL;
out:
    dkm_data_destroy(&part);
    DKM_FREE(wanted);
    dkm_data_destroy(&found);
    return status;
}

/* Landmarks are encoded as any objects are: their coordinates are no eigenvectors. */
static dkm_status encode_landmarks(const dkm_embedding *e, dkm_data **Z, double *norms)
{
    return dkm_embedding_encode((dkm_embedding *)(uintptr_t)e, e->base.X, Z, norms);
}

static dkm_status landmark_coordinates(const dkm_embedding *e, dkm_dmat **Z)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    DKM_TRY(encode_landmarks(e, &rows, NULL));
    DKM_TRY(dkm_dmat_create_beside(e->W, e->p, e->base.nb, DKM_F64, Z));
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
    dkm_idx first = dkm_data_local_first(e->base.X);
    dkm_data *Z = NULL;

    if (e->center) {
        DKM_TRY(encode_landmarks(e, &Z, norms));
        goto out;
    }
    DKM_TRY(dkm_kernel_selves(e->base.prepared, norms));
    for (dkm_idx i = 0; i < dkm_data_local_rows(e->base.X); i++)
        norms[i] += grand - 2.0 * e->means[first + i];
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_local name_parts(const dkm_embedding *e, dkm_base_names names, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_base_to_bundle(&e->base, names, bundle));
    DKM_STEP(dkm_bundle_put_reals(bundle, "eigenvalues", e->p, e->values));
    DKM_STEP(dkm_bundle_put_reals(bundle, "means", dkm_data_rows(e->base.X), e->means));
    if (e->center)
        DKM_STEP(dkm_bundle_put_reals(bundle, "center", dkm_data_rows(e->base.X), e->center));
out:
    return local;
}

dkm_status dkm_embedding_to_bundle(const dkm_embedding *e, dkm_base_names names, dkm_bundle *bundle)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(e->base.ctx, name_parts(e, names, bundle));
    DKM_TRY(dkm_base_put_matrix(&e->base, bundle, "components", e->W));
out:
    return status;
}

/* A copy of the numbers of a part; a count of -1 takes as many as there are. */
static dkm_local copy_reals(const dkm_bundle *bundle, const char *name, dkm_idx *count,
                            double **copy)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *values;
    dkm_idx found = 0;

    DKM_STEP(dkm_bundle_reals(bundle, name, &found, &values));
    if (*count >= 0 && found != *count)
        DKM_STEP(dkm_fail(bundle->ctx, DKM_ERR_FORMAT,
                          "the model's part '%s' has %lld numbers, not %lld", name,
                          (long long)found, (long long)*count));
    DKM_STEP(dkm_alloc(bundle->ctx, found, copy));
    memcpy(*copy, values, (size_t)found * sizeof *values);
    *count = found;
out:
    return local;
}

dkm_status dkm_embedding_from_bundle(dkm_embedding *e, const dkm_base *other, dkm_base_names names,
                                     dkm_bundle *bundle, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = bundle->ctx;
    dkm_idx m;

    *e = (dkm_embedding){.p = -1};
    DKM_TRY(dkm_base_from_bundle(&e->base, other, names, bundle, layout));
    m = dkm_data_rows(e->base.X);
    DKM_AGREE(ctx, copy_reals(bundle, "eigenvalues", &e->p, &e->values));
    DKM_AGREE(ctx, dkm_embedding_check_rank(ctx, e->p));
    DKM_AGREE(ctx, copy_reals(bundle, "means", &m, &e->means));
    if (dkm_bundle_find(bundle, "center"))
        DKM_AGREE(ctx, copy_reals(bundle, "center", &m, &e->center));
    DKM_TRY(dkm_base_take_matrix(&e->base, bundle, "components", m, e->p, &e->W));
out:
    return status;
}
