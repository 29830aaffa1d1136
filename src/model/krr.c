/* f(x) = k(x, X) B + b with B = (K + gamma I)^-1 (Y - 1 b'); b is the mean of Y, or zero. */
#include <dkmap/krr.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "model/model_impl.h"
#include "model/targets.h"
#include "scalapack/linalg.h"

#define STRETCH_BYTES 67108864.0 /* of cross-Gram a rank */
#define STRETCH_MOST  65536.0

typedef struct krr {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_idx nb;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared;
    dkm_targets targets;
    dkm_dmat *B; /* m x cols */
    double *b;   /* cols */
    double gamma;
} krr;

dkm_krr_settings dkm_krr_settings_default(void)
{
    return (dkm_krr_settings){.ridge = dkm_ridge_settings_default()};
}

static void destroy(void *state)
{
    krr *s = state;

    dkm_dmat_destroy(&s->B);
    DKM_FREE(s->b);
    dkm_targets_clear(&s->targets);
    dkm_prepared_destroy(&s->prepared);
    dkm_data_destroy(&s->X);
    dkm_kernel_destroy(&s->kernel);
    dkm_grid_destroy(&s->grid);
    dkm_free_block(s);
}

/* What fitting and loading share: the grid, the kernel and the prepared training inputs. */
static dkm_status open_state(dkm_ctx *ctx, dkm_data **X, const char *kernel,
                             const dkm_layout *layout, krr **state)
{
    dkm_status status = DKM_OK;
    krr *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->X = *X;
    *X = NULL;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->grid));
    s->nb = layout->block ? layout->block : dkm_grid_block(s->grid, dkm_data_rows(s->X));
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &s->kernel));
    DKM_TRY(dkm_kernel_prepare(s->kernel, s->X, &s->prepared));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, double gamma)
{
    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "x has no rows: there is nothing to learn from");
    if (!(gamma > 0) || !isfinite(gamma))
        return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0", gamma);
    return DKM_LOCAL_OK;
}

/* T = the outputs as numbers less their mean b, block-cyclic. */
static dkm_status spread_targets(krr *s, const dkm_data *Y, int center, dkm_dmat **T)
{
    dkm_status status = DKM_OK;
    double *rows = NULL;
    dkm_idx cols = s->targets.cols;

    DKM_AGREE(s->ctx, dkm_calloc(s->ctx, cols, &s->b));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, dkm_data_local_rows(Y) * cols, &rows));
    dkm_targets_encode(&s->targets, Y, rows);
    DKM_TRY(dkm_dmat_create(s->grid, dkm_data_rows(Y), cols, s->nb, s->nb, DKM_F64, T));
    DKM_TRY(dkm_dmat_from_rows(*T, rows));
    if (center) {
        DKM_TRY(dkm_dmat_column_means(*T, s->b));
        dkm_dmat_add_row(*T, -1.0, s->b);
    }
out:
    DKM_FREE(rows);
    return status;
}

static void describe_fit(const krr *s, const dkm_ridge_info *ridge, dkm_krr_info *info)
{
    if (!info)
        return;
    *info = (dkm_krr_info){.m = dkm_data_rows(s->X),
                           .outputs = s->targets.cols,
                           .P = dkm_grid_rows(s->grid),
                           .Q = dkm_grid_cols(s->grid),
                           .block = s->nb,
                           .ridge = *ridge};
}

static dkm_idx output_cols(const krr *s)
{
    return s->targets.classes ? 1 : s->targets.cols;
}

dkm_status dkm_krr_fit(dkm_ctx *ctx, dkm_data **X, const dkm_data *Y, const dkm_kernel *kernel,
                       const dkm_krr_settings *settings, dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ridge_info ridge;
    dkm_dmat *T = NULL;
    krr *s = NULL;

    *model = NULL;
    DKM_AGREE(ctx, check_fit(ctx, *X, Y, settings->ridge.gamma));
    DKM_TRY(open_state(ctx, X, dkm_kernel_text(kernel), &settings->layout, &s));
    s->gamma = settings->ridge.gamma;
    DKM_TRY(dkm_targets_learn(&s->targets, Y));
    DKM_TRY(spread_targets(s, Y, settings->center, &T));
    DKM_TRY(dkm_ridge_kernel(s->kernel, s->prepared, s->nb, &settings->ridge, T, &s->B, &ridge));
    describe_fit(s, &ridge, info);
    status = dkm_model_wrap(ctx, &dkm_method_krr, s, s->targets.type, output_cols(s), model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_dmat_destroy(&T);
    if (s)
        destroy(s);
    return status;
}

static dkm_local check_inputs(const krr *s, const dkm_data *X)
{
    if (dkm_data_type(X) != dkm_data_type(s->X))
        return dkm_fail(s->ctx, DKM_ERR_ARG, "the model was trained on %s inputs, these are %s",
                        dkm_type_name(dkm_data_type(s->X)), dkm_type_name(dkm_data_type(X)));
    if (dkm_data_type(X) == DKM_DENSE && dkm_data_cols(X) != dkm_data_cols(s->X))
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the model was trained on inputs of %lld columns, these have %lld",
                        (long long)dkm_data_cols(s->X), (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

/* numbers = k(X, training) B + b, in slabs */
static dkm_status evaluate(krr *s, const dkm_prepared *X, dkm_data *numbers)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *F = NULL;

    DKM_TRY(dkm_gram_cross(s->grid, s->kernel, X, s->prepared, s->nb, s->nb, DKM_F64, &K));
    DKM_TRY(dkm_dmat_create_beside(K, s->targets.cols, s->nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, K, s->B, 0.0, F);
    dkm_dmat_add_row(F, 1.0, s->b);
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(numbers)));
out:
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&F);
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;
    dkm_data *numbers = NULL;

    *Y = NULL;
    dkm_phase_begin(s->ctx, "predict");
    DKM_AGREE(s->ctx, check_inputs(s, X));
    DKM_TRY(dkm_kernel_prepare_new(s->prepared, X, &prepared));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), s->targets.cols, &numbers));
    DKM_TRY(evaluate(s, prepared, numbers));
    DKM_TRY(dkm_targets_decode(&s->targets, &numbers, Y));
out:
    dkm_phase_end(s->ctx);
    dkm_data_destroy(&numbers);
    dkm_prepared_destroy(&prepared);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const krr *s = state;
    double width = (double)(dkm_data_rows(s->X) + s->targets.cols) * sizeof(double);
    double rows = STRETCH_BYTES * dkm_grid_rows(s->grid) * dkm_grid_cols(s->grid) / width;

    return (dkm_idx)(rows < 1 ? 1 : rows > STRETCH_MOST ? STRETCH_MOST : rows);
}

static dkm_local name_parts(krr *s, dkm_bundle *bundle, dkm_data **coefficients)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_text(bundle, "kernel", dkm_kernel_text(s->kernel)));
    DKM_STEP(dkm_bundle_put_real(bundle, "gamma", s->gamma));
    DKM_STEP(dkm_bundle_put_reals(bundle, "intercept", s->targets.cols, s->b));
    DKM_STEP(dkm_targets_to_bundle(&s->targets, bundle));
    DKM_STEP(dkm_bundle_lend_data(bundle, "inputs", s->X));
    DKM_STEP(dkm_bundle_put_data(bundle, "coefficients", coefficients));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    krr *s = state;
    dkm_status status = DKM_OK;
    dkm_data *coefficients = NULL;

    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(s->X), s->targets.cols, &coefficients));
    DKM_TRY(dkm_dmat_to_rows(s->B, dkm_data_values(coefficients)));
    DKM_AGREE(s->ctx, name_parts(s, bundle, &coefficients));
out:
    dkm_data_destroy(&coefficients);
    return status;
}

static dkm_local read_intercept(krr *s, const dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *b;
    dkm_idx count = 0;

    DKM_STEP(dkm_bundle_reals(bundle, "intercept", &count, &b));
    DKM_STEP(dkm_bundle_real(bundle, "gamma", &s->gamma));
    DKM_STEP(dkm_calloc(s->ctx, s->targets.cols, &s->b));
    if (count != s->targets.cols)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT,
                          "the model's intercept has %lld numbers, not %lld", (long long)count,
                          (long long)s->targets.cols));
    memcpy(s->b, b, (size_t)count * sizeof *b);
out:
    return local;
}

static dkm_local check_coefficients(const krr *s, const dkm_data *C)
{
    if (dkm_data_rows(C) != dkm_data_rows(s->X) || dkm_data_cols(C) != s->targets.cols)
        return dkm_fail(s->ctx, DKM_ERR_FORMAT,
                        "the model's coefficients are %lld x %lld, not %lld x %lld",
                        (long long)dkm_data_rows(C), (long long)dkm_data_cols(C),
                        (long long)dkm_data_rows(s->X), (long long)s->targets.cols);
    return DKM_LOCAL_OK;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *C = NULL;
    const char *kernel;
    krr *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_bundle_text(bundle, "kernel", &kernel));
    DKM_AGREE(ctx, dkm_bundle_take_data(bundle, "inputs", &X));
    DKM_AGREE(ctx, dkm_bundle_take_data(bundle, "coefficients", &C));
    DKM_TRY(open_state(ctx, &X, kernel, layout, &s));
    DKM_AGREE(ctx, dkm_targets_from_bundle(&s->targets, bundle));
    DKM_AGREE(ctx, read_intercept(s, bundle));
    DKM_AGREE(ctx, check_coefficients(s, C));
    DKM_TRY(
        dkm_dmat_create(s->grid, dkm_data_rows(C), s->targets.cols, s->nb, s->nb, DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, dkm_data_values_const(C)));
    *state = s;
    s = NULL;
out:
    dkm_data_destroy(&C);
    dkm_data_destroy(&X);
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_krr = {.name = "krr",
                                   .predict = predict,
                                   .stretch = stretch,
                                   .to_bundle = to_bundle,
                                   .from_bundle = from_bundle,
                                   .destroy = destroy};
