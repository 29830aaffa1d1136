#include "cli/commands/commands.h"
#include "cli/options/batch_stream.h"
#include "cli/options/common_options.h"
#include "cli/plot/encode_plot.h"
#include "cli/plot/gnuplot.h"

static dkm_status cmd_encode(run *r)
{
    dkm_status status = DKM_OK;
    encode_plot picture = {0};
    streaming through = {.only = "kpca or lle",
                         .from = "x",
                         .apply = dkm_model_predict,
                         .type = dkm_model_output_type,
                         .cols = dkm_model_output_cols};

    DKM_TRY(encode_plot_open(&picture, r));
    if (args_text(r->args, "plot")) {
        through.begin = encode_plot_begin;
        through.watch = encode_plot_watch;
        through.end = encode_plot_end;
        through.watcher = &picture;
    }
    DKM_TRY(stream_through_model(r, &through));
out:
    encode_plot_close(&picture);
    return status;
}

static const option options[] = {
    ROW_X("objects to encode, of the kind the model was trained on"),
    ROW_X_TYPE,
    ROW_KERNEL_DIR,
    ROW_OUTPUT("coordinates to write: .npy .csv .tsv .h5 .txt"),
    ROW_PLOT("draw the first two coordinates, of at most 5000 objects; needs gnuplot"),
    {.name = "y",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "labels or numbers of the objects, which colour the picture"},
    ROW_Y_TYPE,
    {0}};

const command command_encode = {
    .name = "encode",
    .summary = "coordinates of objects by a kpca or lle model",
    .about = "Objects are streamed in chunks, as they do in predict.",
    .example = "mpirun -np 4 dkmap encode components.h5 --x new.npy -o z.npy\n"
               "  dkmap encode components.h5 --x x.npy --y labels.npy -o z.npy --plot map.svg",
    .positionals = "MODEL",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_encode,
};
