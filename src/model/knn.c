#include <dkmap/knn.h>

#include "core/alloc.h"
#include "core/same.h"
#include "model/model_impl.h"
#include "model/nearest.h"
#include "model/neighbours.h"

typedef struct knn {
    dkm_neighbours in, out; /* inputs and, where they have a kernel, outputs */
    dkm_data *Y;            /* outputs without a kernel */
    dkm_idx k;
    dkm_idx top; /* training outputs to list, or 0 */
} knn;

static const dkm_data *outputs(const knn *s)
{
    return s->Y ? s->Y : s->out.base.X;
}

static void destroy(void *state)
{
    knn *s = state;

    dkm_neighbours_close(&s->out);
    dkm_neighbours_close(&s->in);
    dkm_data_destroy(&s->Y);
    dkm_free_block(s);
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx k,
                           int has_kernel)
{
    dkm_type type = dkm_data_type(Y);

    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    if (k < 1 || k > dkm_data_rows(X))
        return dkm_fail(ctx, DKM_ERR_ARG, "k = %lld neighbours of %lld examples: take 1 to %lld",
                        (long long)k, (long long)dkm_data_rows(X), (long long)dkm_data_rows(X));
    if (k > 1 && !has_kernel && type != DKM_DENSE && type != DKM_LABELS)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "outputs that are %s are averaged in the space of a kernel: give one (ky), "
                        "or use one neighbour (k = 1)",
                        dkm_type_name(type));
    return DKM_LOCAL_OK;
}

dkm_status dkm_knn_fit(dkm_ctx *ctx, dkm_data **X, dkm_data **Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_knn_settings *settings, dkm_model **model)
{
    dkm_status status = DKM_OK;
    knn *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, check_fit(ctx, *X, *Y, settings->k, ky != NULL));
    DKM_SAME(ctx, settings->k);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->k = settings->k;
    DKM_TRY(dkm_base_open(&s->in.base, ctx, X, dkm_kernel_text(kx), &settings->layout));
    DKM_TRY(dkm_neighbours_ready(&s->in));
    if (ky) {
        DKM_TRY(dkm_base_open_beside(&s->out.base, &s->in.base, Y, dkm_kernel_text(ky)));
        DKM_TRY(dkm_neighbours_ready(&s->out));
    } else {
        s->Y = *Y;
        *Y = NULL;
    }
    status = dkm_model_wrap(ctx, &dkm_method_knn, s, dkm_data_type(outputs(s)),
                            dkm_data_cols(outputs(s)), model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        destroy(s);
    return status;
}

/* Indices of the neighbours of this rank's new inputs, k each. */
static dkm_status find_neighbours(knn *s, const dkm_data *X, dkm_idx *nearest)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.base.ctx;
    dkm_idx m = dkm_data_rows(s->in.base.X), n = dkm_data_local_rows(X);
    double *rows = NULL, *distance = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->k, &distance));
    DKM_TRY(dkm_neighbours_add(&s->in, X, 1.0, rows));
    dkm_neighbours_pick(&s->in, n, rows, s->k, nearest, distance);
out:
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
    dkm_idx d = dkm_data_cols(outputs(s)), k = s->k;
    int labels = dkm_data_type(outputs(s)) == DKM_LABELS;
    double *out;

    DKM_TRY(labels ? dkm_data_create_labels(s->in.base.ctx, rows, Y)
                   : dkm_data_create_dense(s->in.base.ctx, rows, d, Y));
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

/* Outputs of the neighbours as they are, or averaged. */
static dkm_status predict_plain(knn *s, const dkm_data *X, const dkm_idx *nearest, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(outputs(s), dkm_data_local_rows(X) * s->k, nearest, &got));
    if (s->k == 1)
        DKM_TRY(dkm_data_wrap(s->in.base.ctx, dkm_data_rows(X), &got, Y));
    else
        DKM_TRY(combine(s, dkm_data_rows(X), &got, Y));
out:
    dkm_objs_clear(&got);
    return status;
}

/* rows(i, c) = (1/k) sum_j l(y_j, c) over the neighbours j of input i: one place of the lists of
 * neighbours at a time. */
static dkm_status average(knn *s, const dkm_data *X, const dkm_idx *nearest, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.base.ctx;
    dkm_idx n = dkm_data_local_rows(X), *at = NULL;
    dkm_data *Y = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &at));
    for (dkm_idx j = 0; j < s->k; j++) {
        for (dkm_idx i = 0; i < n; i++)
            at[i] = nearest[i * s->k + j];
        DKM_TRY(dkm_data_fetch(outputs(s), n, at, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(X), &got, &Y));
        DKM_TRY(dkm_neighbours_add(&s->out, Y, 1.0 / (double)s->k, rows));
        dkm_data_destroy(&Y);
    }
out:
    dkm_objs_clear(&got);
    dkm_data_destroy(&Y);
    DKM_FREE(at);
    return status;
}

/* Squared distances become whole: <p, p> of the mean p is the mean of its inner products with the
 * neighbours. */
static void add_squares(const knn *s, dkm_idx n, const dkm_idx *nearest, const double *rows,
                        dkm_idx top, double *distance)
{
    dkm_idx m = dkm_data_rows(outputs(s));

    for (dkm_idx i = 0; i < n; i++) {
        double square = 0.0;
        for (dkm_idx j = 0; j < s->k; j++)
            square += rows[i * m + nearest[i * s->k + j]] / (double)s->k;
        for (dkm_idx t = 0; t < top; t++)
            distance[i * top + t] += square;
    }
}

/* The training outputs nearest to the mean of the neighbours' outputs: the nearest itself, or a
 * list. */
static dkm_status predict_mean(knn *s, const dkm_data *X, const dkm_idx *nearest, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.base.ctx;
    dkm_idx n = dkm_data_local_rows(X), m = dkm_data_rows(outputs(s)), top = s->top ? s->top : 1;
    dkm_idx *index = NULL;
    double *rows = NULL, *distance = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &distance));
    DKM_TRY(average(s, X, nearest, rows));
    dkm_neighbours_pick(&s->out, n, rows, top, index, distance);
    if (s->top > 0) {
        add_squares(s, n, nearest, rows, top, distance);
        DKM_TRY(dkm_candidates_list(ctx, dkm_data_rows(X), top, index, distance, Y));
    } else {
        DKM_TRY(dkm_data_fetch(outputs(s), n, index, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(X), &got, Y));
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    DKM_FREE(rows);
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    knn *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.base.ctx;
    dkm_idx *nearest = NULL;

    *Y = NULL;
    dkm_phase_begin(ctx, "predict");
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X) * s->k, &nearest));
    DKM_TRY(find_neighbours(s, X, nearest));
    DKM_TRY(s->Y || (s->k == 1 && s->top == 0) ? predict_plain(s, X, nearest, Y)
                                               : predict_mean(s, X, nearest, Y));
out:
    dkm_phase_end(ctx);
    DKM_FREE(nearest);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const knn *s = state;

    /* kernel values are held twice by rows beside those that lie block-cyclic */
    return dkm_base_stretch(&s->in.base,
                            2 * dkm_data_rows(outputs(s)) + s->k * dkm_data_cols(outputs(s)));
}

static dkm_local check_preimage(const knn *s, const dkm_preimage_settings *settings)
{
    dkm_ctx *ctx = s->in.base.ctx;

    if (s->Y && (settings->method != DKM_PREIMAGE_AUTO || settings->candidates || settings->top))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "a model of knn has pre-images where its outputs have a kernel: fit it "
                        "with one (ky)");
    if (settings->candidates ||
        (settings->method != DKM_PREIMAGE_AUTO && settings->method != DKM_PREIMAGE_CANDIDATES))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "a model of knn predicts the nearest of its training outputs (candidates)");
    if (settings->top > dkm_data_rows(outputs(s)))
        return dkm_fail(ctx, DKM_ERR_ARG, "the best %lld of %lld candidates cannot be listed",
                        (long long)settings->top, (long long)dkm_data_rows(outputs(s)));
    return DKM_LOCAL_OK;
}

static dkm_status configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                            dkm_idx *cols)
{
    knn *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->in.base.ctx, check_preimage(s, settings));
    s->top = settings->top;
    *type = s->top > 0 ? DKM_DENSE : dkm_data_type(outputs(s));
    *cols = s->top > 0 ? 2 * s->top : dkm_data_cols(outputs(s));
out:
    return status;
}

static dkm_local name_parts(knn *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_base_to_bundle(&s->in.base, dkm_input_names, bundle));
    if (s->Y)
        DKM_STEP(dkm_bundle_lend_data(bundle, dkm_output_names.objects, s->Y));
    else
        DKM_STEP(dkm_base_to_bundle(&s->out.base, dkm_output_names, bundle));
    DKM_STEP(dkm_bundle_put_real(bundle, "k", (double)s->k));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    knn *s = state;

    return dkm_agree(s->in.base.ctx, name_parts(s, bundle));
}

static dkm_status take_outputs(knn *s, dkm_bundle *bundle, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    if (dkm_bundle_find(bundle, dkm_output_names.kernel)) {
        DKM_TRY(dkm_base_from_bundle(&s->out.base, &s->in.base, dkm_output_names, bundle, layout));
        DKM_TRY(dkm_neighbours_ready(&s->out));
    } else {
        DKM_AGREE(bundle->ctx, dkm_bundle_take_data(bundle, dkm_output_names.objects, &s->Y));
    }
out:
    return status;
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
    s->k = (dkm_idx)k;
    DKM_TRY(dkm_base_from_bundle(&s->in.base, NULL, dkm_input_names, bundle, layout));
    DKM_TRY(dkm_neighbours_ready(&s->in));
    DKM_TRY(take_outputs(s, bundle, layout));
    DKM_AGREE(ctx, check_fit(ctx, s->in.base.X, outputs(s), s->k, s->Y == NULL));
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
                                   .configure = configure,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = destroy};
