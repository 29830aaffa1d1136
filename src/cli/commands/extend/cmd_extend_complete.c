#include "cli/commands/commands.h"
#include "cli/commands/extend/completion_eval.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/gram_file.h"

/* What an --output needs, and what a trial with --y does not. */
static dkm_local cmd_extend_complete_check_options(run *r)
{
    const args *a = r->args;

    for (int k = 0; k < args_count(a, "lambda"); k++) {
        double lambda = args_value(a, "lambda", k)->real;
        if (!(lambda >= 0 && lambda <= 1))
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--lambda is from 0 to 1, not %g", lambda);
    }
    if (!args_text(a, "output") == !args_text(a, "y"))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "give -o to write the joint kernel, or --y to try it on labels: one of the "
                        "two");
    if (args_count(a, "observed") > COMPLETION_MASKS)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "at most %d masks are tried", COMPLETION_MASKS);
    if (args_text(a, "y"))
        return DKM_LOCAL_OK;
    if (args_count(a, "missing") > 0)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--missing is for a trial on labels: give them as --y");
    if (!args_text(a, "observed"))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "which rows are known? give --observed, a number 1 or 0 an object");
    if (args_count(a, "lambda") != 1 || args_count(a, "observed") != 1)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "one kernel matrix is written: give one --lambda and one --observed");
    return DKM_LOCAL_OK;
}

/* Masks often come several to a file, one a column. */
static dkm_local cmd_extend_complete_check_mask(run *r, const char *path, const dkm_data *K,
                                                const dkm_data *mask)
{
    if (dkm_data_rows(mask) == dkm_data_rows(K) && dkm_data_cols(mask) == 1)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "%s: a mask of %lld rows and %lld columns, and the %lld objects of %s want one "
                    "number each, 1 where the matrix is known, else 0; FILE[:, 0:1] takes a column",
                    path, (long long)dkm_data_rows(mask), (long long)dkm_data_cols(mask),
                    (long long)dkm_data_rows(K), args_text(r->args, "gram"));
}

static dkm_status read_masks(run *r, const dkm_data *K, completion_input *in)
{
    dkm_status status = DKM_OK;

    for (; in->masks < args_count(r->args, "observed"); in->masks++) {
        const char *path = args_value(r->args, "observed", in->masks)->text;
        dkm_data **mask = &in->observed[in->masks];
        DKM_TRY(dkm_data_read(r->ctx, path, DKM_INPUTS, "dense", mask));
        DKM_AGREE(r->ctx, cmd_extend_complete_check_mask(r, path, K, *mask));
    }
out:
    return status;
}

static dkm_status cmd_extend_complete_read_all(run *r, dkm_data **K, dkm_data **S,
                                               completion_input *in)
{
    const args *a = r->args;
    dkm_status status = DKM_OK;

    dkm_phase_begin(r->ctx, "read");
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "gram"), DKM_INPUTS, "gram", K));
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "by"), DKM_INPUTS, "gram", S));
    DKM_TRY(read_masks(r, *K, in));
    in->K = *K;
    in->S = *S;
out:
    dkm_phase_end(r->ctx);
    return status;
}

static void cmd_extend_complete_report(run *r, const dkm_complete_info *info, dkm_idx dimensions)
{
    report_int(r, "m", info->m);
    report_int(r, "observed", info->observed);
    report_int(r, "rank", info->by.rank);
    report_real(r, "rank_cutoff", info->by.cutoff);
    report_real(r, "condition", info->by.condition);
    report_real(r, "residual", info->known.residual);
    report_real(r, "by_residual", info->by.residual);
    report_int(r, "dimensions", dimensions);
}

static dkm_status write_joint(run *r, const completion_input *in,
                              const dkm_complete_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_complete_info info;
    dkm_completion *completion = NULL;
    dkm_data *Z = NULL;

    DKM_TRY(run_error_context(
        r, args_text(r->args, "gram"),
        dkm_completion_open(in->K, in->S, in->observed[0], settings, &completion, &info)));
    DKM_TRY(dkm_completion_join(completion, args_real(r->args, "lambda"), &Z));
    cmd_extend_complete_report(r, &info, dkm_data_cols(Z));
    DKM_TRY(gram_file_write_products(r, Z));
out:
    dkm_data_destroy(&Z);
    dkm_completion_close(&completion);
    return status;
}

static dkm_status extend_complete(run *r)
{
    dkm_status status = DKM_OK;
    dkm_complete_settings settings = {.clip = args_flag(r->args, "clip"), .layout = run_layout(r)};
    dkm_data *K = NULL, *S = NULL;
    completion_input in = {0};

    DKM_AGREE(r->ctx, cmd_extend_complete_check_options(r));
    DKM_TRY(gram_file_extrapolation(r, &settings.extrapolate));
    if (args_text(r->args, "output"))
        DKM_TRY(dkm_file_check_writable(r->ctx, args_text(r->args, "output")));
    DKM_TRY(cmd_extend_complete_read_all(r, &K, &S, &in));
    DKM_TRY(args_text(r->args, "y") ? completion_trial(r, &in, &settings)
                                    : write_joint(r, &in, &settings));
out:
    for (int k = 0; k < COMPLETION_MASKS; k++)
        dkm_data_destroy(&in.observed[k]);
    dkm_data_destroy(&S);
    dkm_data_destroy(&K);
    return status;
}

static const option options[] = {
    ROW_GRAM(OPT_REQUIRED, "kernel matrix with rows and columns missing, which hold any number"),
    {.name = "observed",
     .kind = OPT_TEXT,
     .flags = OPT_REPEATED,
     .metavar = "FILE",
     .help = "a number an object: 1 where the matrix is known, 0 where it is missing; several "
             "times with --y"},
    {.name = "by",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE",
     .help = "another kernel matrix of the same objects, complete"},
    {.name = "lambda",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED | OPT_LIST,
     .metavar = "L[,L...]",
     .help = "weight of the complete kernel in the joint one, from 0 to 1; at 0 the other is "
             "extrapolated alone. Several with --y"},
    {.name = "no-shear",
     .kind = OPT_FLAG,
     .help = "let K - K_Q have negative eigenvalues, as in extend fit"},
    ROW_CUTOFF,
    {.name = "clip",
     .kind = OPT_FLAG,
     .help = "drop negative eigenvalues of both matrices, on the observed objects, first"},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "kernel matrix of all objects to write: .npy .csv .tsv .h5"},
    ROWS_COMPLETION_TRIAL,
    {0}};

const command command_extend_complete = {
    .name = "extend complete",
    .summary = "fill the missing rows of a kernel matrix from another, and combine them",
    .about = "The features of an object are its values of the complete kernel to the observed "
             "objects. The incomplete kernel is carried to all objects by them, and combined with "
             "the complete one. With --y nothing is written: what the joint kernel is worth is "
             "reported for every missing share and every lambda.",
    .example =
        "dkmap extend complete --gram structure.npy --observed mask.npy --by sequence.npy \\\n"
        "      --lambda 0.1 -o joint.npy",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = extend_complete,
};
