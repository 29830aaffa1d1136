/* Examples added to and removed from a model of kernel ridge regression, by its factor.
 *
 * Append: with K + gamma I = L L' for the examples that are there,
 *   [ L11   0  ]   L21 = K21 L11^-T,   L22 L22' = K22 + gamma I - L21 L21'
 *   [ L21  L22 ]
 * is the factor for all of them: rows are added, and those that were there stay as they are, in their
 * file if they are in one. L21 is made by one pass over them (solvers/ridge/factor_rows.c), and with it what
 * forward substitution makes of the outputs.
 *
 * Forget: the rows r of the factor stay, and the model remembers an orthonormal basis Q of the range of
 * L^-1 E_r, by which every later solve is projected (krr_inverse.h). Two ways were weighed, for m
 * examples and k fewer:
 *
 *                      update of a sum by reflections       projection
 *   flops              2 k m^2, a third of it for rows      k m^2, a third of it for such rows;
 *                      drawn at random, in products of      2 k^2 m for the basis
 *                      nb columns; m^2 nb / 2 besides
 *   read, written      m^2 / 2 numbers, m^2 / 2 numbers     m^2 / 2, k m
 *   held               2 m^2, two copies to close gaps      k m
 *   later solves       as before                            k / m dearer
 *
 * So the projection is taken for as long as the rows that stand for nothing are at most 1 in FOLD of all;
 * then the gaps are closed by the update (krr_fold.c), and there are none. To append to such a factor,
 * L21 is projected too: that is the choice of the kernel values of forgotten rows, which are free, that
 * leaves Q a basis.
 *
 * Both end with B = (K + gamma I)^-1 T for all outputs, T being encoded and centered anew, and with
 * the residual of the true matrix, whose tiles are computed once more; one step of refinement follows
 * where its backward error, with a lower bound of the norm of K, is above that of rounding.
 *
 * Cost for m examples and k more: k m^2 flops (a fit: m^3 / 3), 4 m^2 p for B and m^2 kernel values; L is
 * read twice, and k m words are sent along grid rows. Held per rank: k m / ranks numbers.
 * Replicated: indices of the examples. */
#include "models/krr/krr_update_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/kernel_impl.h"
#include "kernels/evaluation/prepare.h"
#include "matrix/dmat_impl.h"
#include "solvers/operators/linop.h"

#define BACKWARD_WANTED 3.6e-15 /* 16 units of rounding; else one step of refinement follows */

dkm_local dkm_krr_update_check(const dkm_krr_dual *s)
{
    dkm_ctx *ctx = s->fitted.ctx;

    if (!s->factor.retained)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "the model has no factor to change: fit it with --keep-factor");
    if (dkm_krr_factor_precision(&s->factor) != DKM_F64)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "the model's factor is in single precision, which serves for standard "
                        "deviations alone: fit it with --keep-factor --precision double");
    if (dkm_kernel_needs_training_set(s->fitted.kernel))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "values of the kernel %s depend on all training inputs: fit anew",
                        dkm_kernel_text(s->fitted.kernel));
    return DKM_LOCAL_OK;
}

/* The rows that stand for no example are the same. */
static dkm_local update_copy_gone(const dkm_krr_dual *old, dkm_krr_dual *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = old->factor.dead;

    if (count == 0)
        return local;
    DKM_STEP(dkm_alloc(s->fitted.ctx, count, &s->factor.gone));
    memcpy(s->factor.gone, old->factor.gone, (size_t)count * sizeof *s->factor.gone);
out:
    return local;
}

/* A state for other examples, on the grid of another one and with its kernel, blocks and gamma. It
 * borrows the rows of its factor until dkm_krr_update_replace(). Gram matrices of its inputs are scaled by the
 * roots of weights until dkm_krr_update_finish(). */
dkm_status dkm_krr_update_begin(const dkm_krr_dual *old, const dkm_data *X, dkm_data **Y,
                                const dkm_data *weights, dkm_krr_dual *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_fitted_kernel_open_sharing_grid(&s->fitted, &old->fitted, X, old->fitted.kernel));
    s->factor = (dkm_krr_factor){.retained = 1,
                                 .storage = old->factor.storage,
                                 .L = old->factor.L,
                                 .stored = old->factor.stored,
                                 .tail = old->factor.tail,
                                 .dead = old->factor.dead,
                                 .jitter = old->factor.jitter,
                                 .center = old->factor.center,
                                 .Y = *Y};
    *Y = NULL;
    DKM_AGREE(s->fitted.ctx, update_copy_gone(old, s));
    s->weighted = weights != NULL;
    DKM_TRY(dkm_krr_factor_set_weights(&s->factor, weights));
    dkm_krr_factor_weigh(&s->factor, &s->fitted, 1);
out:
    return status;
}

/* The outputs as numbers. */
dkm_status dkm_krr_update_targets(dkm_krr_dual *s, const dkm_krr_dual *old, dkm_multivec *t)
{
    dkm_status status = DKM_OK;
    dkm_krr_settings settings = {.center = s->factor.center, .weights = s->factor.weights};
    dkm_dmat *T = NULL;

    dkm_krr_outputs_clear(&s->outputs);
    s->outputs.gamma = old->outputs.gamma;
    DKM_TRY(dkm_krr_outputs_learn(&s->outputs, &s->fitted, s->factor.Y, &settings, &T));
    s->outputs.encoder.level = old->outputs.encoder.level;
    DKM_AGREE(s->fitted.ctx,
              dkm_multivec_init(t, s->fitted.ctx, dkm_dmat_rows(T), dkm_dmat_cols(T)));
    t->cols = dkm_dmat_cols(T);
    DKM_TRY(dkm_dmat_to_rows(T, t->a));
out:
    dkm_dmat_destroy(&T);
    return status;
}

/* R = T - (K + gamma I) B, with K computed anew; its norm over that of T, and over that of T plus a
 * lower bound of ||K + gamma I|| ||B||, the bound by the product with a vector of ones. */
static dkm_status update_residual(const dkm_krr_dual *s, const dkm_multivec *T,
                                  const dkm_multivec *B, dkm_multivec *R, double *residual,
                                  double *backward)
{
    dkm_status status = DKM_OK;
    dkm_idx p = T->cols, m = dkm_data_rows(s->fitted.X);
    dkm_kernel_op K = {.grid = s->fitted.grid,
                       .X = s->fitted.prepared,
                       .nb = s->fitted.nb,
                       .scale = 1.0,
                       .shift = s->outputs.gamma};
    double norm = dkm_multivec_norm(T), length, bound;
    dkm_multivec in = {0}, out = {0}, one = {0};

    DKM_AGREE(s->fitted.ctx, dkm_multivec_init(&in, s->fitted.ctx, m, p + 1));
    DKM_AGREE(s->fitted.ctx, dkm_multivec_init(&out, s->fitted.ctx, m, p + 1));
    DKM_AGREE(s->fitted.ctx, dkm_multivec_init(&one, s->fitted.ctx, m, 1));
    one.cols = 1;
    for (dkm_idx i = 0; i < one.n; i++)
        one.a[i * one.ld] = 1.0;
    dkm_multivec_copy(B, &in);
    dkm_multivec_append(&in, &one);
    DKM_TRY(dkm_kernel_op_apply(&K, &in, &out));
    for (dkm_idx i = 0; i < R->n; i++)
        for (dkm_idx j = 0; j < p; j++)
            R->a[i * R->ld + j] = T->a[i * T->ld + j] - out.a[i * out.ld + j];
    for (dkm_idx i = 0; i < one.n; i++)
        one.a[i * one.ld] = out.a[i * out.ld + p];
    length = dkm_multivec_norm(R);
    bound = dkm_multivec_norm(&one) / sqrt((double)m) * dkm_multivec_norm(B) + norm;
    *residual = norm > 0 ? length / norm : length;
    *backward = bound > 0 ? length / bound : length;
    DKM_REQUIRE(s->fitted.ctx, isfinite(*residual), DKM_ERR_NUMERIC,
                "the ridge solution is not finite: fit anew");
out:
    dkm_multivec_free(&one);
    dkm_multivec_free(&out);
    dkm_multivec_free(&in);
    return status;
}

/* From B, solved with the factor, to the coefficients; @p b is refined where its residual asks for it. */
dkm_status dkm_krr_update_finish(dkm_krr_dual *s, const dkm_multivec *t, dkm_multivec *b,
                                 double *residual)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_multivec r = {0};
    dkm_krr_base base = {0};
    double backward = 0;

    DKM_AGREE(ctx, dkm_multivec_init(&r, ctx, dkm_data_rows(s->fitted.X), t->cols));
    r.cols = t->cols;
    DKM_TRY(update_residual(s, t, b, &r, residual, &backward));
    if (backward > BACKWARD_WANTED) {
        DKM_TRY(dkm_krr_base_open(&base, &s->factor, &s->fitted, dkm_krr_factor_order(&s->factor)));
        DKM_TRY(dkm_krr_factor_apply_inverse(&s->factor, &base, &r));
        dkm_multivec_axpy(1.0, &r, b);
        DKM_TRY(update_residual(s, t, b, &r, residual, &backward));
    }
    DKM_TRY(dkm_dmat_create(s->fitted.grid, dkm_data_rows(s->fitted.X), t->cols, s->fitted.nb,
                            s->fitted.nb, DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, b->a));
    dkm_example_weights_scale(&s->factor.roots, s->B);
    dkm_example_weights_close(&s->outputs.weights);
    dkm_krr_factor_weigh(&s->factor, &s->fitted, 0);
out:
    dkm_krr_base_close(&base);
    dkm_multivec_free(&r);
    return status;
}

/* B for all outputs, by the factor. */
dkm_status dkm_krr_update_solve(dkm_krr_dual *s, const dkm_krr_dual *old, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_multivec t = {0}, b = {0};
    dkm_krr_base base = {0};

    DKM_TRY(dkm_krr_update_targets(s, old, &t));
    DKM_AGREE(s->fitted.ctx,
              dkm_multivec_init(&b, s->fitted.ctx, dkm_data_rows(s->fitted.X), t.cols));
    dkm_multivec_copy(&t, &b);
    dkm_phase_begin(s->fitted.ctx, "substitute");
    status = dkm_krr_base_open(&base, &s->factor, &s->fitted, dkm_krr_factor_order(&s->factor));
    if (status == DKM_OK)
        status = dkm_krr_factor_apply_inverse(&s->factor, &base, &b);
    dkm_phase_end(s->fitted.ctx);
    DKM_TRY(status);
    DKM_TRY(dkm_krr_update_finish(s, &t, &b, residual));
out:
    dkm_krr_base_close(&base);
    dkm_multivec_free(&b);
    dkm_multivec_free(&t);
    return status;
}

/* What was done before and now: rows of 1 or -1 and a number of examples. */
dkm_status dkm_krr_update_remember(dkm_krr_dual *s, const dkm_krr_dual *old, double sign,
                                   dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_data *now = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, 1, 2, &now));
    if (dkm_data_local_rows(now) > 0) {
        dkm_data_values(now)[0] = sign;
        dkm_data_values(now)[1] = (double)count;
    }
    if (old->factor.history) {
        DKM_TRY(dkm_data_join(old->factor.history, now, &s->factor.history));
    } else {
        s->factor.history = now;
        now = NULL;
    }
out:
    dkm_data_destroy(&now);
    return status;
}

/* Rows of n columns and more, those beyond zero. */
dkm_status dkm_krr_update_pad(const dkm_dmat *A, dkm_idx n, dkm_data **padded)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;
    dkm_idx was = dkm_dmat_cols(A);

    DKM_TRY(dkm_krr_rows_of(A, &rows));
    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(rows), dkm_data_rows(rows), n, padded));
    for (dkm_idx i = 0; i < dkm_data_local_rows(rows); i++)
        memcpy(dkm_data_values(*padded) + i * n, dkm_data_values_const(rows) + i * was,
               (size_t)was * sizeof(double));
out:
    dkm_data_destroy(&rows);
    return status;
}

/* Rows of A, if there is one, padded, and after them those of @p more. */
dkm_status dkm_krr_update_stack(const dkm_krr_dual *s, const dkm_dmat *A, const dkm_data *more,
                                dkm_dmat **stacked)
{
    dkm_status status = DKM_OK;
    dkm_data *first = NULL, *all = NULL;

    if (A) {
        DKM_TRY(dkm_krr_update_pad(A, dkm_data_cols(more), &first));
        DKM_TRY(dkm_data_join(first, more, &all));
    }
    DKM_TRY(dkm_krr_matrix_of(&s->fitted, all ? all : more, stacked));
out:
    dkm_data_destroy(&all);
    dkm_data_destroy(&first);
    return status;
}

/* What a factor shares with that of another state, it does not have. */
void dkm_krr_update_return(const dkm_krr_factor *from, dkm_krr_factor *f)
{
    if (f->L == from->L)
        f->L = NULL;
    if (f->tail == from->tail)
        f->tail = NULL;
    if (f->stored.rows.path == from->stored.rows.path)
        f->stored.rows.path = NULL;
}

/* The new state takes the place of the old one, with the grid and what it had borrowed. */
void dkm_krr_update_replace(dkm_krr_dual *old, dkm_krr_dual *s)
{
    dkm_krr_dual was = *old;

    *old = *s;
    *s = was;
    old->fitted.shares_grid = s->fitted.shares_grid;
    s->fitted.shares_grid = 1;
}

/* @p s is the state that is not needed, @p other the one that stays. */
void dkm_krr_update_clear(dkm_krr_dual *s, const dkm_krr_dual *other)
{
    dkm_krr_update_return(&other->factor, &s->factor);
    dkm_krr_std_clear(&s->std);
    dkm_krr_factor_clear(&s->factor);
    dkm_dmat_destroy(&s->B);
    dkm_krr_outputs_clear(&s->outputs);
    dkm_fitted_kernel_close(&s->fitted);
}

void dkm_krr_update_report(const dkm_krr_dual *s, const char *what, dkm_idx count, double residual,
                           dkm_report *report)
{
    dkm_report_add_int(report, what, count);
    dkm_report_add_int(report, "m", dkm_data_rows(s->fitted.X));
    dkm_report_add_int(report, "outputs", s->outputs.encoder.cols);
    dkm_report_add_grid(report, dkm_grid_rows(s->fitted.grid), dkm_grid_cols(s->fitted.grid));
    dkm_report_add_int(report, "block", s->fitted.nb);
    dkm_report_add_real(report, "gamma", s->outputs.gamma);
    dkm_report_add_real(report, "residual", residual);
}
