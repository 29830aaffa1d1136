/* Examples added to and removed from a model of kernel ridge regression, by its factor.
 *
 * Append: with K + gamma I = L L' for the examples that are there,
 *   [ L11   0  ]   L21 = K21 L11^-T,   L22 L22' = K22 + gamma I - L21 L21'
 *   [ L21  L22 ]
 * is the factor for all of them. The leading part ends where a round of blocks over the grid ends, so
 * that it stays where it is; at most nb lcm(P, Q) - 1 rows that were there are computed again.
 *
 * Forget: without rows and columns r of K, A = L(keep, keep) L(keep, keep)' + V V' with V =
 * L(keep, r), which is an update of a factor by a sum (linalg/factor/rank_update.c).
 *
 * Both end with B = (K + gamma I)^-1 T for all outputs, T being encoded and centered anew, and with
 * the residual of the true matrix, whose tiles are computed once more.
 *
 * Cost for m examples and k more: k m^2 flops (a fit: m^3 / 3), 4 m^2 p for B and m^2 kernel values;
 * p?trsm and p?syrk send about m k (1/P + 1/Q) words per rank. For k fewer: at most 2 k m^2 flops,
 * a third of it for rows drawn at random, and 3 m^2 / ranks words to close the gaps. Held per rank:
 * the old factor beside the new one; to forget, two copies more of the rows from the first removed
 * one on. */
#include "models/krr/krr_update.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/prepare.h"
#include "linalg/factor/rank_update.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/operators/linop.h"

#define RESIDUAL_WANTED 1e-13 /* else one step of refinement follows */

static dkm_local update_check(const dkm_krr_dual *s)
{
    dkm_ctx *ctx = s->fitted.ctx;

    if (!s->factor.retained)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "the model has no factor to change: fit it with --keep-factor");
    if (dkm_kernel_needs_training_set(s->fitted.kernel))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "values of the kernel %s depend on all training inputs: fit anew",
                        dkm_kernel_text(s->fitted.kernel));
    return DKM_LOCAL_OK;
}

/* A state for other examples, with the kernel, grid, blocks and gamma of another one. Its Gram matrix
 * is scaled by the roots of weights until update_solve() is done. */
static dkm_status update_begin(const dkm_krr_dual *old, const dkm_data *X, dkm_data **Y,
                               const dkm_data *weights, dkm_krr_dual *s)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {dkm_grid_rows(old->fitted.grid), dkm_grid_cols(old->fitted.grid),
                         old->fitted.nb};

    DKM_TRY(dkm_fitted_kernel_open(&s->fitted, old->fitted.ctx, X, old->fitted.kernel, &layout));
    s->factor = (dkm_krr_factor){
        .retained = 1, .jitter = old->factor.jitter, .center = old->factor.center, .Y = *Y};
    *Y = NULL;
    s->weighted = weights != NULL;
    DKM_TRY(dkm_krr_factor_set_weights(&s->factor, weights));
    dkm_krr_factor_weigh(&s->factor, &s->fitted, 1);
    DKM_TRY(dkm_dmat_create(s->fitted.grid, dkm_data_rows(X), dkm_data_rows(X), s->fitted.nb,
                            s->fitted.nb, DKM_F64, &s->factor.L));
out:
    return status;
}

/* rows = (L L')^-1 rows */
static dkm_status update_apply_inverse(const dkm_dmat *L, dkm_multivec *rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *B = NULL;

    if (rows->cols <= DKM_NRHS_BLOCK)
        return dkm_la_potrs_multivec(L, rows->cols, rows->a);
    DKM_TRY(dkm_dmat_create_like(L, rows->cols, dkm_dmat_row_block(L), DKM_F64, &B));
    DKM_TRY(dkm_dmat_from_rows(B, rows->a));
    dkm_la_trsm('N', L, B);
    dkm_la_trsm('T', L, B);
    DKM_TRY(dkm_dmat_to_rows(B, rows->a));
out:
    dkm_dmat_destroy(&B);
    return status;
}

/* R = T - (K + gamma I) B, with K computed anew; its norm over that of T. */
static dkm_status update_residual(const dkm_krr_dual *s, const dkm_multivec *T,
                                  const dkm_multivec *B, dkm_multivec *R, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_kernel_op K = {.grid = s->fitted.grid,
                       .X = s->fitted.prepared,
                       .nb = s->fitted.nb,
                       .scale = 1.0,
                       .shift = s->outputs.gamma};
    double norm = dkm_multivec_norm(T);

    DKM_TRY(dkm_kernel_op_apply(&K, B, R));
    dkm_multivec_scale(-1.0, R);
    dkm_multivec_axpy(1.0, T, R);
    *residual = norm > 0 ? dkm_multivec_norm(R) / norm : dkm_multivec_norm(R);
    DKM_REQUIRE(s->fitted.ctx, isfinite(*residual), DKM_ERR_NUMERIC,
                "the ridge solution is not finite: fit anew");
out:
    return status;
}

/* B for all outputs, by the factor; one step of refinement where the residual asks for it. */
static dkm_status update_solve(dkm_krr_dual *s, const dkm_krr_dual *old, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx m = dkm_data_rows(s->fitted.X), p;
    dkm_dmat *T = NULL;
    dkm_multivec t = {0}, b = {0}, r = {0};
    dkm_krr_settings settings = {.center = s->factor.center, .weights = s->factor.weights};

    s->outputs.gamma = old->outputs.gamma;
    DKM_TRY(dkm_krr_outputs_learn(&s->outputs, &s->fitted, s->factor.Y, &settings, &T));
    s->outputs.encoder.level = old->outputs.encoder.level;
    p = dkm_dmat_cols(T);
    DKM_AGREE(ctx, dkm_multivec_init(&t, ctx, m, p));
    DKM_AGREE(ctx, dkm_multivec_init(&b, ctx, m, p));
    DKM_AGREE(ctx, dkm_multivec_init(&r, ctx, m, p));
    t.cols = b.cols = r.cols = p;
    DKM_TRY(dkm_dmat_to_rows(T, t.a));
    dkm_multivec_copy(&t, &b);
    DKM_TRY(update_apply_inverse(s->factor.L, &b));
    DKM_TRY(update_residual(s, &t, &b, &r, residual));
    if (*residual > RESIDUAL_WANTED) {
        DKM_TRY(update_apply_inverse(s->factor.L, &r));
        dkm_multivec_axpy(1.0, &r, &b);
        DKM_TRY(update_residual(s, &t, &b, &r, residual));
    }
    DKM_TRY(dkm_dmat_create_like(T, p, s->fitted.nb, DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, b.a));
    dkm_example_weights_scale(&s->factor.roots, s->B);
    dkm_example_weights_close(&s->outputs.weights);
    dkm_krr_factor_weigh(&s->factor, &s->fitted, 0);
out:
    dkm_multivec_free(&r);
    dkm_multivec_free(&b);
    dkm_multivec_free(&t);
    dkm_dmat_destroy(&T);
    return status;
}

/* What was done before and now: rows of 1 or -1 and a number of examples. */
static dkm_status update_remember(dkm_krr_dual *s, const dkm_krr_dual *old, double sign,
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

/* A part of a matrix that begins at multiples of nb P and nb Q: its blocks lie as those of a matrix
 * of its own. */
static dkm_dmat update_view(const dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx m, dkm_idx n)
{
    dkm_dmat view = *A;
    int p = dkm_grid_row(A->grid), q = dkm_grid_col(A->grid);
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);

    view.m = m;
    view.n = n;
    if (p < 0)
        return view;
    view.m_loc = dkm_cyclic_count(m, A->mb, p, P);
    view.n_loc = dkm_cyclic_count(n, A->nb, q, Q);
    view.a.f64 = A->a.f64 + i / P + j / Q * A->ld;
    return view;
}

/* The end of the last full round of blocks over the grid before row @p m. */
static dkm_idx update_aligned(const dkm_fitted_kernel *fitted, dkm_idx m)
{
    dkm_idx P = dkm_grid_rows(fitted->grid), Q = dkm_grid_cols(fitted->grid), lcm = P;

    while (lcm % Q != 0)
        lcm += P;
    return m / (fitted->nb * lcm) * (fitted->nb * lcm);
}

/* B <- A, of the same shape. */
static void update_copy(const dkm_dmat *A, dkm_dmat *B)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        memcpy(B->a.f64 + jl * B->ld, A->a.f64 + jl * A->ld, (size_t)A->m_loc * sizeof(double));
}

/* Rows [from, m) of K into the last rows of A. */
static dkm_status update_gram_rows(const dkm_krr_dual *s, dkm_idx from)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx m = dkm_data_rows(s->fitted.X), *indices = NULL;
    dkm_data *rows = NULL;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL, below;

    DKM_AGREE(ctx, dkm_alloc(ctx, m - from, &indices));
    for (dkm_idx i = from; i < m; i++)
        indices[i - from] = i;
    DKM_TRY(dkm_data_select(s->fitted.X, m - from, indices, &rows));
    DKM_TRY(dkm_kernel_prepare_new(s->fitted.prepared, rows, &prepared));
    prepared->scale = s->factor.roots.root ? s->factor.roots.root + from : NULL;
    DKM_TRY(dkm_gram_cross(s->fitted.grid, s->fitted.kernel, prepared, s->fitted.prepared,
                           s->fitted.nb, s->fitted.nb, DKM_F64, &K));
    below = update_view(s->factor.L, from, 0, m - from, m);
    update_copy(K, &below);
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&rows);
    DKM_FREE(indices);
    return status;
}

/* The factor of all examples from that of the first ones. */
static dkm_status update_extend(dkm_krr_dual *s, const dkm_krr_dual *old)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx m = dkm_data_rows(s->fitted.X), info = 0;
    dkm_idx from = update_aligned(&s->fitted, dkm_data_rows(old->fitted.X));
    dkm_dmat *L = s->factor.L, L11, L21, L22, was;

    dkm_phase_begin(ctx, "extend");
    L11 = update_view(L, 0, 0, from, from);
    was = update_view(old->factor.L, 0, 0, from, from);
    update_copy(&was, &L11);
    DKM_TRY(update_gram_rows(s, from));
    L21 = update_view(L, from, 0, m - from, from);
    L22 = update_view(L, from, from, m - from, m - from);
    dkm_dmat_shift_diagonal(&L22, old->outputs.gamma + old->factor.jitter);
    if (from > 0) {
        dkm_la_trsm_right(&L11, &L21);
        dkm_la_syrk('N', -1.0, &L21, 1.0, &L22);
    }
    DKM_TRY(dkm_la_potrf(&L22, &info));
    DKM_REQUIRE(ctx, info == 0, DKM_ERR_NUMERIC,
                "with the new examples K + gamma I is not positive definite any more (leading "
                "minor %lld): fit anew with a larger gamma",
                (long long)(from + info));
out:
    dkm_phase_end(ctx);
    return status;
}

/* The new state takes the place of the old one. */
static void update_replace(dkm_krr_dual *old, dkm_krr_dual *s)
{
    dkm_krr_dual was = *old;

    *old = *s;
    *s = was;
}

static void update_clear(dkm_krr_dual *s)
{
    dkm_krr_std_clear(&s->std);
    dkm_krr_factor_clear(&s->factor);
    dkm_dmat_destroy(&s->B);
    dkm_krr_outputs_clear(&s->outputs);
    dkm_fitted_kernel_close(&s->fitted);
}

static void update_report(const dkm_krr_dual *s, const char *what, dkm_idx count, double residual,
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

    DKM_AGREE(ctx, update_check(old));
    DKM_REQUIRE(ctx, dkm_data_rows(X) == dkm_data_rows(Y), DKM_ERR_ARG,
                "%lld inputs and %lld outputs to append: they must match",
                (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    DKM_TRY(dkm_error_context(ctx, "x", dkm_data_join(old->fitted.X, X, &allX)));
    DKM_TRY(dkm_error_context(ctx, "y", dkm_data_join(old->factor.Y, Y, &allY)));
    DKM_AGREE(ctx, update_check_weights(ctx, weights, dkm_data_rows(X)));
    DKM_TRY(update_join_weights(old, weights, dkm_data_rows(X), &allW));
    DKM_TRY(dkm_krr_factor_open(&old->factor, &old->fitted, old->outputs.gamma));
    DKM_TRY(update_begin(old, allX, &allY, allW, &s));
    DKM_TRY(update_extend(&s, old));
    DKM_TRY(update_solve(&s, old, &residual));
    DKM_TRY(update_remember(&s, old, 1.0, dkm_data_rows(X)));
    update_replace(old, &s);
    update_report(old, "appended", dkm_data_rows(X), residual, report);
out:
    update_clear(&s);
    dkm_data_destroy(&allW);
    dkm_data_destroy(&allY);
    dkm_data_destroy(&allX);
    return status;
}

/* Which rows stay and which go, both ascending; marked by a flag each. */
typedef struct selection {
    dkm_idx retained, gone;
    dkm_idx *keep, *go;
} selection;

static dkm_local selection_open(selection *z, dkm_ctx *ctx, dkm_idx m, dkm_idx count,
                                const dkm_idx *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    char *out = NULL;

    DKM_STEP(dkm_calloc(ctx, m, &out));
    DKM_STEP(dkm_alloc(ctx, m, &z->keep));
    DKM_STEP(dkm_alloc(ctx, m, &z->go));
    for (dkm_idx i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= m)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG,
                              "row %lld is not there: the model has %lld examples, 0 to %lld",
                              (long long)rows[i], (long long)m, (long long)(m - 1)));
        if (out[rows[i]])
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "row %lld is named twice", (long long)rows[i]));
        out[rows[i]] = 1;
    }
    if (count == 0 || count == m)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "%s of %lld examples to forget: name 1 to %lld",
                          count == 0 ? "none" : "all", (long long)m, (long long)(m - 1)));
    for (dkm_idx i = 0; i < m; i++) {
        if (out[i])
            z->go[z->gone++] = i;
        else
            z->keep[z->retained++] = i;
    }
out:
    DKM_FREE(out);
    return local;
}

static void selection_close(selection *z)
{
    DKM_FREE(z->go);
    DKM_FREE(z->keep);
}

/* Columns @p cols of the rows of @p from, as a matrix. */
static dkm_status update_take_columns(const dkm_data *from, dkm_idx count, const dkm_idx *cols,
                                      dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(from);
    dkm_idx n = dkm_data_local_rows(from), m = dkm_data_cols(from);
    const double *values = dkm_data_values_const(from);
    double *rows = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * count, &rows));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < count; j++)
            rows[i * count + j] = values[i * m + cols[j]];
    DKM_TRY(dkm_dmat_from_rows(A, rows));
out:
    DKM_FREE(rows);
    return status;
}

/* The rows of the old factor from @p from on that stay, in slabs; zero above the diagonal. */
static dkm_status update_kept_rows(const dkm_krr_dual *old, dkm_idx from, const selection *z,
                                   dkm_data **retained)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_idx m = dkm_data_rows(old->fitted.X), *indices = NULL;
    dkm_dmat below = update_view(old->factor.L, from, 0, m - from, m);
    dkm_data *rows = NULL;

    *retained = NULL;
    DKM_TRY(dkm_data_create_dense(ctx, m - from, m, &rows));
    DKM_TRY(dkm_dmat_to_rows(&below, dkm_data_values(rows)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(rows); i++) {
        dkm_idx ig = from + dkm_data_local_first(rows) + i;
        memset(dkm_data_values(rows) + i * m + ig + 1, 0, (size_t)(m - ig - 1) * sizeof(double));
    }
    DKM_AGREE(ctx, dkm_alloc(ctx, z->retained - from, &indices));
    for (dkm_idx i = from; i < z->retained; i++)
        indices[i - from] = z->keep[i] - from;
    DKM_TRY(dkm_data_select(rows, z->retained - from, indices, retained));
out:
    DKM_FREE(indices);
    dkm_data_destroy(&rows);
    return status;
}

/* The factor without some rows: gaps are closed, and what their columns held is added. */
static dkm_status update_shrink(dkm_krr_dual *s, const dkm_krr_dual *old, const selection *z)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx from = update_aligned(&s->fitted, z->go[0]), n = z->retained, at = 0, *first = NULL;
    dkm_dmat *L = s->factor.L, *V = NULL, top, was, below, last;
    dkm_data *rows = NULL;

    dkm_phase_begin(ctx, "shrink");
    top = update_view(L, 0, 0, from, from);
    was = update_view(old->factor.L, 0, 0, from, from);
    update_copy(&was, &top);
    if (n > from) {
        DKM_AGREE(ctx, dkm_alloc(ctx, z->gone, &first));
        DKM_TRY(update_kept_rows(old, from, z, &rows));
        DKM_TRY(dkm_dmat_create(s->fitted.grid, n - from, z->gone, s->fitted.nb, 1, DKM_F64, &V));
        DKM_TRY(update_take_columns(rows, z->gone, z->go, V));
        below = update_view(L, from, 0, n - from, n);
        DKM_TRY(update_take_columns(rows, n, z->keep, &below));
        for (dkm_idx c = 0; c < z->gone; c++) { /* rows below the one that goes */
            while (at < n && z->keep[at] < z->go[c])
                at++;
            first[c] = at - from;
        }
        last = update_view(L, from, from, n - from, n - from);
        DKM_TRY(dkm_la_rank_update(&last, V, first));
    }
out:
    dkm_phase_end(ctx);
    dkm_data_destroy(&rows);
    dkm_dmat_destroy(&V);
    DKM_FREE(first);
    return status;
}

dkm_status dkm_krr_forget(dkm_krr_dual *old, dkm_idx count, const dkm_idx *rows, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_krr_dual s = {0};
    selection z = {0};
    dkm_data *X = NULL, *Y = NULL, *W = NULL;
    double residual = 0;

    DKM_AGREE(ctx, update_check(old));
    DKM_AGREE(ctx, selection_open(&z, ctx, dkm_data_rows(old->fitted.X), count, rows));
    DKM_TRY(dkm_data_select(old->fitted.X, z.retained, z.keep, &X));
    DKM_TRY(dkm_data_select(old->factor.Y, z.retained, z.keep, &Y));
    if (old->factor.weights)
        DKM_TRY(dkm_data_select(old->factor.weights, z.retained, z.keep, &W));
    DKM_TRY(dkm_krr_factor_open(&old->factor, &old->fitted, old->outputs.gamma));
    DKM_TRY(update_begin(old, X, &Y, W, &s));
    DKM_TRY(update_shrink(&s, old, &z));
    DKM_TRY(update_solve(&s, old, &residual));
    DKM_TRY(update_remember(&s, old, -1.0, count));
    update_replace(old, &s);
    update_report(old, "forgotten", count, residual, report);
out:
    update_clear(&s);
    dkm_data_destroy(&W);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    selection_close(&z);
    return status;
}
