#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"

static dkm_status cmd_encode(run *r)
{
    static const streaming through = {.only = "kpca or lle",
                                      .from = "x",
                                      .apply = dkm_model_predict,
                                      .type = dkm_model_output_type,
                                      .cols = dkm_model_output_cols};

    return stream_through_model(r, &through);
}

static const option options[] = {ROW_X("objects to encode, of the kind the model was trained on"),
                                 ROW_X_TYPE,
                                 ROW_KERNEL_DIR,
                                 ROW_OUTPUT("coordinates to write: .npy .csv .tsv .h5 .txt"),
                                 {0}};

const command command_encode = {
    .name = "encode",
    .summary = "coordinates of objects by a kpca or lle model",
    .about = "Objects are streamed in chunks, as they do in predict.",
    .example = "mpirun -np 4 dkmap encode components.h5 --x new.npy -o z.npy",
    .positionals = "MODEL",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_encode,
};
