#include "models/common/example_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/arrays.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "data/objects.h"
#include "kernels/evaluation/kernel_impl.h"
#include "matrix/dmat_impl.h"

static dkm_local check_numbers(dkm_ctx *ctx, const char *file, int zeros, const dkm_data *W)
{
    const dkm_objs *w = &W->mine;

    for (dkm_idx i = 0; i < w->n; i++)
        if (!(w->values[i] > 0 || (zeros && w->values[i] == 0)) || isinf(w->values[i]))
            return dkm_fail(ctx, DKM_ERR_ARG,
                            "%s: row %lld has the weight %g: weights are finite numbers above 0; "
                            "leave rows out that do not count",
                            file, (long long)(W->first + i) + 1, w->values[i]);
    return DKM_LOCAL_OK;
}

/* Numbers of the setting "weights", a copy. */
static dkm_status read_column(dkm_ctx *ctx, const dkm_settings *s, dkm_idx m, int zeros,
                              dkm_data **weights)
{
    const char *file = dkm_settings_text(s, "weights");
    const dkm_data *given = NULL;
    dkm_status status = DKM_OK;
    dkm_data *own = NULL, *W = NULL;

    DKM_TRY(dkm_settings_data(ctx, s, "weights", "dense", &given, &own));
    if (!given)
        return DKM_OK;
    file = file ? file : "weights";
    DKM_REQUIRE(ctx, dkm_data_rows(given) == m, DKM_ERR_ARG,
                "%s has %lld weights, and there are %lld examples", file,
                (long long)dkm_data_rows(given), (long long)m);
    DKM_REQUIRE(ctx,
                (dkm_data_type(given) == DKM_DENSE || dkm_data_type(given) == DKM_LABELS) &&
                    (dkm_data_type(given) == DKM_LABELS || dkm_data_cols(given) == 1),
                DKM_ERR_ARG, "%s: weights are one column of numbers", file);
    DKM_AGREE(ctx, check_numbers(ctx, file, zeros, given));
    DKM_TRY(dkm_data_create_dense(ctx, m, 1, &W));
    for (dkm_idx i = 0; i < W->mine.n; i++)
        W->mine.values[i] = given->mine.values[i];
    *weights = W;
    W = NULL;
out:
    dkm_data_destroy(&W);
    dkm_data_destroy(&own);
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* How many of @p m sorted numbers are @p value. */
static dkm_idx count_of(const double *sorted, dkm_idx m, double value)
{
    dkm_idx low = 0, high = m, first;

    while (low < high) {
        dkm_idx middle = low + (high - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    first = low;
    for (high = m; low < high;) {
        dkm_idx middle = low + (high - low) / 2;
        if (sorted[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

/* w_i <- w_i m / (classes n(class of i)) */
static dkm_status weigh_classes(dkm_ctx *ctx, const dkm_data *Y, dkm_data *W)
{
    dkm_status status = DKM_OK;
    dkm_idx m = Y->m, classes = 0;
    double *sorted = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, m, &sorted));
    for (dkm_idx i = 0; i < Y->mine.n; i++)
        sorted[Y->first + i] = W->mine.values[i] > 0 ? Y->mine.values[i] : INFINITY;
    dkm_mpi_allreduce(sorted, m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    qsort(sorted, (size_t)m, sizeof *sorted, ascending);
    while (m > 0 && isinf(sorted[m - 1])) /* those that do not count */
        m--;
    for (dkm_idx i = 0; i < m; i++)
        classes += i == 0 || sorted[i] != sorted[i - 1];
    for (dkm_idx i = 0; i < Y->mine.n; i++)
        if (W->mine.values[i] > 0)
            W->mine.values[i] *=
                (double)m / ((double)classes * (double)count_of(sorted, m, Y->mine.values[i]));
out:
    DKM_FREE(sorted);
    return status;
}

static int balances(const dkm_settings *s)
{
    for (dkm_idx k = 0; dkm_settings_row(s, k); k++)
        if (strcmp(dkm_settings_row(s, k)->name, "class-weights") == 0)
            return dkm_settings_choice(s, "class-weights") == 1;
    return 0;
}

double dkm_example_weights_estimate(const dkm_settings *settings, dkm_idx m, double vectors,
                                    dkm_cost *cost)
{
    if (!dkm_settings_given(settings, "weights") && !balances(settings))
        return 0.0;
    return dkm_cost_replicate(cost,
                              "weights of the examples and what they are made to, m numbers each",
                              8.0 * vectors * (double)m);
}

/* Whether every weight is 1: then there are none. Collective. */
static int all_one(const dkm_data *W)
{
    int one = 1;

    for (dkm_idx i = 0; i < W->mine.n && one; i++)
        one = W->mine.values[i] == 1.0;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(W->ctx));
    return one;
}

static dkm_status read_all(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *Y, dkm_idx m,
                           int zeros, dkm_data **weights)
{
    dkm_status status = DKM_OK;
    dkm_data *W = NULL;

    *weights = NULL;
    DKM_TRY(read_column(ctx, s, m, zeros, &W));
    if (balances(s)) {
        DKM_REQUIRE(ctx, Y && dkm_data_type(Y) == DKM_LABELS, DKM_ERR_UNSUPPORTED,
                    "%sclass-weights is for outputs that are classes, and these are %s", s->prefix,
                    Y ? dkm_type_name(dkm_data_type(Y)) : "none");
        if (!W)
            DKM_TRY(dkm_data_create_dense(ctx, m, 1, &W));
        for (dkm_idx i = 0; dkm_settings_count(s, "weights") == 0 && i < W->mine.n; i++)
            W->mine.values[i] = 1.0;
        DKM_TRY(weigh_classes(ctx, Y, W));
    }
    if (W && all_one(W))
        dkm_data_destroy(&W);
    *weights = W;
    W = NULL;
out:
    dkm_data_destroy(&W);
    return status;
}

dkm_status dkm_read_weights(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *Y, dkm_idx m,
                            dkm_data **weights)
{
    return read_all(ctx, s, Y, m, 0, weights);
}

dkm_status dkm_read_vertex_weights(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *Y,
                                   dkm_idx m, dkm_data **weights)
{
    return read_all(ctx, s, Y, m, 1, weights);
}

dkm_status dkm_example_weights_gather(const dkm_data *weights, double **all)
{
    dkm_status status = DKM_OK;

    *all = NULL;
    DKM_AGREE(weights->ctx, dkm_calloc(weights->ctx, weights->m, all));
    for (dkm_idx i = 0; i < weights->mine.n; i++)
        (*all)[weights->first + i] = weights->mine.values[i];
    dkm_mpi_allreduce(*all, weights->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(weights->ctx));
out:
    return status;
}

dkm_status dkm_example_weights_open(dkm_example_weights *w, dkm_ctx *ctx, const dkm_data *weights)
{
    dkm_status status = DKM_OK;

    *w = (dkm_example_weights){.ctx = ctx};
    if (!weights)
        return DKM_OK;
    w->m = weights->m;
    w->first = weights->first;
    DKM_TRY(dkm_example_weights_gather(weights, &w->root));
    for (dkm_idx i = 0; i < w->m; i++) {
        w->total += w->root[i];
        w->count += w->root[i] > 0;
        w->root[i] = sqrt(w->root[i]);
    }
out:
    return status;
}

void dkm_example_weights_close(dkm_example_weights *w)
{
    DKM_FREE(w->root);
}

void dkm_example_weights_apply(const dkm_example_weights *w, const dkm_fitted_kernel *fitted)
{
    fitted->prepared->scale = w ? w->root : NULL;
}

void dkm_example_weights_scale(const dkm_example_weights *w, dkm_dmat *B)
{
    for (dkm_idx jl = 0; w->root && jl < B->n_loc; jl++)
        for (dkm_idx il = 0; il < B->m_loc; il++)
            dkm_dmat_put(B, il, jl, dkm_dmat_at(B, il, jl) * w->root[dkm_dmat_global_row(B, il)]);
}

void dkm_example_weights_scale_cols(const dkm_example_weights *w, dkm_dmat *K)
{
    for (dkm_idx jl = 0; w->root && jl < K->n_loc; jl++)
        for (dkm_idx il = 0; il < K->m_loc; il++)
            dkm_dmat_put(K, il, jl, dkm_dmat_at(K, il, jl) * w->root[dkm_dmat_global_col(K, jl)]);
}

void dkm_example_weights_unscale(const dkm_example_weights *w, dkm_dmat *B)
{
    for (dkm_idx jl = 0; w->root && jl < B->n_loc; jl++)
        for (dkm_idx il = 0; il < B->m_loc; il++) {
            double root = w->root[dkm_dmat_global_row(B, il)];
            dkm_dmat_put(B, il, jl, root > 0 ? dkm_dmat_at(B, il, jl) / root : 0.0);
        }
}

dkm_status dkm_example_weights_scale_rows(const dkm_example_weights *w, const dkm_data *X,
                                          dkm_data **scaled)
{
    dkm_status status = DKM_OK;
    const double *root = dkm_example_roots(w);
    dkm_objs *o;

    *scaled = NULL;
    if (!root)
        return DKM_OK;
    DKM_TRY(dkm_data_copy(X, scaled));
    o = &(*scaled)->mine;
    for (dkm_idx i = 0; i < o->n; i++) {
        for (dkm_idx j = 0; o->type == DKM_DENSE && j < o->d; j++)
            o->values[i * o->d + j] *= root[i];
        for (dkm_idx k = o->start ? o->start[i] : 0; o->start && k < o->start[i + 1]; k++)
            o->val[k] *= root[i];
    }
out:
    return status;
}
