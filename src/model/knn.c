#include <dkmap/knn.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "model/base.h"
#include "model/model_impl.h"

typedef struct knn {
    dkm_base base;
    dkm_data *Y;
    dkm_idx k;
    double *selves; /* k(x_i, x_i) of all training inputs, on every rank */
} knn;

static void destroy(void *state)
{
    knn *s = state;

    DKM_FREE(s->selves);
    dkm_data_destroy(&s->Y);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx k)
{
    dkm_type type = dkm_data_type(Y);

    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    if (k < 1 || k > dkm_data_rows(X))
        return dkm_fail(ctx, DKM_ERR_ARG, "k = %lld neighbours of %lld examples: take 1 to %lld",
                        (long long)k, (long long)dkm_data_rows(X), (long long)dkm_data_rows(X));
    if (k > 1 && type != DKM_DENSE && type != DKM_LABELS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "outputs that are %s cannot be averaged: use one neighbour (k = 1)",
                        dkm_type_name(type));
    return DKM_LOCAL_OK;
}

/* k(x_i, x_i) of all training inputs, gathered. */
static dkm_status gather_selves(knn *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx m = dkm_data_rows(s->base.X);

    DKM_AGREE(ctx, dkm_calloc(ctx, m, &s->selves));
    DKM_TRY(dkm_kernel_selves(s->base.prepared, s->selves + dkm_data_local_first(s->base.X)));
    MPI_Allreduce(MPI_IN_PLACE, s->selves, (int)m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
out:
    return status;
}

dkm_status dkm_knn_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kernel,
                       const dkm_knn_settings *settings, dkm_model **model)
{
    dkm_status status = DKM_OK;
    knn *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, check_fit(ctx, *X, *Y, settings->k));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->k = settings->k;
    s->Y = *Y;
    *Y = NULL;
    DKM_TRY(dkm_base_open(&s->base, ctx, X, dkm_kernel_text(kernel), &settings->layout));
    DKM_TRY(gather_selves(s));
    status =
        dkm_model_wrap(ctx, &dkm_method_knn, s, dkm_data_type(s->Y), dkm_data_cols(s->Y), model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    return status;
}

/* The k nearest of a row of kernel values, nearest first, ties to the lowest index. */
static void find_nearest(const knn *s, const double *row, dkm_idx *nearest, double *distance)
{
    dkm_idx m = dkm_data_rows(s->base.X), count = 0;

    for (dkm_idx i = 0; i < m; i++) {
        double d = s->selves[i] - 2.0 * row[i];
        dkm_idx at = count < s->k ? count++ : s->k - 1;
        if (at == s->k - 1 && i >= s->k && !(d < distance[at]))
            continue;
        for (; at > 0 && d < distance[at - 1]; at--) {
            distance[at] = distance[at - 1];
            nearest[at] = nearest[at - 1];
        }
        distance[at] = d;
        nearest[at] = i;
    }
}

/* Indices of the neighbours of this rank's new inputs, k each. */
static dkm_status neighbours(knn *s, const dkm_data *X, dkm_idx *nearest)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx m = dkm_data_rows(s->base.X), n = dkm_data_local_rows(X);
    double *rows = NULL, *distance = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_base_cross(&s->base, X, &K));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * m, &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->k, &distance));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    for (dkm_idx i = 0; i < n; i++)
        find_nearest(s, rows + i * m, nearest + i * s->k, distance);
out:
    dkm_dmat_destroy(&K);
    DKM_FREE(distance);
    DKM_FREE(rows);
    return status;
}

/* The label with most votes; the nearer one of those with as many. */
static double vote(const double *labels, dkm_idx k)
{
    dkm_idx best = 0, most = 0;

    for (dkm_idx a = 0; a < k; a++) {
        dkm_idx votes = 0;
        for (dkm_idx b = 0; b < k; b++)
            votes += labels[b] == labels[a];
        if (votes > most) {
            most = votes;
            best = a;
        }
    }
    return labels[best];
}

/* One output of each k consecutive rows: their mean, or their vote. */
static dkm_status combine(const knn *s, dkm_idx rows, const dkm_objs *got, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(s->Y), k = s->k;
    int labels = dkm_data_type(s->Y) == DKM_LABELS;
    double *out;

    DKM_TRY(labels ? dkm_data_create_labels(s->base.ctx, rows, Y)
                   : dkm_data_create_dense(s->base.ctx, rows, d, Y));
    out = dkm_data_values(*Y);
    for (dkm_idx i = 0; i < got->n / k; i++) {
        const double *first = got->values + i * k * d;
        for (dkm_idx j = 0; labels ? j < 1 : j < d; j++) {
            double sum = 0;
            for (dkm_idx b = 0; b < k; b++)
                sum += first[b * d + j];
            out[i * d + j] = labels ? vote(first, k) : sum / (double)k;
        }
    }
out:
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    knn *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->base.ctx;
    dkm_idx n = dkm_data_local_rows(X), *nearest = NULL;
    dkm_objs got = {0};

    *Y = NULL;
    dkm_phase_begin(ctx, "predict");
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->k, &nearest));
    DKM_TRY(neighbours(s, X, nearest));
    DKM_TRY(dkm_data_fetch(s->Y, n * s->k, nearest, &got));
    if (s->k == 1)
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(X), &got, Y));
    else
        DKM_TRY(combine(s, dkm_data_rows(X), &got, Y));
out:
    dkm_phase_end(ctx);
    dkm_objs_clear(&got);
    DKM_FREE(nearest);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const knn *s = state;

    /* the kernel values are held twice, block-cyclic and by rows */
    return dkm_base_stretch(&s->base, dkm_data_rows(s->base.X) + s->k * dkm_data_cols(s->Y));
}

static dkm_local name_parts(knn *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_base_to_bundle(&s->base, dkm_input_names, bundle));
    DKM_STEP(dkm_bundle_lend_data(bundle, dkm_output_names.objects, s->Y));
    DKM_STEP(dkm_bundle_put_real(bundle, "k", (double)s->k));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    knn *s = state;

    return dkm_agree(s->base.ctx, name_parts(s, bundle));
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    double k = 0;
    knn *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_AGREE(ctx, dkm_bundle_real(bundle, "k", &k));
    DKM_AGREE(ctx, dkm_bundle_take_data(bundle, dkm_output_names.objects, &s->Y));
    s->k = (dkm_idx)k;
    DKM_TRY(dkm_base_from_bundle(&s->base, NULL, dkm_input_names, bundle, layout));
    DKM_AGREE(ctx, check_fit(ctx, s->base.X, s->Y, s->k));
    DKM_TRY(gather_selves(s));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_knn = {.name = "knn",
                                   .predict = predict,
                                   .stretch = stretch,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = destroy};
