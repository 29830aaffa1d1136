/* Examples added to a model of kernel ridge regression: rows of its factor (krr_update.c says how). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/kernel_impl.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/gram/gram.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "models/krr/krr_update_impl.h"

/* K of the new examples and all rows of the factor: @p base has those that come. */
static dkm_status append_fill(const dkm_data *X, const dkm_krr_base *base, dkm_dmat *K)
{
    dkm_status status = DKM_OK;
    dkm_idx from = base->n - dkm_data_rows(X);
    const double *was = base->fitted->prepared->scale;
    dkm_prepared *prepared = NULL;

    DKM_TRY(dkm_kernel_prepare_new(base->fitted->prepared, X, &prepared));
    DKM_AGREE(prepared->ctx, dkm_prepared_match(prepared, base->fitted->prepared));
    prepared->scale = base->roots.root ? base->roots.root + from : NULL;
    base->fitted->prepared->scale = base->roots.root;
    DKM_TRY(dkm_gram_fill(prepared, base->fitted->prepared, 0, K, NULL, NULL));
out:
    base->fitted->prepared->scale = was;
    dkm_prepared_destroy(&prepared);
    return status;
}

/* J: those values, and below them the outputs of all examples, a row each per column. */
static dkm_status append_open_rows(const dkm_krr_dual *s, const dkm_data *X, const dkm_multivec *t,
                                   const dkm_krr_base *base, dkm_dmat **J)
{
    dkm_status status = DKM_OK;
    dkm_idx k = dkm_data_rows(X), p = t->cols, nb = s->fitted.nb;
    dkm_dmat *T = NULL, K;
    dkm_data *wide = NULL;

    DKM_TRY(dkm_krr_base_give(base, t, &wide));
    DKM_TRY(dkm_krr_transpose_of(&s->fitted, wide, &T));
    DKM_TRY(dkm_dmat_create(s->fitted.grid, k + p, base->n, nb, nb, DKM_F64, J));
    dkm_la_lacpy(T, (dkm_place){0, 0}, *J, (dkm_place){k, 0}, p, base->n);
    K = dkm_krr_leading(*J, k, base->n);
    DKM_TRY(append_fill(X, base, &K));
out:
    dkm_data_destroy(&wide);
    dkm_dmat_destroy(&T);
    return status;
}

/* [L21 L22] in the place of [L21 K22]. */
static dkm_status append_factor_corner(const dkm_krr_dual *s, double shift, dkm_dmat *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx k = rows->m, n = rows->n - k, info = 0;
    dkm_dmat L21 = dkm_krr_leading(rows, k, n), *L22 = NULL;

    DKM_TRY(dkm_dmat_create(s->fitted.grid, k, k, s->fitted.nb, s->fitted.nb, DKM_F64, &L22));
    dkm_la_lacpy_cols(rows, n, L22);
    dkm_dmat_shift_diagonal(L22, shift);
    dkm_la_syrk('N', -1.0, &L21, 1.0, L22);
    DKM_TRY(dkm_la_potrf(L22, &info));
    DKM_REQUIRE(s->fitted.ctx, info == 0, DKM_ERR_NUMERIC,
                "with the new examples K + gamma I is not positive definite any more (leading "
                "minor %lld): fit anew with a larger gamma",
                (long long)(n + info));
    dkm_la_lacpy(L22, (dkm_place){0, 0}, rows, (dkm_place){0, n}, k, k);
out:
    dkm_dmat_destroy(&L22);
    return status;
}

/* The new rows come after those that are in no file, and Q has zeros for them. Those of J become the
 * factor's where there are no others. */
static dkm_status append_join(dkm_krr_dual *s, const dkm_krr_dual *old, dkm_idx k, dkm_dmat **J)
{
    dkm_status status = DKM_OK;
    dkm_idx n = (*J)->n;
    dkm_dmat *tail = NULL;
    dkm_data *rows = NULL, *basis = NULL;

    **J = dkm_krr_leading(*J, k, n);
    if (old->factor.tail) {
        DKM_TRY(dkm_krr_rows_of(*J, &rows));
        dkm_dmat_destroy(J);
        DKM_TRY(dkm_krr_update_stack(s, old->factor.tail, rows, &tail));
    } else {
        tail = *J;
        *J = NULL;
    }
    s->factor.tail = tail;
    if (old->factor.Q) {
        DKM_TRY(dkm_krr_update_pad(old->factor.Q, n, &basis));
        DKM_TRY(dkm_krr_matrix_of(&s->fitted, basis, &s->factor.Q));
    }
out:
    dkm_data_destroy(&basis);
    dkm_data_destroy(&rows);
    return status;
}

/* The rows of the factor for new examples, after those that are there, and in @p y, a row per column,
 * L^-1 t less what the new rows take of it. */
static dkm_status append_extend(dkm_krr_dual *s, const dkm_krr_dual *old, const dkm_data *X,
                                const dkm_multivec *t, const dkm_krr_base *base, dkm_dmat **y)
{
    dkm_status status = DKM_OK;
    dkm_idx k = dkm_data_rows(X);
    dkm_dmat *J = NULL, rows;

    dkm_phase_begin(s->fitted.ctx, "extend");
    DKM_TRY(append_open_rows(s, X, t, base, &J));
    DKM_TRY(dkm_krr_factor_forward(&old->factor, &s->fitted, 0, NULL, J));
    DKM_TRY(dkm_krr_project(old->factor.Q, J));
    DKM_TRY(dkm_krr_take_rows(J, k, t->cols, y));
    rows = dkm_krr_leading(J, k, J->n);
    DKM_TRY(append_factor_corner(s, old->outputs.gamma + old->factor.jitter, &rows));
    DKM_TRY(append_join(s, old, k, &J));
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&J);
    return status;
}

/* The new rows, and B by all of them. */
static dkm_status append_solve(dkm_krr_dual *s, const dkm_krr_dual *old, const dkm_data *X,
                               double *residual)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx n = dkm_krr_factor_order(&old->factor);
    dkm_multivec t = {0}, b = {0};
    dkm_krr_base base = {0};
    dkm_dmat *y = NULL;

    DKM_TRY(dkm_krr_update_targets(s, old, &t));
    DKM_AGREE(ctx, dkm_multivec_init(&b, ctx, dkm_data_rows(s->fitted.X), t.cols));
    b.cols = t.cols;
    DKM_TRY(dkm_krr_base_open(&base, &s->factor, &s->fitted, n + dkm_data_rows(X)));
    DKM_TRY(append_extend(s, old, X, &t, &base, &y));
    dkm_phase_begin(ctx, "substitute");
    status = dkm_krr_factor_forward(&s->factor, &s->fitted, n, NULL, y);
    if (status == DKM_OK)
        status = dkm_krr_factor_back(&s->factor, &s->fitted, y);
    if (status == DKM_OK)
        status = dkm_krr_base_take(&base, y, &b);
    dkm_phase_end(ctx);
    DKM_TRY(status);
    DKM_TRY(dkm_krr_update_finish(s, &t, &b, residual));
out:
    dkm_dmat_destroy(&y);
    dkm_krr_base_close(&base);
    dkm_multivec_free(&b);
    dkm_multivec_free(&t);
    return status;
}

/* Weights, or as many of 1. */
static dkm_status append_column(dkm_ctx *ctx, const dkm_data *weights, dkm_idx m, dkm_data **column)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(ctx, m, 1, column));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*column); i++)
        dkm_data_values(*column)[i] = weights ? dkm_data_values_const(weights)[i] : 1.0;
out:
    return status;
}

/* Weights of the examples that are there and of new ones; none where all weigh 1. */
static dkm_status append_join_weights(const dkm_krr_dual *old, const dkm_data *more, dkm_idx count,
                                      dkm_data **all)
{
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_status status = DKM_OK;
    dkm_data *were = NULL, *are = NULL;

    if (!old->factor.weights && !more)
        return DKM_OK;
    DKM_TRY(append_column(ctx, old->factor.weights, dkm_data_rows(old->fitted.X), &were));
    DKM_TRY(append_column(ctx, more, count, &are));
    DKM_TRY(dkm_data_join(were, are, all));
out:
    dkm_data_destroy(&are);
    dkm_data_destroy(&were);
    return status;
}

static dkm_local append_check_weights(dkm_ctx *ctx, const dkm_data *weights, dkm_idx count)
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
    DKM_AGREE(ctx, append_check_weights(ctx, weights, dkm_data_rows(X)));
    DKM_TRY(append_join_weights(old, weights, dkm_data_rows(X), &allW));
    DKM_TRY(dkm_krr_factor_open(&old->factor, &old->fitted, old->outputs.gamma));
    DKM_TRY(dkm_krr_update_begin(old, allX, &allY, allW, &s));
    DKM_TRY(append_solve(&s, old, X, &residual));
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
