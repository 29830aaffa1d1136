/* Kernel ridge regression from some of the objects of a kernel that is known on all of them, such as
 * the vertices of a graph of which some have labels: with l of m objects labelled,
 *   (K_ll + gamma W^-1) A_l = Y_l - 1 b',     f = K_.l A_l + b,
 * as a fit of the Gram matrix K_ll, whose coefficients become rows of a model of all objects; those
 * of other objects are zero.
 *
 * Cost: the Gram matrix, m^2 kernel values, and a fit of l objects, l^3 / 3 flops by Cholesky. Per
 * rank 2 m^2 / ranks numbers of K while K_ll is taken out of it, then l^2 / ranks. Replicated: m
 * weights and l indices. */
#include "models/krr/krr_labelled.h"

#include "core/alloc.h"
#include "data/objects.h"
#include "models/krr/krr_dual.h"

/* The objects that weigh anything, ascending. */
typedef struct labelled {
    dkm_ctx *ctx;
    dkm_idx count;
    dkm_idx *rows;
} labelled;

static dkm_status labelled_find(labelled *l, const dkm_data *weights)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(weights);
    double *all = NULL;

    l->ctx = dkm_data_ctx(weights);
    DKM_TRY(dkm_example_weights_gather(weights, &all));
    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, m, &l->rows));
    for (dkm_idx i = 0; i < m; i++)
        if (all[i] > 0)
            l->rows[l->count++] = i;
out:
    DKM_FREE(all);
    return status;
}

/* K_ll as the Gram matrix of objects of its own. */
static dkm_status labelled_gram(const labelled *l, const dkm_fitted_kernel *fitted, dkm_data **G)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(fitted->X), n = dkm_data_local_rows(fitted->X);
    dkm_dmat *K = NULL;
    dkm_data *columns = NULL;
    double *rows = NULL;

    DKM_TRY(dkm_gram_cross(fitted->grid, fitted->kernel, fitted->prepared, fitted->prepared,
                           fitted->nb, fitted->nb, DKM_F64, &K));
    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, n * m, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_data_create_dense(l->ctx, m, l->count, &columns));
    for (dkm_idx k = 0; k < n * l->count; k++)
        dkm_data_values(columns)[k] = rows[k / l->count * m + l->rows[k % l->count]];
    DKM_FREE(rows);
    DKM_TRY(dkm_data_select(columns, l->count, l->rows, G));
    (*G)->mine.type = DKM_GRAM;
out:
    dkm_data_destroy(&columns);
    DKM_FREE(rows);
    dkm_dmat_destroy(&K);
    return status;
}

/* Coefficients of all objects from those of the labelled ones. */
static dkm_status labelled_spread(const labelled *l, const dkm_fitted_kernel *fitted,
                                  const dkm_dmat *A, dkm_dmat **B)
{
    dkm_status status = DKM_OK;
    dkm_idx p = dkm_dmat_cols(A), first = dkm_data_local_first(fitted->X), own = 0, from = 0;
    dkm_idx n = dkm_data_local_rows(fitted->X);
    dkm_data *some = NULL;
    dkm_objs got = {0};
    double *rows = NULL;
    dkm_idx *indices = NULL;

    DKM_TRY(dkm_data_create_dense(l->ctx, l->count, p, &some));
    DKM_TRY(dkm_dmat_to_rows(A, dkm_data_values(some)));
    while (from < l->count && l->rows[from] < first)
        from++;
    while (from + own < l->count && l->rows[from + own] < first + n)
        own++;
    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, own, &indices));
    DKM_AGREE(l->ctx, dkm_calloc(l->ctx, n * p, &rows));
    for (dkm_idx k = 0; k < own; k++)
        indices[k] = from + k;
    DKM_TRY(dkm_data_fetch(some, own, indices, &got));
    for (dkm_idx k = 0; k < own * p; k++)
        rows[(l->rows[from + k / p] - first) * p + k % p] = got.values[k];
    DKM_TRY(dkm_dmat_create(fitted->grid, dkm_data_rows(fitted->X), p, fitted->nb, fitted->nb,
                            DKM_F64, B));
    DKM_TRY(dkm_dmat_from_rows(*B, rows));
out:
    DKM_FREE(indices);
    DKM_FREE(rows);
    dkm_objs_clear(&got);
    dkm_data_destroy(&some);
    return status;
}

/* The model of the labelled objects becomes one of all. */
static dkm_status labelled_widen(const labelled *l, const dkm_data *weights,
                                 dkm_fitted_kernel *fitted, dkm_model *model)
{
    dkm_krr_dual *s = model->state;
    dkm_status status = DKM_OK;
    dkm_dmat *B = NULL;

    DKM_TRY(labelled_spread(l, fitted, s->B, &B));
    dkm_dmat_destroy(&s->B);
    dkm_fitted_kernel_close(&s->fitted);
    s->B = B;
    s->fitted = *fitted;
    *fitted = (dkm_fitted_kernel){0};
    s->weighted = 1; /* B is not (K + gamma I)^-1 T of all */
    DKM_TRY(dkm_krr_factor_set_weights(&s->factor, weights));
out:
    return status;
}

dkm_status dkm_krr_labelled_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                const dkm_kernel *kernel, const dkm_krr_settings *settings,
                                dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    labelled l = {0};
    dkm_krr_settings some = *settings;
    dkm_fitted_kernel fitted = {0};
    dkm_kernel *gram = NULL;
    dkm_data *G = NULL, *T = NULL, *W = NULL;

    *model = NULL;
    DKM_TRY(labelled_find(&l, settings->weights));
    DKM_TRY(dkm_fitted_kernel_open(&fitted, ctx, X, kernel, &settings->layout));
    DKM_TRY(labelled_gram(&l, &fitted, &G));
    DKM_TRY(dkm_data_select(Y, l.count, l.rows, &T));
    DKM_TRY(dkm_data_select(settings->weights, l.count, l.rows, &W));
    DKM_TRY(dkm_kernel_parse(ctx, "gram", &gram));
    some.weights = W;
    DKM_TRY(dkm_krr_dual_fit(ctx, G, T, gram, &some, model, info));
    if (info)
        info->m = dkm_data_rows(X);
    DKM_TRY(labelled_widen(&l, settings->weights, &fitted, *model));
out:
    if (status != DKM_OK)
        dkm_model_destroy(model);
    dkm_data_destroy(&W);
    dkm_data_destroy(&T);
    dkm_data_destroy(&G);
    dkm_kernel_destroy(&gram);
    dkm_fitted_kernel_close(&fitted);
    DKM_FREE(l.rows);
    return status;
}
