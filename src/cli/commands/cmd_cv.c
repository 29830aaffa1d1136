#include "cli/commands/commands.h"
#include "cli/commands/validation.h"
#include "cli/options/common_options.h"
#include "cli/plot/cv_plot.h"
#include "cli/plot/gnuplot.h"

static dkm_status cv(run *r)
{
    validation v = {.r = r};
    dkm_status status = DKM_OK;

    DKM_TRY(gnuplot_check(r));
    DKM_TRY(validation_open(&v));
    DKM_TRY(v.halving ? dkm_cross_validate_halving(r->ctx, &v.problem, &v.result)
                      : dkm_cross_validate(r->ctx, &v.problem, &v.result));
    DKM_TRY(validation_write_folds(&v));
    DKM_TRY(validation_refit(&v));
    DKM_TRY(validation_write_table(&v));
    DKM_TRY(cv_plot(&v));
    validation_report(&v);
out:
    validation_close(&v);
    return status;
}

#define WORD_OF_LOSS(code, name) name "|"

static const option options[] = {
    {.name = "folds",
     .kind = OPT_INT,
     .min = 2,
     .metavar = "N",
     .default_text = "5",
     .help = "folds; each is predicted by what was learned from the others"},
    {.name = "invert-folds",
     .kind = OPT_FLAG,
     .help = "learn from one fold and test on the rest, instead of learning from all but one"},
    {.name = "train",
     .kind = OPT_CHOICE,
     .flags = OPT_HIDDEN,
     .choices = "rest|one|",
     .default_text = "rest",
     .help = "one: the same as --invert-folds"},
    {.name = "inner-folds",
     .kind = OPT_INT,
     .min = 2,
     .metavar = "N",
     .help = "choose the setting anew inside the training part of each fold, by so many folds of "
             "that: the loss of the outer folds is then what to expect of the choice"},
    ROW_TRY,
    {.name = "search",
     .kind = OPT_CHOICE,
     .metavar = "WORD",
     .choices = "grid|random|halving|",
     .default_text = "grid",
     .help = "grid: every setting of all lists; random: --trials of them, with any value between "
             "the ends of a range; halving: all settings, or --trials of them, on few examples, "
             "the better half on twice as many, and so on"},
    {.name = "trials",
     .kind = OPT_INT,
     .min = 1,
     .max = TRIALS_MAX,
     .metavar = "N",
     .help = "settings to draw at random, of --search random and halving"},
    ROWS_TABLE,
    ROW_LABELS,
    {.name = "loss",
     .kind = OPT_CHOICE,
     .flags = OPT_LIST,
     .metavar = "LOSS[,...]",
     .choices = DKM_LOSS_LIST(WORD_OF_LOSS),
     .help = "what settings are chosen by, and more to measure after it; mse for dense outputs and "
             "zero-one for others when not given; measures of lists of candidates and of scores "
             "are for score alone"},
    {.name = "loss-kernel",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help = "kernel of the outputs, of the loss kernel; --ky when not given"},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "fit all examples with the best setting, and write the model, .h5"},
    {.name = "table",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "write the mean loss of each setting and its standard error, as .csv"},
    ROW_PLOT("draw the loss against each setting, with standard errors; needs gnuplot"),
    {.name = "folds-out",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "write the fold of each example, from 1 on: .npy .csv .txt"},
    {.name = "folds-in",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help =
         "the fold of each example, one per row from 1 on, as --folds-out writes them; in place "
         "of --folds"},
    {.name = "groups",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "a number or string per example: examples with the same stay in one fold; a bare "
             "number is --rank-groups, as it was once"},
    {.name = "rank-groups",
     .kind = OPT_INT,
     .metavar = "N",
     .max = RANK_GROUPS_MAX,
     .default_text = "0",
     .help = "groups of ranks that take folds and kernels of their own; 0 chooses"},
    {0}};

static const char about[] =
    "Tries every combination of the values of --try, which stand for $NAME in kernels, with every "
    "one of the lists that --gamma, --components, --k, --C, --epsilon, --shrink and --svr-epsilon "
    "take "
    "here, and tells the "
    "mean loss of each on examples that were held out, with its standard error over the folds. "
    "A value FIRST:LAST:COUNT of a list is a logarithmic range. "
    "Folds are random, the same for one --seed on any ranks, and keep the shares of classes. "
    "Kernel matrices are computed once and cut for each fold. With -o the best setting is fitted "
    "to "
    "all examples, and the model is written.";

static const command cv_method = {
    .about = about,
    .sweeps = 1,
    .example = "--folds 5",
    .run = cv,
    .tables = {options, dkm_layout_settings, compute_options, report_options},
};

static int has_outputs(const dkm_method *method)
{
    return dkm_method_outputs(method) != NULL;
}

const command command_cv = {
    .name = "cv",
    .summary = "choose settings of a method by cross-validation, and estimate its loss",
    .about = about,
    .example =
        "mpirun -np 4 dkmap cv krr --x x.npy --y y.npy --kx 'rbf(sigma=$s)' --try s=1,2,4 \\\n"
        "      --gamma 1e-3,1e-2,1e-1 --folds 5 --inner-folds 5",
    .each = &cv_method,
    .serves = has_outputs,
};
