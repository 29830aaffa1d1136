#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"
#include "cli/options/preimage_options.h"

/* What kpca predicts are coordinates, whatever the options of pre-images say. */
static dkm_local cmd_predict_check_objects(run *r, const dkm_model *model)
{
    if (strcmp(dkm_model_method(model), "kpca") != 0 || !preimage_asked(r))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "%s: a model of kpca predicts coordinates: write them by encode, and turn them "
                    "into objects by decode",
                    r->args->positionals[0]);
}

/* --scores, --proba and --threshold. */
static dkm_status choose_prediction(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;
    int scores = args_flag(r->args, "scores"), probabilities = args_flag(r->args, "proba");
    const char *text = args_text(r->args, "threshold");
    double threshold = 0.5;
    char *end = NULL;

    if (!scores && !probabilities && !text)
        return DKM_OK;
    DKM_REQUIRE(r->ctx, scores + probabilities + (text != NULL) == 1, DKM_ERR_ARG,
                "give one of --scores, --proba and --threshold");
    if (text && strcmp(text, "auto") != 0)
        threshold = strtod(text, &end);
    else if (text)
        threshold = NAN;
    DKM_REQUIRE(r->ctx, !end || (*end == '\0' && end != text && isfinite(threshold)), DKM_ERR_ARG,
                "--threshold is a number or auto, not '%s'", text);
    DKM_TRY(
        run_error_context(r, r->args->positionals[0],
                          dkm_model_choose_prediction(model,
                                                      scores          ? DKM_PREDICT_SCORES
                                                      : probabilities ? DKM_PREDICT_PROBABILITIES
                                                                      : DKM_PREDICT_OUTPUTS,
                                                      threshold)));
out:
    return status;
}

static dkm_status cmd_predict_prepare(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, cmd_predict_check_objects(r, model));
    DKM_TRY(choose_prediction(r, model));
    DKM_TRY(preimage_choose(r, model));
out:
    return status;
}

static dkm_status cmd_predict(run *r)
{
    static const streaming through = {.from = "x",
                                      .prepare = cmd_predict_prepare,
                                      .apply = dkm_model_predict,
                                      .type = dkm_model_output_type,
                                      .cols = dkm_model_output_cols};

    return stream_through_model(r, &through);
}

static const option options[] = {
    ROW_X("new inputs, of the kind the model was trained on"),
    ROW_X_TYPE,
    ROW_KERNEL_DIR,
    ROW_LABELS,
    ROW_OUTPUT("predictions to write: .npy .csv .tsv .h5 .txt .sets .svm"),
    {.name = "scores",
     .kind = OPT_FLAG,
     .help = "write decision values instead, of models of krr and svm: one column per class or "
             "label, ascending"},
    {.name = "proba",
     .kind = OPT_FLAG,
     .help = "write probabilities of classes instead, of models of krr that were fitted with --loo "
             "or several gammas: softmax of the scores, calibrated on leave-one-out predictions"},
    {.name = "threshold",
     .kind = OPT_TEXT,
     .metavar = "T|auto",
     .help =
         "of label sets by krr: predict the labels with such a score, 0.5 when not given; auto: "
         "those down to a share of the greatest score of the row, the share with the greatest "
         "leave-one-out F1 of the training examples"},
    {0}};

const command command_predict = {
    .name = "predict",
    .summary = "predict the outputs of new inputs with a model",
    .about = "Inputs are streamed in chunks: memory does not grow with their number, and any "
             "number of ranks can use a model, whatever number made it. A model of kde predicts "
             "coordinates of outputs and turns them into objects. A model of kpca predicts "
             "coordinates, as `dkmap encode` does, and `dkmap decode` turns them into "
             "objects.\n" PREIMAGE_ABOUT,
    .example = "mpirun -np 4 dkmap predict model.h5 --x new.npy -o predictions.npy\n"
               "  dkmap predict kde.h5 --x new.npy --candidates all.npy --top 5 -o best.csv\n"
               "  dkmap predict kde.h5 --x new.npy --preimage learned --kz 'rbf(sigma=1)' -o y.npy",
    .positionals = "MODEL",
    .tables = {options, preimage_options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_predict,
};
