#include "stream.h"

#include <string.h>

#include <dkmap/data.h>
#include <dkmap/model.h>
#include <dkmap/store.h>

/* Predict rows [first, first + count) of the source and hand them to the sink. */
static dkm_status predict_stretch(run *r, dkm_model *model, dkm_source *source, dkm_idx first,
                                  dkm_idx count, dkm_sink *sink)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL;

    DKM_TRY(dkm_source_read(source, first, count, &X));
    DKM_TRY(run_blame(r, args_text(r->args, "x"), dkm_model_predict(model, X, &Y)));
    DKM_TRY(dkm_sink_write(sink, Y));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* No rows still make one stretch, so that inputs of a wrong kind are refused all the same. */
static dkm_status predict_all(run *r, dkm_model *model, dkm_source *source, dkm_sink *sink)
{
    dkm_idx m = dkm_source_rows(source), step = dkm_model_stretch(model), first = 0;
    dkm_status status = DKM_OK;

    dkm_phase_begin(r->ctx, "stream");
    do {
        dkm_idx count = m - first < step ? m - first : step;
        DKM_TRY(predict_stretch(r, model, source, first, count, sink));
        first += count;
        dkm_progress(r->ctx, (double)first, (double)m);
    } while (first < m);
    DKM_TRY(dkm_sink_commit(sink));
out:
    dkm_phase_end(r->ctx);
    return status;
}

static dkm_status check_method(run *r, const dkm_model *model, const char *only)
{
    if (!only || strcmp(dkm_model_method(model), only) == 0)
        return DKM_OK;
    return dkm_agree(r->ctx, dkm_fail(r->ctx, DKM_ERR_ARG,
                                      "%s: a model of %s, and this command is "
                                      "for %s",
                                      r->args->operands[0], dkm_model_method(model), only));
}

static dkm_preimage_method method_of(const char *word)
{
    return strcmp(word, "candidates") == 0    ? DKM_PREIMAGE_CANDIDATES
           : strcmp(word, "linear") == 0      ? DKM_PREIMAGE_LINEAR
           : strcmp(word, "coordinates") == 0 ? DKM_PREIMAGE_NONE
                                              : DKM_PREIMAGE_AUTO;
}

dkm_status stream_choose_preimage(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings settings = {.method = method_of(args_text(r->args, "preimage"))};
    const char *candidates = args_text(r->args, "candidates");

    settings.top = args_text(r->args, "top") ? args_whole(r->args, "top") : 0;
    if (settings.method == DKM_PREIMAGE_AUTO && !candidates && settings.top == 0)
        return DKM_OK;
    if (candidates)
        DKM_TRY(dkm_data_read(r->ctx, candidates, DKM_OUTPUTS, args_text(r->args, "y-type"),
                              &settings.candidates));
    DKM_TRY(run_blame(r, candidates ? candidates : r->args->operands[0],
                      dkm_model_configure(model, &settings)));
out:
    dkm_data_destroy(&settings.candidates);
    return status;
}

dkm_status stream_through_model(run *r, const char *only,
                                dkm_status (*prepare)(run *r, dkm_model *model))
{
    const char *path = args_text(r->args, "output");
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;
    dkm_model *model = NULL;
    dkm_sink *sink = NULL;

    DKM_TRY(dkm_path_check(r->ctx, path));
    DKM_TRY(dkm_source_open(r->ctx, args_text(r->args, "x"), DKM_INPUTS,
                            args_text(r->args, "x-type"), &source));
    DKM_TRY(dkm_model_load(r->ctx, r->args->operands[0], &layout, &model));
    DKM_TRY(check_method(r, model, only));
    if (prepare)
        DKM_TRY(prepare(r, model));
    DKM_TRY(dkm_sink_open(r->ctx, path, dkm_model_output_type(model), dkm_source_rows(source),
                          dkm_model_output_cols(model), &sink));
    DKM_TRY(predict_all(r, model, source, sink));
    run_tell_text(r, "method", dkm_model_method(model));
    run_tell_int(r, "rows", dkm_source_rows(source));
    run_tell_text(r, "type", dkm_type_name(dkm_model_output_type(model)));
    if (dkm_model_output_cols(model) > 0)
        run_tell_int(r, "outputs", dkm_model_output_cols(model));
    run_tell_seconds(r);
    run_tell_text(r, "output", path);
out:
    dkm_sink_close(&sink);
    dkm_model_destroy(&model);
    dkm_source_close(&source);
    return status;
}
