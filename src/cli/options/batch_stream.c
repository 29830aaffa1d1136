#include "cli/options/batch_stream.h"

#include <math.h>
#include <string.h>

#include <dkmap/data.h>
#include <dkmap/model.h>
#include <dkmap/store.h>

#include "cli/options/preimage_options.h"

#define LISTS "candidate-lists"

typedef struct stream {
    run *r;
    const streaming *through;
    dkm_model *model;
    dkm_source *source;
    dkm_source *lists; /* of candidates, a row per row of the source; or NULL */
    dkm_sink *sink;
} stream;

/* Rows [first, first + count) of the source go through the model to the sink. */
static dkm_local check_complete(run *r, const dkm_data *X)
{
    const double *values = dkm_data_values_const(X);
    dkm_idx d = dkm_data_cols(X);

    for (dkm_idx k = 0; dkm_data_type(X) == DKM_DENSE && k < dkm_data_local_rows(X) * d; k++)
        if (isnan(values[k]))
            return dkm_fail(r->ctx, DKM_ERR_ARG,
                            "row %lld has a missing value, and the model was trained with "
                            "--missing drop: fill it in, or train with --missing mean or median",
                            (long long)(dkm_data_local_first(X) + k / d));
    return DKM_LOCAL_OK;
}

/* The candidates that count for a batch. */
static dkm_status take_lists(stream *s, dkm_idx first, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_data *lists = NULL;

    if (!s->lists)
        return DKM_OK;
    DKM_TRY(dkm_source_read(s->lists, first, count, &lists));
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, LISTS),
                              dkm_model_set_candidate_lists(s->model, lists)));
out:
    dkm_data_destroy(&lists);
    return status;
}

static dkm_status pass_batch(stream *s, dkm_idx first, dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL;

    DKM_TRY(dkm_source_read(s->source, first, count, &X));
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, s->through->from),
                              dkm_agree(s->r->ctx, check_complete(s->r, X))));
    DKM_TRY(take_lists(s, first, count));
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, s->through->from),
                              s->through->apply(s->model, X, &Y)));
    if (s->through->watch)
        s->through->watch(s->through->watcher, first, Y);
    DKM_TRY(dkm_sink_write(s->sink, Y));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* No rows still make one batch, so that inputs of a wrong kind are refused all the same. */
static dkm_status pass_all(stream *s)
{
    dkm_idx m = dkm_source_rows(s->source), step = dkm_model_batch_rows(s->model), first = 0;
    dkm_status status = DKM_OK;

    dkm_phase_begin(s->r->ctx, "stream");
    do {
        dkm_idx count = m - first < step ? m - first : step;
        DKM_TRY(pass_batch(s, first, count));
        first += count;
        dkm_progress(s->r->ctx, (double)first, (double)m);
    } while (first < m);
    DKM_TRY(dkm_sink_commit(s->sink));
out:
    dkm_phase_end(s->r->ctx);
    return status;
}

static dkm_status batch_stream_check_method(run *r, const dkm_model *model, const char *only)
{
    size_t length = strlen(dkm_model_method(model));

    for (const char *word = only; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL)
        if (strcspn(word, " ") == length && strncmp(word, dkm_model_method(model), length) == 0)
            return DKM_OK;
    if (!only)
        return DKM_OK;
    return dkm_agree(r->ctx, dkm_fail(r->ctx, DKM_ERR_ARG,
                                      "%s: a model of %s, and this command is "
                                      "for %s",
                                      r->args->positionals[0], dkm_model_method(model), only));
}

static dkm_status open_lists(stream *s)
{
    run *r = s->r;
    const char *path = args_accepts(r->args, LISTS) ? args_text(r->args, LISTS) : NULL;
    dkm_status status = DKM_OK;

    if (!path)
        return DKM_OK;
    DKM_TRY(dkm_source_open(r->ctx, path, DKM_OUTPUTS, dkm_type_name(DKM_LABEL_SETS), &s->lists));
    DKM_REQUIRE(r->ctx, dkm_source_rows(s->lists) == dkm_source_rows(s->source), DKM_ERR_ARG,
                "%s has %lld rows but %s has %lld", path, (long long)dkm_source_rows(s->lists),
                args_text(r->args, s->through->from), (long long)dkm_source_rows(s->source));
out:
    return status;
}

dkm_status stream_through_model(run *r, const streaming *through)
{
    const char *path = args_text(r->args, "output");
    const char *kind = args_accepts(r->args, "x-type") ? args_text(r->args, "x-type") : NULL;
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    stream s = {.r = r, .through = through};

    DKM_TRY(dkm_file_check_writable(r->ctx, path));
    DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[0], &layout, &s.model));
    DKM_TRY(run_follow_model(r, s.model));
    if (strcmp(through->from, "x") == 0)
        dkm_table_use(r->ctx, dkm_model_table(s.model));
    DKM_TRY(
        dkm_source_open(r->ctx, args_text(r->args, through->from), DKM_INPUTS, kind, &s.source));
    DKM_TRY(batch_stream_check_method(r, s.model, through->only));
    DKM_TRY(open_lists(&s));
    if (through->prepare)
        DKM_TRY(through->prepare(r, s.model));
    if (through->begin)
        DKM_TRY(
            through->begin(through->watcher, dkm_source_rows(s.source), through->cols(s.model)));
    DKM_TRY(dkm_sink_open(r->ctx, path, through->type(s.model), dkm_source_rows(s.source),
                          through->cols(s.model), &s.sink));
    DKM_TRY(pass_all(&s));
    if (through->end)
        DKM_TRY(through->end(through->watcher));
    report_text(r, "method", dkm_model_method(s.model));
    report_int(r, "rows", dkm_source_rows(s.source));
    report_text(r, "type", dkm_type_name(through->type(s.model)));
    if (through->cols(s.model) > 0)
        report_int(r, "outputs", through->cols(s.model));
    preimage_report(r);
    report_seconds(r);
    report_text(r, "output", path);
out:
    dkm_table_use(r->ctx, NULL);
    dkm_sink_close(&s.sink);
    dkm_model_destroy(&s.model);
    dkm_source_close(&s.lists);
    dkm_source_close(&s.source);
    return status;
}
