#include <dkmap/export.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/preimage_options.h"

/* One of the formats, where its option is given. */
static dkm_status export_as(run *r, dkm_model *model, dkm_export_format format, const char *name)
{
    dkm_status status = DKM_OK;
    const char *path = args_text(r->args, name);
    int decodes = 0;

    if (!path)
        return DKM_OK;
    DKM_TRY(run_error_context(r, r->args->positionals[0],
                              dkm_model_export(model, format, path, &decodes)));
    report_text(r, "decodes", decodes ? "yes" : "no");
    report_text(r, name, path);
out:
    return status;
}

static dkm_status cmd_export(run *r)
{
    dkm_status status = DKM_OK;
    const char *c = args_text(r->args, "c"), *onnx = args_text(r->args, "onnx");
    dkm_layout layout = run_layout(r);
    dkm_model *model = NULL;

    DKM_REQUIRE(r->ctx, c || onnx, DKM_ERR_ARG,
                "nothing to write: give --c FILE.c or --onnx FILE.onnx");
    if (c)
        DKM_TRY(dkm_file_check_writable(r->ctx, c));
    if (onnx)
        DKM_TRY(dkm_file_check_writable(r->ctx, onnx));
    DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[0], &layout, &model));
    DKM_TRY(preimage_choose(r, model));
    DKM_TRY(export_as(r, model, DKM_EXPORT_C, "c"));
    DKM_TRY(export_as(r, model, DKM_EXPORT_ONNX, "onnx"));
    report_text(r, "method", dkm_model_method(model));
    report_seconds(r);
out:
    dkm_model_destroy(&model);
    return status;
}

static const option options[] = {
    {.name = "c",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "C99 source to write; its functions are called as the file is: house_predict() in "
             "house.c"},
    {.name = "onnx", .kind = OPT_TEXT, .metavar = "FILE", .help = "ONNX graph to write"},
    ROW_KERNEL_DIR,
    {0}};

const command command_export = {
    .name = "export",
    .summary = "write a model as C source or as an ONNX graph",
    .about =
        "For programs that are to predict without dkmap. Models of krr, svm, kpca and kde whose "
        "inputs are rows of numbers, with the kernels linear, poly, rbf, laplace, expdot, cosine, "
        "tanimoto, matern, rq, and what on, sum, product, scale, power, exp, normalize and rbf "
        "make "
        "of them. Missing values and standardization become part of what is written.\n"
        "C: one file that needs nothing but the mathematics library, with NAME_predict(), or "
        "NAME_encode() and NAME_decode() of kpca; its first lines say how to compile it, with "
        "-DDKMAP_MAIN as a program. Pre-images: linear, candidates, fixed-point.\n"
        "ONNX: operator set 13 in double precision. Pre-images of kde: linear, candidates; of kpca "
        "it has coordinates alone.",
    .example = "dkmap export model.h5 --c house.c --onnx house.onnx\n"
               "  dkmap export components.h5 --preimage candidates --c faces.c",
    .positionals = "MODEL",
    .tables = {options, preimage_options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_export,
};
