#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/conformal.h>

#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"
#include "cli/options/preimage_options.h"
#include "cli/options/xy_reader.h"

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

    if (!(scores && !dkm_model_has_candidates(model)) && !probabilities && !text)
        return DKM_OK; /* preimage_choose() asks for scores of candidates */
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

/* --std and --noise. */
static dkm_status choose_std(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;
    const char *text = args_text(r->args, "noise");
    dkm_noise noise = DKM_NOISE_NONE;
    dkm_std_info info = {0};
    double variance = 0;
    char *end = NULL;

    DKM_REQUIRE(r->ctx, args_flag(r->args, "std") || !text, DKM_ERR_ARG,
                "--noise is of standard deviations: give --std too");
    if (!args_flag(r->args, "std"))
        return DKM_OK;
    if (text && strcmp(text, "gamma") == 0)
        noise = DKM_NOISE_RIDGE;
    else if (text && strcmp(text, "auto") == 0)
        noise = DKM_NOISE_ESTIMATED;
    else if (text) {
        noise = DKM_NOISE_GIVEN;
        variance = strtod(text, &end);
    }
    DKM_REQUIRE(r->ctx, !end || (*end == '\0' && end != text), DKM_ERR_ARG,
                "--noise is a variance, gamma or auto, not '%s'", text);
    DKM_TRY(run_error_context(r, r->args->positionals[0],
                              dkm_model_choose_std(model, noise, variance, &info)));
    report_text(r, "std_of", noise == DKM_NOISE_NONE ? "f" : "y");
    report_real(r, "noise", info.noise);
    report_real(r, "prior_scale", info.scale);
    report_text(r, "factor", info.recomputed ? "recomputed" : "model");
out:
    return status;
}

static dkm_status cmd_predict_prepare(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, cmd_predict_check_objects(r, model));
    DKM_REQUIRE(r->ctx,
                !args_text(r->args, "calibration-x") && !args_text(r->args, "calibration-y"),
                DKM_ERR_ARG, "calibration is of prediction sets: give --coverage");
    DKM_TRY(choose_prediction(r, model));
    DKM_TRY(choose_std(r, model));
    DKM_TRY(preimage_choose(r, model));
out:
    return status;
}

/* Residuals of --calibration-x and --calibration-y, read as new inputs of the model are. */
static dkm_status read_calibration(run *r, dkm_model *model)
{
    static const file_options inputs = {"calibration-x", "x-type", DKM_INPUTS, 0};
    static const file_options outputs = {"calibration-y", "y-type", DKM_OUTPUTS, 0};
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL;
    int x = args_text(r->args, "calibration-x") != NULL;

    DKM_REQUIRE(r->ctx, x == (args_text(r->args, "calibration-y") != NULL), DKM_ERR_ARG,
                "give both --calibration-x and --calibration-y");
    if (!x)
        return DKM_OK;
    DKM_TRY(xy_read(r, inputs, outputs, &X, &Y));
    DKM_TRY(
        run_error_context(r, args_text(r->args, "calibration-y"), dkm_model_hold_out(model, X, Y)));
out:
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

static dkm_status prepare_sets(run *r, dkm_model *model)
{
    dkm_status status = DKM_OK;
    dkm_conformal_info info = {0};

    DKM_REQUIRE(r->ctx,
                !args_flag(r->args, "std") && !args_flag(r->args, "scores") &&
                    !args_flag(r->args, "proba") && !args_text(r->args, "threshold") &&
                    !args_text(r->args, "top") && !args_text(r->args, "candidate-lists"),
                DKM_ERR_ARG,
                "--coverage writes prediction sets: leave out --std, --scores, --proba, "
                "--threshold, --top and --candidate-lists");
    DKM_TRY(preimage_choose(r, model));
    DKM_TRY(read_calibration(r, model));
    DKM_TRY(run_error_context(r, r->args->positionals[0],
                              dkm_model_calibrate(model, args_real(r->args, "coverage"), &info)));
    report_real(r, "coverage", args_real(r->args, "coverage"));
    report_text(r, "guarantee", "split conformal");
    report_int(r, "calibration_rows", info.rows);
    report_real(r, "radius", info.radius);
out:
    return status;
}

static dkm_status cmd_predict(run *r)
{
    static const streaming sets = {.from = "x",
                                   .prepare = prepare_sets,
                                   .apply = dkm_model_prediction_sets,
                                   .type = dkm_model_set_type,
                                   .cols = dkm_model_set_cols};
    static const streaming through = {.from = "x",
                                      .prepare = cmd_predict_prepare,
                                      .apply = dkm_model_predict,
                                      .type = dkm_model_output_type,
                                      .cols = dkm_model_output_cols};

    return stream_through_model(r, args_text(r->args, "coverage") ? &sets : &through);
}

static const option options[] = {
    ROW_X("new inputs, of the kind the model was trained on"),
    ROW_X_TYPE,
    ROW_KERNEL_DIR,
    ROW_LABELS,
    ROW_OUTPUT("predictions to write: .npy .csv .tsv .h5 .txt .sets .svm"),
    {.name = "candidate-lists",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help =
         "of jkm, for each input the candidates that count, as label sets of their numbers from "
         "0 on, or of classes ascending; --top and --scores then have nan for others"},
    {.name = "scores",
     .kind = OPT_FLAG,
     .help = "write decision values instead: of models of krr and svm one column per class or "
             "label, ascending; of jkm, kde and knn with --ky one per class or candidate, in their "
             "order, the greater the better: the score of jkm, else minus the squared distance"},
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
    {.name = "std",
     .kind = OPT_FLAG,
     .help = "of numbers by krr: write all means and then all posterior standard deviations of f, "
             "the model being seen as a Gaussian process whose noise has the variance gamma; the "
             "factor is computed anew unless the model was fitted with --keep-factor"},
    {.name = "noise",
     .kind = OPT_TEXT,
     .metavar = "V|gamma|auto",
     .help = "make --std that of new outputs, noise included: of variance V in the squared unit of "
             "the outputs, which scales the kernel to V / gamma; gamma, which leaves the kernel as "
             "it is; or auto, under which the training outputs are most likely"},
    {.name = "coverage",
     .kind = OPT_REAL,
     .flags = DKM_SETTING_POSITIVE | DKM_SETTING_BELOW_ONE,
     .metavar = "C",
     .help = "write prediction sets that hold the output with this probability at least, by split "
             "conformal prediction: of numbers all lower and then all upper ends, of classes label "
             "sets, of kde, knn with --ky and jkm the numbers of all candidates that are near "
             "enough; calibrated by the files below, or by what fit --holdout held out"},
    {.name = "calibration-x",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "inputs that the model was not fitted to, of the type of --x"},
    {.name = "calibration-y",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "their outputs; of jkm classes or numbers of candidates"},
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
