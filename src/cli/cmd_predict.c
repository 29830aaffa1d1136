#include "commands.h"
#include "rows.h"
#include "stream.h"

static dkm_status predict(run *r)
{
    return stream_through_model(r, NULL, stream_choose_preimage);
}

static const option options[] = {
    ROW_X("new inputs, of the kind the model was trained on"),
    ROW_X_TYPE,
    {.name = "preimage",
     .kind = OPT_WORD,
     .words = "auto|candidates|linear|coordinates|",
     .preset = "auto",
     .hint = "METHOD",
     .help = "how predicted coordinates become objects (kde): the nearest candidate, the closed "
             "form of a linear kernel, or not at all; auto takes what suits the output kernel"},
    {.name = "candidates",
     .kind = OPT_TEXT,
     .hint = "FILE",
     .help = "outputs to choose from; the training outputs where none are given"},
    ROW_Y_TYPE,
    {.name = "top",
     .kind = OPT_WHOLE,
     .least = 1,
     .hint = "N",
     .help = "write the indices of the best N candidates and their squared distances, alternating"},
    ROW_OUTPUT("predictions to write: .npy .csv .tsv .h5 .txt"),
    {0}};

const command command_predict = {
    .name = "predict",
    .summary = "predict the outputs of new inputs with a model",
    .about = "Inputs stream through in stretches: memory does not grow with their number, and any "
             "number of ranks can use a model, whatever number made it.",
    .example = "mpirun -np 4 dkmap predict model.h5 --x new.npy -o predictions.npy",
    .operands = "MODEL",
    .tables = {options, compute_options, report_options},
    .run = predict,
};
