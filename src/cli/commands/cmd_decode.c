#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"
#include "cli/options/preimage_options.h"

static dkm_status cmd_decode(run *r)
{
    static const streaming through = {.only = "kpca or kde",
                                      .from = "z",
                                      .prepare = preimage_choose,
                                      .apply = dkm_model_decode,
                                      .type = dkm_model_decoded_type,
                                      .cols = dkm_model_decoded_cols};

    return stream_through_model(r, &through);
}

static const option options[] = {
    {.name = "z",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE",
     .help = "coordinates, as encode or predict --preimage coordinates writes them"},
    ROW_KERNEL_DIR,
    ROW_OUTPUT("objects to write: .npy .csv .tsv .h5 .txt .sets .svm"),
    {0}};

const command command_decode = {
    .name = "decode",
    .summary = "objects from coordinates along the components of a kpca or kde model",
    .about =
        "Finds objects whose images lie near the points that coordinates stand for. Encode and "
        "decode again to denoise or to compress.\n" PREIMAGE_ABOUT,
    .example = "mpirun -np 4 dkmap encode components.h5 --x noisy.npy -o z.npy\n"
               "  mpirun -np 4 dkmap decode components.h5 --z z.npy -o clean.npy",
    .positionals = "MODEL",
    .tables = {options, preimage_options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_decode,
};
