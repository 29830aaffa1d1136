/* Ridge regression (Hoerl and Kennard 1970, Technometrics 12(1):55-67,
 * doi:10.1080/00401706.1970.10488634) in the primal: f(x) = x'W + b with W = (X'X + gamma I)^-1
 * X'(Y - 1 b'), the same function as with the linear kernel, but without keeping the training
 * inputs.
 *
 * Cost: m d^2 + d^3 / 3 flops over all ranks; X'X is d x d in blocks, d^2 / ranks numbers per
 * rank. */
#include "core/alloc.h"
#include "linalg/linalg.h"
#include "models/krr/krr_outputs.h"
#include "models/registry/model_impl.h"
#include "solvers/operators/normal_equations.h"

#define BATCH_BYTES 67108864.0 /* of inputs a rank */

typedef struct primal {
    dkm_fitted_kernel fitted; /* of a grid and a block size alone */
    dkm_krr_outputs outputs;
    dkm_type type; /* of the inputs */
    dkm_idx d;
    dkm_dmat *W; /* d x cols */
} primal;

static void krr_primal_destroy(void *state)
{
    primal *s = state;

    dkm_dmat_destroy(&s->W);
    dkm_krr_outputs_clear(&s->outputs);
    dkm_fitted_kernel_close(&s->fitted);
    dkm_free_block(s);
}

static dkm_status krr_primal_open_state(dkm_ctx *ctx, dkm_type type, dkm_idx d,
                                        const dkm_layout *layout, primal **state)
{
    dkm_status status = DKM_OK;
    primal *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->fitted.ctx = ctx;
    s->type = type;
    s->d = d;
    DKM_TRY(dkm_grid_create(ctx, layout->P, layout->Q, &s->fitted.grid));
    s->fitted.nb = layout->block ? layout->block : dkm_grid_block(s->fitted.grid, d);
    *state = s;
    s = NULL;
out:
    if (s)
        krr_primal_destroy(s);
    return status;
}

dkm_status dkm_krr_primal_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                              const dkm_krr_settings *settings, dkm_model **model,
                              dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    dkm_path_settings path;
    dkm_path_info found = {0};
    dkm_data *scaled = NULL;
    dkm_dmat *T = NULL;
    primal *s = NULL;

    *model = NULL;
    DKM_TRY(krr_primal_open_state(ctx, dkm_data_type(X), dkm_data_cols(X), &settings->layout, &s));
    DKM_TRY(dkm_krr_outputs_learn(&s->outputs, &s->fitted, Y, settings, &T));
    path = dkm_krr_outputs_path(&s->outputs, settings);
    DKM_TRY(dkm_example_weights_scale_rows(&s->outputs.weights, X, &scaled));
    DKM_TRY(dkm_ridge_primal(scaled ? scaled : X, s->fitted.nb, &path, T, &s->W, &found));
    dkm_krr_outputs_take(&s->outputs, settings, &found);
    dkm_example_weights_close(&s->outputs.weights);
    dkm_krr_outputs_report(&s->outputs, &s->fitted, dkm_data_rows(X), &found, info);
    if (info)
        info->form = "primal";
    status = dkm_model_wrap(ctx, &dkm_class_krr_primal, s, s->outputs.encoder.type,
                            dkm_krr_outputs_cols(&s->outputs), model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_path_info_free(&found);
    dkm_dmat_destroy(&T);
    dkm_data_destroy(&scaled);
    if (s)
        krr_primal_destroy(s);
    return status;
}

/* Sparse rows may have columns that no training input had: their weights are zero. */
static dkm_local krr_primal_check_inputs(const primal *s, const dkm_data *X)
{
    dkm_type type = dkm_data_type(X);

    if (type != s->type)
        return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                        "the model was trained on %s inputs, these are %s", dkm_type_name(s->type),
                        dkm_type_name(type));
    if (type == DKM_DENSE && dkm_data_cols(X) != s->d)
        return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                        "the model was trained on inputs of %lld columns, these have %lld",
                        (long long)s->d, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

/* Inputs as a distributed matrix of dense rows. */
static dkm_status krr_primal_spread(const primal *s, const dkm_data *X, dkm_dmat **E)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(X);
    double *rows = NULL;

    DKM_AGREE(s->fitted.ctx, dkm_alloc(s->fitted.ctx, n * s->d, &rows));
    DKM_TRY(dkm_dmat_create(s->fitted.grid, dkm_data_rows(X), s->d, s->fitted.nb, s->fitted.nb,
                            DKM_F64, E));
    dkm_normal_equations_rows(X, 0, n, s->d, rows);
    DKM_TRY(dkm_dmat_from_rows(*E, rows));
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status krr_primal_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    primal *s = state;
    dkm_status status = DKM_OK;
    dkm_dmat *E = NULL, *F = NULL;

    *Y = NULL;
    dkm_phase_begin(s->fitted.ctx, "predict");
    DKM_AGREE(s->fitted.ctx, krr_primal_check_inputs(s, X));
    DKM_TRY(krr_primal_spread(s, X, &E));
    DKM_TRY(dkm_dmat_create_like(E, s->outputs.encoder.cols, s->fitted.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, E, s->W, 0.0, F);
    DKM_TRY(dkm_krr_outputs_decode(&s->outputs, F, Y));
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&E);
    return status;
}

static dkm_local krr_primal_choose(void *state, dkm_prediction prediction, double threshold,
                                   dkm_type *type, dkm_idx *cols)
{
    return dkm_target_encoder_choose(&((primal *)state)->outputs.encoder, prediction, threshold,
                                     type, cols);
}

static dkm_idx krr_primal_batch_rows(const void *state)
{
    const primal *s = state;

    return dkm_batch_rows(2 * s->d + s->outputs.encoder.cols, BATCH_BYTES,
                          dkm_ctx_size(s->fitted.ctx));
}

static dkm_local krr_primal_name_entries(const primal *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(archive, "kernel", "linear"));
    DKM_STEP(dkm_archive_put_text(archive, "input_type", dkm_type_name(s->type)));
    DKM_STEP(dkm_archive_put_real(archive, "input_cols", (double)s->d));
    DKM_STEP(dkm_krr_outputs_to_archive(&s->outputs, archive));
out:
    return local;
}

static dkm_status krr_primal_to_archive(void *state, dkm_archive *archive)
{
    primal *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->fitted.ctx, krr_primal_name_entries(s, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(&s->fitted, archive, "weights", s->W));
out:
    return status;
}

static dkm_local read_inputs(const dkm_archive *archive, dkm_type *type, dkm_idx *d)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *name = "";

    DKM_STEP(dkm_archive_text(archive, "input_type", &name));
    DKM_STEP(dkm_archive_count(archive, "input_cols", 1, INT64_MAX, d));
    *type = dkm_type_from_name(name);
    if (*type != DKM_DENSE && *type != DKM_SPARSE)
        local = dkm_fail(archive->ctx, DKM_ERR_FORMAT, "a model of weights for %s inputs cannot be",
                         name);
out:
    return local;
}

static dkm_status krr_primal_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                          const dkm_layout *layout, void **state)
{
    dkm_status status = DKM_OK;
    dkm_type type = DKM_DENSE;
    dkm_idx d = 0;
    primal *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, read_inputs(archive, &type, &d));
    DKM_TRY(krr_primal_open_state(ctx, type, d, layout, &s));
    DKM_AGREE(ctx, dkm_krr_outputs_from_archive(&s->outputs, archive));
    DKM_TRY(dkm_fitted_kernel_take_matrix(&s->fitted, archive, "weights", s->d,
                                          s->outputs.encoder.cols, &s->W));
    *state = s;
    s = NULL;
out:
    if (s)
        krr_primal_destroy(s);
    return status;
}

const dkm_model_class dkm_class_krr_primal = {.name = "krr-primal",
                                              .predict = krr_primal_predict,
                                              .choose = krr_primal_choose,
                                              .batch_rows = krr_primal_batch_rows,
                                              .to_archive = krr_primal_to_archive,
                                              .from_archive = krr_primal_from_archive,
                                              .destroy = krr_primal_destroy};
