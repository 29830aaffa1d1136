#include "cli/options/preimage_options.h"

#include "cli/options/common_options.h"
#include "cli/options/xy_reader.h"

#define WORD_OF(code, name) name "|"

const option preimage_options[] = {
    {.name = "preimage",
     .kind = OPT_CHOICE,
     .choices = DKM_PREIMAGE_LIST(WORD_OF),
     .default_text = "auto",
     .metavar = "METHOD",
     .help = "how coordinates become objects (kde, kpca), as described above"},
    {.name = "candidates",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "objects to choose from; the training objects where none are given"},
    ROW_Y_TYPE,
    {.name = "top",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "N",
     .help = "write the indices of the best N candidates and their squared distances, alternating"},
    {.name = "approximate",
     .kind = OPT_REAL,
     .metavar = "RECALL",
     .help = "look for candidates by an index of faiss, which need not find the best: into as many "
             "of its cells as "
             "find this share of them, such as 0.95, for a sample of the inputs; the share is "
             "reported"},
    {.name = "neighbors",
     .aliases = "neighbours|",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "N",
     .help =
         "training objects that mds measures by (10), or letters that vote on one (strings, 5)"},
    {.name = "window",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "W",
     .help = "letters of the input around each letter (strings), odd; 3 when not given"},
    {.name = "window-weights",
     .kind = OPT_CHOICE,
     .choices = DKM_WINDOW_WEIGHTS_LIST(WORD_OF),
     .default_text = "equal",
     .metavar = "WORD",
     .help = "what the places of that window weigh when windows are compared (strings): all the "
             "same, or "
             "weights chosen by leave-one-out on the training strings"},
    {.name = "kz",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help = "kernel on coordinates, of a learned pre-image; with strings, of a classifier of "
             "letters by coordinates and windows, in place of neighbors"},
    {.name = "gamma-z",
     .kind = OPT_REAL,
     .metavar = "G",
     .help = "ridge of a learned pre-image, or of a classifier of letters; 1e-3 when not given"},
    {0}};

#define STREAMED 134217728.0 /* bytes per rank from which on candidates are not held at once */
#define OBJECT   64.0        /* bytes of a string or set, about */

static int64_t preimage_options_given(const run *r, const char *name)
{
    return args_text(r->args, name) ? args_int(r->args, name) : 0;
}

/* Bytes of candidates in memory; 0 of those that are not streamed. */
static double bytes_of(const dkm_source *source)
{
    double rows = (double)dkm_source_rows(source), cols = (double)dkm_source_cols(source);

    switch (dkm_source_type(source)) {
    case DKM_DENSE:
        return rows * cols * sizeof(double);
    case DKM_STRINGS:
    case DKM_SETS:
    case DKM_LABEL_SETS:
        return rows * OBJECT;
    default:
        return 0;
    }
}

/* Candidates that would take many bytes of a rank stay in their file. */
static dkm_status open_candidates(run *r, const char *path, const dkm_model *model,
                                  dkm_preimage_settings *settings)
{
    const char *type = args_text(r->args, "y-type");
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;

    if (!type)
        type = xy_companion_type(path, dkm_model_output_type(model));
    if (!type) /* of kpca, whose outputs are coordinates */
        type = xy_companion_type(path, dkm_model_decoded_type(model));
    DKM_TRY(dkm_source_open(r->ctx, path, DKM_OUTPUTS, type, &source));
    if (bytes_of(source) > STREAMED * dkm_ctx_size(r->ctx)) {
        settings->stream = source;
        source = NULL;
    } else {
        DKM_TRY(dkm_source_read(source, 0, dkm_source_rows(source), &settings->candidates));
    }
out:
    dkm_source_close(&source);
    return status;
}

int preimage_asked(const run *r)
{
    static const char *const names[] = {"candidates", "top",     "neighbors",  "window",
                                        "kz",         "gamma-z", "approximate"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (args_text(r->args, names[k]))
            return 1;
    return args_int(r->args, "preimage") != DKM_PREIMAGE_AUTO ||
           args_int(r->args, "window-weights") != DKM_WINDOW_WEIGHTS_EQUAL;
}

static dkm_local check_ridge(run *r)
{
    if (args_text(r->args, "gamma-z") && !args_text(r->args, "kz"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--gamma-z is the ridge of --kz: give that too");
    return DKM_LOCAL_OK;
}

static dkm_local read_approximate(run *r, double *recall)
{
    if (!args_text(r->args, "approximate"))
        return DKM_LOCAL_OK;
    *recall = args_real(r->args, "approximate");
    if (!(*recall > 0 && *recall <= 1))
        return dkm_fail(
            r->ctx, DKM_ERR_ARG,
            "--approximate is the share of the best candidates to be found, above 0 and at most 1, "
            "not %g",
            *recall);
    return DKM_LOCAL_OK;
}

void preimage_report(run *r)
{
    const dkm_search_info *info = &r->search;

    if (info->pivots == 0 && info->sample == 0)
        return;
    report_int(r, "candidates", info->candidates);
    report_int(r, "evaluated", info->evaluated);
    if (info->pivots > 0)
        report_int(r, "pivots", info->pivots);
    if (info->sample == 0)
        return;
    report_real(r, "recall", info->recall);
    report_int(r, "recall_points", info->sample);
    report_int(r, "cells", info->cells);
    report_int(r, "probes", info->probes);
}

dkm_status preimage_choose(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings settings = {.method = (dkm_preimage_method)args_int(r->args, "preimage")};
    const char *candidates = args_text(r->args, "candidates"), *kz = args_text(r->args, "kz");

    settings.top = preimage_options_given(r, "top");
    settings.neighbors = preimage_options_given(r, "neighbors");
    settings.window = preimage_options_given(r, "window");
    settings.window_weights = (dkm_window_weights)args_int(r->args, "window-weights");
    settings.info = &r->search;
    settings.gamma_z = args_text(r->args, "gamma-z") ? args_real(r->args, "gamma-z") : 1e-3;
    settings.scores = args_accepts(r->args, "scores") && args_flag(r->args, "scores") &&
                      dkm_model_has_candidates(model);
    if (!preimage_asked(r) && !settings.scores)
        return DKM_OK;
    DKM_AGREE(r->ctx, check_ridge(r));
    DKM_AGREE(r->ctx, read_approximate(r, &settings.approximate));
    if (kz)
        DKM_TRY(dkm_kernel_parse(r->ctx, kz, &settings.kz));
    if (candidates)
        DKM_TRY(open_candidates(r, candidates, model, &settings));
    DKM_TRY(run_error_context(r, candidates ? candidates : r->args->positionals[0],
                              dkm_model_configure(model, &settings)));
out:
    dkm_preimage_settings_clear(&settings);
    return status;
}
