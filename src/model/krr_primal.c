/* f(x) = x'W + b with W = (X'X + gamma I)^-1 X'(Y - 1 b'): the linear kernel's answer, without the
 * training inputs. */
#include "core/alloc.h"
#include "model/krr_head.h"
#include "model/model_impl.h"
#include "scalapack/linalg.h"
#include "solve/moments.h"

#define STRETCH_BYTES 67108864.0 /* of inputs a rank */
#define STRETCH_MOST  65536.0

typedef struct primal {
    dkm_base base; /* of a grid and a block size alone */
    dkm_krr_head head;
    dkm_type type; /* of the inputs */
    dkm_idx d;
    dkm_dmat *W; /* d x cols */
} primal;

static void destroy(void *state)
{
    primal *s = state;

    dkm_dmat_destroy(&s->W);
    dkm_krr_head_clear(&s->head);
    dkm_base_close(&s->base);
    dkm_free_block(s);
}

static dkm_status open_state(dkm_ctx *ctx, dkm_type type, dkm_idx d, const dkm_layout *layout,
                             primal **state)
{
    dkm_status status = DKM_OK;
    primal *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->base.ctx = ctx;
    s->type = type;
    s->d = d;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->base.grid));
    s->base.nb = layout->block ? layout->block : dkm_grid_block(s->base.grid, d);
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

dkm_status dkm_krr_primal_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                              const dkm_krr_settings *settings, dkm_model **model,
                              dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_path_settings path;
    dkm_path_info found = {0};
    dkm_dmat *T = NULL;
    primal *s = NULL;

    *model = NULL;
    DKM_TRY(open_state(ctx, dkm_data_type(X), dkm_data_cols(X), &settings->layout, &s));
    DKM_TRY(dkm_krr_head_learn(&s->head, &s->base, Y, settings->center, &T));
    path = dkm_krr_head_path(&s->head, settings);
    DKM_TRY(dkm_ridge_primal(X, s->base.nb, &path, T, &s->W, &found));
    s->head.gamma = path.gammas[found.best];
    dkm_krr_head_tell(&s->head, &s->base, dkm_data_rows(X), &found, info);
    if (info)
        info->form = "primal";
    status = dkm_model_wrap(ctx, &dkm_method_krr_primal, s, s->head.targets.type,
                            dkm_krr_head_cols(&s->head), model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_path_info_free(&found);
    dkm_dmat_destroy(&T);
    if (s)
        destroy(s);
    return status;
}

/* Sparse rows may have columns that no training input had: their weights are zero. */
static dkm_local check_inputs(const primal *s, const dkm_data *X)
{
    dkm_type type = dkm_data_type(X);

    if (type != s->type)
        return dkm_fail(s->base.ctx, DKM_ERR_ARG,
                        "the model was trained on %s inputs, these are %s", dkm_type_name(s->type),
                        dkm_type_name(type));
    if (type == DKM_DENSE && dkm_data_cols(X) != s->d)
        return dkm_fail(s->base.ctx, DKM_ERR_ARG,
                        "the model was trained on inputs of %lld columns, these have %lld",
                        (long long)s->d, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

/* Inputs as a distributed matrix of dense rows. */
static dkm_status spread(const primal *s, const dkm_data *X, dkm_dmat **E)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(X);
    double *rows = NULL;

    DKM_AGREE(s->base.ctx, dkm_alloc(s->base.ctx, n * s->d, &rows));
    DKM_TRY(
        dkm_dmat_create(s->base.grid, dkm_data_rows(X), s->d, s->base.nb, s->base.nb, DKM_F64, E));
    dkm_moments_rows(X, 0, n, s->d, rows);
    DKM_TRY(dkm_dmat_from_rows(*E, rows));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    primal *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *E = NULL, *F = NULL;

    *Y = NULL;
    dkm_phase_begin(s->base.ctx, "predict");
    DKM_AGREE(s->base.ctx, check_inputs(s, X));
    DKM_TRY(spread(s, X, &E));
    DKM_TRY(dkm_dmat_create_beside(E, s->head.targets.cols, s->base.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, E, s->W, 0.0, F);
    DKM_TRY(dkm_krr_head_decode(&s->head, F, Y));
out:
    dkm_phase_end(s->base.ctx);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&E);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const primal *s = state;
    double width = (double)(2 * s->d + s->head.targets.cols) * sizeof(double);
    double rows = STRETCH_BYTES * dkm_ctx_size(s->base.ctx) / width;

    return (dkm_idx)(rows < 1 ? 1 : rows > STRETCH_MOST ? STRETCH_MOST : rows);
}

static dkm_local name_parts(const primal *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_text(bundle, "kernel", "linear"));
    DKM_STEP(dkm_bundle_put_text(bundle, "input_type", dkm_type_name(s->type)));
    DKM_STEP(dkm_bundle_put_real(bundle, "input_cols", (double)s->d));
    DKM_STEP(dkm_krr_head_to_bundle(&s->head, bundle));
out:
    return local;
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    primal *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->base.ctx, name_parts(s, bundle));
    DKM_TRY(dkm_base_put_matrix(&s->base, bundle, "weights", s->W));
out:
    return status;
}

static dkm_local read_inputs(const dkm_bundle *bundle, dkm_type *type, dkm_idx *d)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *name = "";

    DKM_STEP(dkm_bundle_text(bundle, "input_type", &name));
    DKM_STEP(dkm_bundle_count(bundle, "input_cols", 1, INT64_MAX, d));
    *type = dkm_type_from_name(name);
    if (*type != DKM_DENSE && *type != DKM_SPARSE)
        local = dkm_fail(bundle->ctx, DKM_ERR_FORMAT, "a model of weights for %s inputs cannot be",
                         name);
out:
    return local;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    dkm_type type = DKM_DENSE;
    dkm_idx d = 0;
    primal *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, read_inputs(bundle, &type, &d));
    DKM_TRY(open_state(ctx, type, d, layout, &s));
    DKM_AGREE(ctx, dkm_krr_head_from_bundle(&s->head, bundle));
    DKM_TRY(dkm_base_take_matrix(&s->base, bundle, "weights", s->d, s->head.targets.cols, &s->W));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_krr_primal = {.name = "krr-primal",
                                          .predict = predict,
                                          .stretch = stretch,
                                          .to_bundle = to_bundle,
                                          .from_bundle = from_bundle,
                                          .destroy = destroy};
