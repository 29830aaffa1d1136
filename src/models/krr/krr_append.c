/* Examples added to a model of kernel ridge regression: rows of its factor (krr_update.c says how). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/kernel_impl.h"
#include "kernels/evaluation/prepare.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "models/krr/krr_update_impl.h"

/* K of the new examples and all rows of the factor: @p base has those that come. */
static dkm_status update_gram_rows(const dkm_krr_dual *s, const dkm_data *X,
                                   const dkm_krr_base *base, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_idx from = base->n - dkm_data_rows(X);
    const double *was = base->fitted->prepared->scale;
    dkm_prepared *prepared = NULL;

    DKM_TRY(dkm_kernel_prepare_new(base->fitted->prepared, X, &prepared));
    prepared->scale = base->roots.root ? base->roots.root + from : NULL;
    base->fitted->prepared->scale = base->roots.root;
    DKM_TRY(dkm_gram_cross(s->fitted.grid, base->fitted->kernel, prepared, base->fitted->prepared,
                           s->fitted.nb, s->fitted.nb, DKM_F64, K));
out:
    base->fitted->prepared->scale = was;
    dkm_prepared_destroy(&prepared);
    return status;
}

/* L22 from the last columns of K and the first ones, which are L21 by now. */
static dkm_status update_corner(const dkm_krr_dual *s, dkm_dmat *K, double shift, dkm_dmat **L22)
{
    dkm_status status = DKM_OK;
    dkm_idx k = dkm_dmat_rows(K), n = dkm_dmat_cols(K) - k, info = 0;
    dkm_dmat L21 = *K;

    L21.n = n;
    L21.n_loc = dkm_grid_row(K->grid) < 0
                    ? 0
                    : dkm_cyclic_count(n, K->nb, dkm_grid_col(K->grid), dkm_grid_cols(K->grid));
    DKM_TRY(dkm_dmat_create(s->fitted.grid, k, k, s->fitted.nb, s->fitted.nb, DKM_F64, L22));
    dkm_la_lacpy_cols(K, n, *L22);
    dkm_dmat_shift_diagonal(*L22, shift);
    dkm_la_syrk('N', -1.0, &L21, 1.0, *L22);
    DKM_TRY(dkm_la_potrf(*L22, &info));
    DKM_REQUIRE(s->fitted.ctx, info == 0, DKM_ERR_NUMERIC,
                "with the new examples K + gamma I is not positive definite any more (leading "
                "minor %lld): fit anew with a larger gamma",
                (long long)(n + info));
out:
    return status;
}

/* [L21 L22] as rows, from L21 and kernel values beside them. */
static dkm_status update_new_rows(const dkm_dmat *K, const dkm_dmat *L22, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_idx k = dkm_dmat_rows(K), n = dkm_dmat_cols(K);
    dkm_data *corner = NULL;

    DKM_TRY(dkm_krr_rows_of(K, rows));
    DKM_TRY(dkm_krr_rows_of(L22, &corner));
    for (dkm_idx i = 0; i < dkm_data_local_rows(corner); i++)
        memcpy(dkm_data_values(*rows) + i * n + n - k, dkm_data_values_const(corner) + i * k,
               (size_t)k * sizeof(double));
out:
    dkm_data_destroy(&corner);
    return status;
}

/* The rows of the factor for new examples, after those that are there. */
static dkm_status update_extend(dkm_krr_dual *s, const dkm_krr_dual *old, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_krr_factor_order(&old->factor);
    dkm_krr_base base = {0};
    dkm_dmat *K = NULL, *L22 = NULL, *tail = NULL;
    dkm_data *rows = NULL, *basis = NULL;

    dkm_phase_begin(s->fitted.ctx, "extend");
    DKM_TRY(dkm_krr_base_open(&base, &s->factor, &s->fitted, n + dkm_data_rows(X)));
    DKM_TRY(update_gram_rows(s, X, &base, &K));
    DKM_TRY(dkm_krr_factor_forward(&old->factor, &s->fitted, NULL, K));
    DKM_TRY(dkm_krr_project(old->factor.Q, K));
    DKM_TRY(update_corner(s, K, old->outputs.gamma + old->factor.jitter, &L22));
    DKM_TRY(update_new_rows(K, L22, &rows));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_krr_update_stack(s, old->factor.tail, rows, &tail));
    s->factor.tail = tail;
    if (old->factor.Q) {
        DKM_TRY(dkm_krr_update_pad(old->factor.Q, n + dkm_data_rows(X), &basis));
        DKM_TRY(dkm_krr_matrix_of(&s->fitted, basis, &s->factor.Q));
    }
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_data_destroy(&basis);
    dkm_data_destroy(&rows);
    dkm_dmat_destroy(&L22);
    dkm_dmat_destroy(&K);
    dkm_krr_base_close(&base);
    return status;
}

/* Weights, or as many of 1. */
static dkm_status update_column(dkm_ctx *ctx, const dkm_data *weights, dkm_idx m, dkm_data **column)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, m, 1, column));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*column); i++)
        dkm_data_values(*column)[i] = weights ? dkm_data_values_const(weights)[i] : 1.0;
out:
    return status;
}

/* Weights of the examples that are there and of new ones; none where all weigh 1. */
static dkm_status update_join_weights(const dkm_krr_dual *old, const dkm_data *more, dkm_idx count,
                                      dkm_data **all)
{
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_status status = DKM_OK;
    dkm_data *were = NULL, *are = NULL;

    if (!old->factor.weights && !more)
        return DKM_OK;
    DKM_TRY(update_column(ctx, old->factor.weights, dkm_data_rows(old->fitted.X), &were));
    DKM_TRY(update_column(ctx, more, count, &are));
    DKM_TRY(dkm_data_join(were, are, all));
out:
    dkm_data_destroy(&are);
    dkm_data_destroy(&were);
    return status;
}

static dkm_local update_check_weights(dkm_ctx *ctx, const dkm_data *weights, dkm_idx count)
{
    if (!weights)
        return DKM_LOCAL_OK;
    if (dkm_data_type(weights) != DKM_DENSE || dkm_data_cols(weights) != 1 ||
        dkm_data_rows(weights) != count)
        return dkm_fail(ctx, DKM_ERR_ARG, "weights are a number for each of %lld examples",
                        (long long)count);
    for (dkm_idx i = 0; i < dkm_data_local_rows(weights); i++)
        if (!(dkm_data_values_const(weights)[i] > 0) ||
            !isfinite(dkm_data_values_const(weights)[i]))
            return dkm_fail(ctx, DKM_ERR_ARG,
                            "row %lld has the weight %g: weights are finite numbers above 0",
                            (long long)(dkm_data_local_first(weights) + i) + 1,
                            dkm_data_values_const(weights)[i]);
    return DKM_LOCAL_OK;
}

dkm_status dkm_krr_append(dkm_krr_dual *old, const dkm_data *X, const dkm_data *Y,
                          const dkm_data *weights, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_krr_dual s = {0};
    dkm_data *allX = NULL, *allY = NULL, *allW = NULL;
    double residual = 0;

    DKM_AGREE(ctx, dkm_krr_update_check(old));
    DKM_REQUIRE(ctx, dkm_data_rows(X) == dkm_data_rows(Y), DKM_ERR_ARG,
                "%lld inputs and %lld outputs to append: they must match",
                (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    DKM_TRY(dkm_error_context(ctx, "x", dkm_data_join(old->fitted.X, X, &allX)));
    DKM_TRY(dkm_error_context(ctx, "y", dkm_data_join(old->factor.Y, Y, &allY)));
    DKM_AGREE(ctx, update_check_weights(ctx, weights, dkm_data_rows(X)));
    DKM_TRY(update_join_weights(old, weights, dkm_data_rows(X), &allW));
    DKM_TRY(dkm_krr_factor_open(&old->factor, &old->fitted, old->outputs.gamma));
    DKM_TRY(dkm_krr_update_begin(old, allX, &allY, allW, &s));
    DKM_TRY(update_extend(&s, old, X));
    DKM_TRY(dkm_krr_update_solve(&s, old, &residual));
    DKM_TRY(dkm_krr_update_remember(&s, old, 1.0, dkm_data_rows(X)));
    dkm_krr_update_replace(old, &s);
    dkm_krr_update_report(old, "appended", dkm_data_rows(X), residual, report);
out:
    dkm_krr_update_clear(&s, old);
    dkm_data_destroy(&allW);
    dkm_data_destroy(&allY);
    dkm_data_destroy(&allX);
    return status;
}
