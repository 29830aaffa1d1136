#include "commands.h"
#include "preimage_options.h"
#include "rows.h"
#include "stream.h"

static dkm_status predict(run *r)
{
    static const streaming through = {.from = "x",
                                      .prepare = preimage_choose,
                                      .apply = dkm_model_predict,
                                      .type = dkm_model_output_type,
                                      .cols = dkm_model_output_cols};

    return stream_through_model(r, &through);
}

static const option options[] = {ROW_X("new inputs, of the kind the model was trained on"),
                                 ROW_X_TYPE,
                                 ROW_OUTPUT("predictions to write: .npy .csv .tsv .h5 .txt"),
                                 {0}};

const command command_predict = {
    .name = "predict",
    .summary = "predict the outputs of new inputs with a model",
    .about = "Inputs stream through in stretches: memory does not grow with their number, and any "
             "number of ranks can use a model, whatever number made it.",
    .example = "mpirun -np 4 dkmap predict model.h5 --x new.npy -o predictions.npy",
    .operands = "MODEL",
    .tables = {options, preimage_options, compute_options, report_options},
    .run = predict,
};
