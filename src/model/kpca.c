/* Beside the training objects the model keeps W = V diag(l)^-1/2 and the means of the rows of K:
 * the coordinates of new objects are their centred kernel values times W. */
#include <dkmap/kpca.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "model/base.h"
#include "model/model_impl.h"
#include "scalapack/linalg.h"

typedef struct kpca {
    dkm_base base;
    dkm_idx p;
    double *values; /* p eigenvalues */
    double *means;  /* m means of the rows of K */
    dkm_dmat *W;    /* m x p */
} kpca;

dkm_kpca_settings dkm_kpca_settings_default(void)
{
    return (dkm_kpca_settings){.eigen = dkm_eigen_settings_default()};
}

static void destroy(void *state)
{
    kpca *s = state;

    dkm_dmat_destroy(&s->W);
    dkm_eigen_values_free(&s->values);
    DKM_FREE(s->means);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

static dkm_local check_inputs(dkm_ctx *ctx, const dkm_data *X)
{
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    return DKM_LOCAL_OK;
}

/* Elements of the kernel matrix on this rank, twice: the full eigensolve may need that. */
static dkm_status check_memory(const dkm_base *base)
{
    dkm_idx m = dkm_data_rows(base->X);
    const dkm_grid *g = base->grid;
    double held = (double)dkm_cyclic_count(m, base->nb, dkm_grid_row(g), dkm_grid_rows(g)) *
                  (double)dkm_cyclic_count(m, base->nb, dkm_grid_col(g), dkm_grid_cols(g));

    return dkm_memory_check(base->ctx, held * sizeof(double), "the kernel matrix");
}

/* W = V diag(l)^-1/2 from the eigenvectors in slabs, which are overwritten. */
static dkm_status scale_vectors(kpca *s, dkm_data *vectors)
{
    dkm_status status = DKM_OK;
    double *v = dkm_data_values(vectors);

    for (dkm_idx i = 0; i < dkm_data_local_rows(vectors); i++)
        for (dkm_idx j = 0; j < s->p; j++)
            v[i * s->p + j] /= sqrt(s->values[j]);
    DKM_TRY(dkm_dmat_create(s->base.grid, dkm_data_rows(vectors), s->p, s->base.nb, s->base.nb,
                            DKM_F64, &s->W));
    DKM_TRY(dkm_dmat_from_rows(s->W, v));
out:
    return status;
}

static dkm_local check_rank(dkm_ctx *ctx, dkm_idx p)
{
    if (p == 0)
        return dkm_fail(ctx, DKM_ERR_NUMERIC,
                        "the centred kernel matrix is zero: all objects look alike to this kernel");
    return DKM_LOCAL_OK;
}

static dkm_status decompose(kpca *s, const dkm_eigen_settings *settings, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(check_memory(&s->base));
    DKM_TRY(dkm_gram(s->base.grid, s->base.kernel, s->base.prepared, s->base.nb, DKM_F64, &K));
    DKM_AGREE(ctx, dkm_calloc(ctx, dkm_dmat_rows(K), &s->means));
    DKM_TRY(dkm_eigen_leading(K, settings, &s->values, &vectors, s->means, info));
    s->p = info->components;
    DKM_AGREE(ctx, check_rank(ctx, s->p));
    DKM_TRY(scale_vectors(s, vectors));
out:
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    return status;
}

static void describe(const kpca *s, const dkm_eigen_info *eigen, dkm_kpca_info *info)
{
    if (info)
        *info = (dkm_kpca_info){.m = dkm_data_rows(s->base.X),
                                .P = dkm_grid_rows(s->base.grid),
                                .Q = dkm_grid_cols(s->base.grid),
                                .block = s->base.nb,
                                .eigen = *eigen};
}

dkm_status dkm_kpca_fit(dkm_ctx *ctx, dkm_data **X, const dkm_kernel *kernel,
                        const dkm_kpca_settings *settings, dkm_model **model, dkm_kpca_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings eigen = settings->eigen;
    dkm_eigen_info found;
    kpca *s = NULL;

    *model = NULL;
    eigen.center = 1;
    DKM_AGREE(ctx, check_inputs(ctx, *X));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_open(&s->base, ctx, X, dkm_kernel_text(kernel), &settings->layout));
    DKM_TRY(decompose(s, &eigen, &found));
    describe(s, &found, info);
    status = dkm_model_wrap(ctx, &dkm_method_kpca, s, DKM_DENSE, s->p, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    return status;
}

static dkm_status encode(void *state, const dkm_data *X, dkm_data **Z)
{
    kpca *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *C = NULL;

    *Z = NULL;
    dkm_phase_begin(s->base.ctx, "encode");
    DKM_TRY(dkm_base_cross(&s->base, X, &K));
    DKM_TRY(dkm_gram_center_new(K, s->means));
    DKM_TRY(dkm_dmat_create_beside(K, s->p, s->base.nb, DKM_F64, &C));
    dkm_la_gemm('N', 'N', 1.0, K, s->W, 0.0, C);
    DKM_TRY(dkm_data_create_dense(s->base.ctx, dkm_data_rows(X), s->p, Z));
    DKM_TRY(dkm_dmat_to_rows(C, dkm_data_values(*Z)));
out:
    dkm_phase_end(s->base.ctx);
    if (status != DKM_OK)
        dkm_data_destroy(Z);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&C);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const kpca *s = state;

    return dkm_base_stretch(&s->base, s->p);
}

static dkm_local name_parts(const kpca *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_base_to_bundle(&s->base, bundle));
    DKM_STEP(dkm_bundle_put_reals(bundle, "eigenvalues", s->p, s->values));
    DKM_STEP(dkm_bundle_put_reals(bundle, "means", dkm_data_rows(s->base.X), s->means));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    kpca *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->base.ctx, name_parts(s, bundle));
    DKM_TRY(dkm_base_put_matrix(&s->base, bundle, "components", s->W));
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
                          "the model's part '%s' has %lld numbers, "
                          "not %lld",
                          name, (long long)found, (long long)*count));
    DKM_STEP(dkm_alloc(bundle->ctx, found, copy));
    memcpy(*copy, values, (size_t)found * sizeof *values);
    *count = found;
out:
    return local;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_idx m;
    kpca *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_TRY(dkm_base_from_bundle(&s->base, ctx, bundle, layout));
    m = dkm_data_rows(s->base.X);
    s->p = -1;
    DKM_AGREE(ctx, copy_reals(bundle, "eigenvalues", &s->p, &s->values));
    DKM_AGREE(ctx, copy_reals(bundle, "means", &m, &s->means));
    DKM_TRY(dkm_base_take_matrix(&s->base, bundle, "components", m, s->p, &s->W));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_kpca = {.name = "kpca",
                                    .predict = encode,
                                    .stretch = stretch,
                                    .to_bundle = to_bundle,
                                    .from_bundle = from_bundle,
                                    .destroy = destroy};
