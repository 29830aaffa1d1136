/* A joint kernel map as a model: predictions, what is to be predicted, and the parts of its file.
 */
#include <dkmap/jkm.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/joint/joint_impl.h"
#include "models/jkm/jkm_impl.h"

void dkm_jkm_destroy(void *state)
{
    dkm_jkm *s = state;

    dkm_data_destroy(&s->U);
    DKM_FREE(s->joint);
    DKM_FREE(s->kx);
    DKM_FREE(s->ky);
    dkm_output_space_close(&s->space);
    dkm_joint_map_close(&s->map);
    dkm_free_block(s);
}

dkm_local dkm_jkm_store_texts(dkm_jkm *s, const char *joint, const char *kx, const char *ky)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_strdup(s->ctx, joint, &s->joint));
    DKM_STEP(dkm_strdup(s->ctx, kx, &s->kx));
    DKM_STEP(dkm_strdup(s->ctx, ky, &s->ky));
out:
    return local;
}

void dkm_jkm_describe(const dkm_jkm *s, dkm_type *type, dkm_idx *cols)
{
    *type = s->top > 0 ? DKM_DENSE : s->space.type;
    *cols = s->top > 0 ? 2 * s->top : s->space.cols;
}

dkm_status dkm_jkm_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_jkm *s = state;
    dkm_status status = DKM_OK;
    dkm_data *G = NULL;

    *Y = NULL;
    dkm_phase_begin(s->ctx, "predict");
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), s->map.r, &G));
    DKM_TRY(dkm_joint_map_apply(&s->map, X, dkm_data_values_const(s->U), dkm_data_values(G)));
    DKM_TRY(dkm_output_space_decode(&s->space, s->top, &G, Y));
    for (dkm_idx k = 1; s->top > 0 && k < dkm_data_local_rows(*Y) * 2 * s->top; k += 2)
        dkm_data_values(*Y)[k] += s->threshold;
out:
    dkm_phase_end(s->ctx);
    dkm_data_destroy(&G);
    return status;
}

static dkm_idx jkm_model_batch_rows(const void *state)
{
    const dkm_jkm *s = state;

    return dkm_fitted_kernel_batch_rows(&s->map.fitted, s->map.m + s->map.r + s->space.cols);
}

static dkm_local check_top(const dkm_jkm *s, const dkm_preimage_settings *settings)
{
    if ((settings->method != DKM_PREIMAGE_AUTO && settings->method != DKM_PREIMAGE_CANDIDATES) ||
        settings->kz || settings->neighbors || settings->window || settings->approximate != 0)
        return dkm_fail(
            s->ctx, DKM_ERR_UNSUPPORTED,
            "a joint kernel map predicts in closed form, or chooses among all candidates");
    if (s->space.count == 0 && (settings->top > 0 || settings->method == DKM_PREIMAGE_CANDIDATES))
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the model predicts vectors: give candidates to choose among them");
    if (settings->top > s->space.count && s->space.count > 0)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the best %lld of %lld candidates cannot be listed: ask for at most %lld",
                        (long long)settings->top, (long long)s->space.count,
                        (long long)s->space.count);
    return DKM_LOCAL_OK;
}

static dkm_status jkm_model_configure(void *state, dkm_preimage_settings *settings, dkm_type *type,
                                      dkm_idx *cols)
{
    dkm_jkm *s = state;
    dkm_status status = DKM_OK;

    if (settings->stream) /* scores are held for all candidates: so are they */
        DKM_TRY(dkm_source_read(settings->stream, 0, dkm_source_rows(settings->stream),
                                &settings->candidates));
    if (settings->candidates)
        DKM_TRY(dkm_output_space_set_candidates(&s->space, &settings->candidates));
    if (settings->top == DKM_PREIMAGE_TOP_ALL && s->space.count > 0)
        settings->top = s->space.count;
    DKM_AGREE(s->ctx, check_top(s, settings));
    s->top = settings->top;
    dkm_jkm_describe(s, type, cols);
out:
    return status;
}

static dkm_status jkm_model_set_lists(void *state, const dkm_data *lists)
{
    dkm_jkm *s = state;

    return dkm_output_space_set_lists(&s->space, lists);
}

static dkm_local jkm_model_name_entries(dkm_jkm *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(archive, "joint_kernel", s->joint));
    DKM_STEP(dkm_archive_put_text(archive, "kx", s->kx));
    DKM_STEP(dkm_archive_put_text(archive, "ky", s->ky));
    DKM_STEP(dkm_archive_put_real(archive, "epsilon", s->epsilon));
    DKM_STEP(dkm_archive_put_real(archive, "C", s->C));
    DKM_STEP(dkm_archive_put_real(archive, "threshold", s->threshold));
    DKM_STEP(dkm_archive_borrow_data(archive, dkm_input_names.objects, s->map.fitted.X));
    DKM_STEP(dkm_fitted_kernel_put_indices(&s->map.fitted, dkm_input_names.indices, archive));
    DKM_STEP(dkm_archive_borrow_data(archive, "machine", s->U));
out:
    return local;
}

static dkm_status jkm_model_to_archive(void *state, dkm_archive *archive)
{
    dkm_jkm *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->ctx, jkm_model_name_entries(s, archive));
    DKM_TRY(dkm_output_space_to_archive(&s->space, archive));
out:
    return status;
}

static dkm_local jkm_model_read_entries(dkm_jkm *s, dkm_archive *archive, dkm_data **X)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *joint = "", *kx = "", *ky = "";

    DKM_STEP(dkm_archive_text(archive, "joint_kernel", &joint));
    DKM_STEP(dkm_archive_text(archive, "kx", &kx));
    DKM_STEP(dkm_archive_text(archive, "ky", &ky));
    DKM_STEP(dkm_jkm_store_texts(s, joint, kx, ky));
    DKM_STEP(dkm_archive_number(archive, "epsilon", -HUGE_VAL, HUGE_VAL, &s->epsilon));
    DKM_STEP(dkm_archive_number(archive, "C", -HUGE_VAL, HUGE_VAL, &s->C));
    if (dkm_archive_find(archive, "threshold"))
        DKM_STEP(dkm_archive_number(archive, "threshold", -HUGE_VAL, HUGE_VAL, &s->threshold));
    DKM_STEP(dkm_archive_take_data(archive, "inputs", X));
    DKM_STEP(dkm_archive_take_rows(archive, "machine", &s->U));
    if (dkm_data_rows(*X) != dkm_data_rows(s->U))
        local =
            dkm_fail(s->ctx, DKM_ERR_FORMAT, "the model has %lld inputs and %lld rows of machine",
                     (long long)dkm_data_rows(*X), (long long)dkm_data_rows(s->U));
out:
    return local;
}

/* The weight vector makes as many numbers as outputs have coordinates, and strings are spelt where
 * the joint kernel looks at characters. */
static dkm_local jkm_model_check_fit(const dkm_jkm *s, const dkm_joint_kernels *kernels)
{
    int n_chars = strcmp(kernels->ky, DKM_JOINT_LETTERS) == 0;

    if (dkm_data_cols(s->U) == s->space.r && n_chars == (s->space.alphabet != NULL))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT,
                    "a machine of %lld columns for outputs of %lld coordinates under %s",
                    (long long)dkm_data_cols(s->U), (long long)s->space.r, kernels->ky);
}

static dkm_status jkm_model_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                         const dkm_layout *layout, void **state)
{
    dkm_status status = DKM_OK;
    dkm_joint_kernels kernels = {0};
    dkm_joint *joint = NULL;
    dkm_data *X = NULL;
    dkm_jkm *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = s->space.ctx = ctx;
    DKM_AGREE(ctx, jkm_model_read_entries(s, archive, &X));
    DKM_TRY(dkm_joint_parse(ctx, s->joint, &joint));
    DKM_AGREE(ctx, dkm_joint_resolve(joint, s->kx, s->ky, &kernels));
    DKM_TRY(dkm_output_space_from_archive(&s->space, archive, layout));
    DKM_AGREE(ctx, jkm_model_check_fit(s, &kernels));
    DKM_TRY(dkm_joint_map_open(&s->map, X, joint, &kernels, s->space.positions, dkm_data_cols(s->U),
                               layout));
    DKM_AGREE(ctx,
              dkm_fitted_kernel_take_indices(&s->map.fitted, dkm_input_names.indices, archive));
    *state = s;
    s = NULL;
out:
    dkm_joint_kernels_clear(&kernels);
    dkm_joint_destroy(&joint);
    dkm_data_destroy(&X);
    if (s)
        dkm_jkm_destroy(s);
    return status;
}

const dkm_model_class dkm_class_jkm = {.name = "jkm",
                                       .predict = dkm_jkm_predict,
                                       .batch_rows = jkm_model_batch_rows,
                                       .configure = jkm_model_configure,
                                       .set_lists = jkm_model_set_lists,
                                       .lists_scores = 1,
                                       .residuals = dkm_jkm_residuals,
                                       .open_sets = dkm_jkm_open_sets,
                                       .prediction_sets = dkm_jkm_prediction_sets,
                                       .to_archive = jkm_model_to_archive,
                                       .from_archive = jkm_model_from_archive,
                                       .destroy = dkm_jkm_destroy};
