#include <dkmap/extend.h>

#include "commands.h"
#include "gram_file.h"
#include "rows.h"
#include "run.h"

static dkm_status read_all(run *r, dkm_data **K, dkm_data **S, dkm_data **observed)
{
    const args *a = r->args;
    dkm_status status = DKM_OK;

    dkm_phase_begin(r->ctx, "read");
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "gram"), DKM_INPUTS, "gram", K));
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "by"), DKM_INPUTS, "gram", S));
    DKM_TRY(dkm_data_read(r->ctx, args_text(a, "observed"), DKM_INPUTS, "dense", observed));
out:
    dkm_phase_end(r->ctx);
    return status;
}

static void tell(run *r, const dkm_complete_info *info)
{
    run_tell_int(r, "m", info->m);
    run_tell_int(r, "observed", info->observed);
    run_tell_int(r, "rank", info->by.rank);
    run_tell_real(r, "residual", info->known.residual);
    run_tell_real(r, "by_residual", info->by.residual);
    run_tell_int(r, "dimensions", info->dimensions);
}

static dkm_status extend_complete(run *r)
{
    dkm_status status = DKM_OK;
    dkm_complete_settings settings = {dkm_extrapolate_settings_default(),
                                      args_flag(r->args, "clip"), run_layout(r)};
    dkm_complete_info info;
    dkm_data *K = NULL, *S = NULL, *observed = NULL, *Z = NULL;

    settings.extrapolate.shear = !args_flag(r->args, "no-shear");
    DKM_TRY(dkm_path_check(r->ctx, args_text(r->args, "output")));
    DKM_TRY(read_all(r, &K, &S, &observed));
    DKM_TRY(run_blame(
        r, args_text(r->args, "gram"),
        dkm_extend_complete(K, S, observed, args_real(r->args, "lambda"), &settings, &Z, &info)));
    tell(r, &info);
    DKM_TRY(gram_file_write_products(r, Z));
out:
    dkm_data_destroy(&Z);
    dkm_data_destroy(&observed);
    dkm_data_destroy(&S);
    dkm_data_destroy(&K);
    return status;
}

static const option options[] = {
    ROW_GRAM(OPT_REQUIRED, "kernel matrix with rows and columns missing, which hold any number"),
    {.name = "observed",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .hint = "FILE",
     .help = "a number an object: 1 where the matrix is known, 0 where it is missing"},
    {.name = "by",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .hint = "FILE",
     .help = "another kernel matrix of the same objects, complete"},
    {.name = "lambda",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED,
     .hint = "L",
     .help = "weight of the complete kernel in the joint one, from 0 to 1; at 0 the other is "
             "extrapolated alone"},
    {.name = "no-shear",
     .kind = OPT_FLAG,
     .help = "let K - K_Q have negative eigenvalues, as in extend fit"},
    {.name = "clip",
     .kind = OPT_FLAG,
     .help = "drop negative eigenvalues of both matrices, on the observed objects, first"},
    ROW_OUTPUT("kernel matrix of all objects to write: .npy .csv .tsv .h5"),
    {0}};

const command command_extend_complete = {
    .name = "extend complete",
    .summary = "fill the missing rows of a kernel matrix from another, and combine them",
    .about = "The features of an object are its values of the complete kernel to the observed "
             "objects. The incomplete kernel is carried to all objects by them, and combined with "
             "the complete one.",
    .example =
        "dkmap extend complete --gram structure.npy --observed mask.npy --by sequence.npy \\\n"
        "      --lambda 0.1 -o joint.npy",
    .tables = {options, compute_options, report_options},
    .run = extend_complete,
};
