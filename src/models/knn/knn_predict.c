/* Predictions of the k nearest neighbors: their output, mean, vote, or the training output
 * nearest to their mean in the feature space of the output kernel l,
 *
 *     argmin_c  l(y_c, y_c) - (2 / k) sum_j l(y_j, y_c).
 *
 * Cost of n inputs: n m kernel values over all ranks and a selection of k per row
 * (neighbors.c); with an output kernel n m k more additions. Held: rows of a batch of inputs,
 * its share of n m numbers. */
#include "models/knn/knn_impl.h"

#include "core/alloc.h"
#include "search/topk.h"

/* Indices of the neighbors of this rank's new inputs, k each. */
dkm_status dkm_knn_neighbors(dkm_knn *s, const dkm_data *X, dkm_idx *nearest)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx m = dkm_data_rows(s->in.fitted.X), n = dkm_data_local_rows(X);
    double *rows = NULL, *distance = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->k, &distance));
    DKM_TRY(dkm_neighbors_add(&s->in, X, 1.0, rows));
    dkm_neighbors_pick(&s->in, n, rows, s->k, nearest, distance);
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
static dkm_status knn_predict_combine(const dkm_knn *s, dkm_idx rows, const dkm_objs *got,
                                      dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(dkm_knn_outputs(s)), k = s->k;
    int labels = dkm_data_type(dkm_knn_outputs(s)) == DKM_LABELS;
    double *out;

    DKM_TRY(labels ? dkm_data_create_labels(s->in.fitted.ctx, rows, Y)
                   : dkm_data_create_dense(s->in.fitted.ctx, rows, d, Y));
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

/* Outputs of the neighbors as they are, or averaged. */
static dkm_status predict_plain(dkm_knn *s, const dkm_data *X, const dkm_idx *nearest, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(dkm_knn_outputs(s), dkm_data_local_rows(X) * s->k, nearest, &got));
    if (s->k == 1)
        DKM_TRY(dkm_data_wrap(s->in.fitted.ctx, dkm_data_rows(X), &got, Y));
    else
        DKM_TRY(knn_predict_combine(s, dkm_data_rows(X), &got, Y));
out:
    dkm_objs_clear(&got);
    return status;
}

/* rows(i, c) = (1/k) sum_j l(y_j, c) over the neighbors j of input i: one place of the lists of
 * neighbors at a time. */
dkm_status dkm_knn_average(dkm_knn *s, const dkm_data *X, const dkm_idx *nearest, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), *at = NULL;
    dkm_data *Y = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &at));
    for (dkm_idx j = 0; j < s->k; j++) {
        for (dkm_idx i = 0; i < n; i++)
            at[i] = nearest[i * s->k + j];
        DKM_TRY(dkm_data_fetch(dkm_knn_outputs(s), n, at, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(X), &got, &Y));
        DKM_TRY(dkm_neighbors_add(&s->out, Y, 1.0 / (double)s->k, rows));
        dkm_data_destroy(&Y);
    }
out:
    dkm_objs_clear(&got);
    dkm_data_destroy(&Y);
    DKM_FREE(at);
    return status;
}

/* Squared distances are completed: <p, p> of the mean p is the mean of its inner products with the
 * neighbors. */
static void knn_predict_add_squares(const dkm_knn *s, dkm_idx n, const dkm_idx *nearest,
                                    const double *rows, dkm_idx top, double *distance)
{
    dkm_idx m = dkm_data_rows(dkm_knn_outputs(s));

    for (dkm_idx i = 0; i < n; i++) {
        double square = 0.0;
        for (dkm_idx j = 0; j < s->k; j++)
            square += rows[i * m + nearest[i * s->k + j]] / (double)s->k;
        for (dkm_idx t = 0; t < top; t++)
            distance[i * top + t] += square;
    }
}

/* The training outputs nearest to the mean of the neighbors' outputs: the nearest itself, or a
 * list. */
static dkm_status predict_mean(dkm_knn *s, const dkm_data *X, const dkm_idx *nearest, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx n = dkm_data_local_rows(X), m = dkm_data_rows(dkm_knn_outputs(s)),
            top = s->top ? s->top : 1;
    dkm_idx *index = NULL;
    double *rows = NULL, *distance = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_calloc(ctx, n * m, &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &distance));
    DKM_TRY(dkm_knn_average(s, X, nearest, rows));
    dkm_neighbors_pick(&s->out, n, rows, top, index, distance);
    if (s->top > 0) {
        knn_predict_add_squares(s, n, nearest, rows, top, distance);
        DKM_TRY(dkm_candidates_list(ctx, dkm_data_rows(X), top, index, distance, Y));
    } else {
        DKM_TRY(dkm_data_fetch(dkm_knn_outputs(s), n, index, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(X), &got, Y));
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    DKM_FREE(rows);
    return status;
}

dkm_status dkm_knn_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_knn *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->in.fitted.ctx;
    dkm_idx *nearest = NULL;

    *Y = NULL;
    dkm_phase_begin(ctx, "predict");
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X) * s->k, &nearest));
    DKM_TRY(dkm_knn_neighbors(s, X, nearest));
    DKM_TRY(s->Y || (s->k == 1 && s->top == 0) ? predict_plain(s, X, nearest, Y)
                                               : predict_mean(s, X, nearest, Y));
out:
    dkm_phase_end(ctx);
    DKM_FREE(nearest);
    return status;
}
