#include <dkmap/extend.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/gram_file.h"

/* What a fit works on. */
typedef struct fit {
    run *r;
    dkm_layout layout;
    dkm_grid *grid;
    dkm_dmat *K;
    dkm_kernel *kernel; /* of --kx; NULL without landmarks */
    dkm_data *X;        /* objects of --x; NULL where features are given */
    dkm_features *map;
    dkm_data *F;
} fit;

static void cmd_extend_fit_close_fit(fit *f)
{
    dkm_data_destroy(&f->F);
    dkm_features_destroy(&f->map);
    dkm_data_destroy(&f->X);
    dkm_kernel_destroy(&f->kernel);
    dkm_dmat_destroy(&f->K);
    dkm_grid_destroy(&f->grid);
}

static void cmd_extend_fit_report(run *r, const dkm_extrapolate_info *info)
{
    report_int(r, "m", info->m);
    report_int(r, "features", info->n);
    report_int(r, "rank", info->rank);
    report_real(r, "rank_cutoff", info->cutoff);
    report_real(r, "condition", info->condition);
    if (info->shift > 0)
        report_real(r, "shift", info->shift);
    report_int(r, "dimensions", info->dimensions);
    report_real(r, "residual", info->residual);
    report_real(r, "explained", info->explained);
    report_seconds(r);
    report_text(r, "model", args_text(r->args, "output"));
}

static dkm_local cmd_extend_fit_check_options(run *r)
{
    const args *a = r->args;
    int given = !!args_text(a, "features"), landmarks = !!args_text(a, "landmarks");
    int fisher = !!args_text(a, "fisher"), lle = !!args_text(a, "lle");

    if (given + landmarks + fisher + lle != 1)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "the features of objects are those of --features, kernel values to "
                        "--landmarks, scores by --fisher or weights by --lle: give one of them");
    if (!given && !args_text(a, "x"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--%s makes features of objects: give them as --x",
                        landmarks ? "landmarks"
                        : fisher  ? "fisher"
                                  : "lle");
    if (landmarks && !args_text(a, "kx"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--landmarks needs --kx, the kernel of the objects");
    if (!args_text(a, "gram") && !landmarks)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "there is no matrix to extend: give it as --gram");
    return DKM_LOCAL_OK;
}

static dkm_status read_objects(fit *f)
{
    const args *a = f->r->args;
    dkm_ctx *ctx = f->r->ctx;
    dkm_status status = DKM_OK;

    dkm_phase_begin(ctx, "read");
    if (args_text(a, "features"))
        DKM_TRY(dkm_data_read(ctx, args_text(a, "features"), DKM_INPUTS, "dense", &f->F));
    else
        DKM_TRY(dkm_data_read(ctx, args_text(a, "x"), DKM_INPUTS, args_text(a, "x-type"), &f->X));
out:
    dkm_phase_end(ctx);
    return status;
}

/* The map that the options ask for, and what it makes of the objects. */
static dkm_status make_features(fit *f)
{
    const args *a = f->r->args;
    dkm_status status = DKM_OK;
    double ridge = 0;

    if (args_text(a, "lle")) {
        DKM_TRY(run_positive(f->r, "ridge", &ridge));
        return dkm_features_lle(f->X, args_int(a, "lle"), ridge, &f->map, &f->F);
    }
    if (f->F)
        return dkm_features_dense(f->r->ctx, dkm_data_cols(f->F), &f->map);
    if (args_text(a, "landmarks"))
        DKM_TRY(dkm_features_landmarks(f->X, f->kernel, args_int(a, "landmarks"),
                                       (dkm_landmark_method)args_int(a, "landmark-choice"),
                                       &f->layout, &f->map));
    else
        DKM_TRY(dkm_features_fisher(f->X, (dkm_fisher_model)args_int(a, "fisher"), &f->map));
    DKM_TRY(dkm_features_apply(f->map, f->X, &f->F));
out:
    return status;
}

/* The matrix of --gram, or that of the kernel itself. */
static dkm_status cmd_extend_fit_make_matrix(fit *f)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;
    dkm_idx nb = f->layout.block;

    if (args_text(f->r->args, "gram"))
        return gram_file_read(f->r, "gram", &f->grid, &f->K);
    DKM_TRY(dkm_grid_create(f->r->ctx, f->layout.P, f->layout.Q, &f->grid));
    DKM_TRY(dkm_kernel_prepare(f->kernel, f->X, &prepared));
    DKM_TRY(dkm_gram(f->grid, f->kernel, prepared,
                     nb ? nb : dkm_grid_block(f->grid, dkm_data_rows(f->X)), DKM_F64, &f->K));
out:
    dkm_prepared_destroy(&prepared);
    return status;
}

static const char *matrix_name(const run *r)
{
    return args_text(r->args, "gram") ? args_text(r->args, "gram") : args_text(r->args, "x");
}

static dkm_status extend_fit(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_extrapolate_settings settings;
    dkm_extrapolate_info info;
    dkm_model *model = NULL;
    fit f = {.r = r, .layout = run_layout(r)};

    DKM_AGREE(r->ctx, cmd_extend_fit_check_options(r));
    DKM_TRY(gram_file_extrapolation(r, &settings));
    DKM_TRY(run_check_model_path(r));
    if (args_text(r->args, "landmarks"))
        DKM_TRY(dkm_kernel_parse(r->ctx, args_text(r->args, "kx"), &f.kernel));
    DKM_TRY(read_objects(&f));
    if (f.kernel)
        DKM_TRY(dkm_kernel_resolve(f.kernel, f.X));
    DKM_TRY(cmd_extend_fit_make_matrix(&f));
    if (f.X)
        DKM_TRY(run_error_context(r, args_text(r->args, "x"), make_features(&f)));
    else
        DKM_TRY(make_features(&f));
    DKM_TRY(gram_file_clip(r, f.K));
    DKM_TRY(run_error_context(r, matrix_name(r),
                              dkm_extend_fit(f.K, f.map, f.F, &settings, &model, &info)));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    cmd_extend_fit_report(r, &info);
out:
    dkm_model_destroy(&model);
    cmd_extend_fit_close_fit(&f);
    return status;
}

#define FISHER_WORD(code, name) name "|"

#define WORD_OF_CHOICE(code, name) name "|"

static const option options[] = {
    ROW_GRAM(0, "kernel matrix to extend: symmetric, dense; without it that of --kx on --x"),
    {.name = "features",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "features of its objects, one dense row each; or else features are made of"},
    {.name = "x",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "the objects, in the order of the matrix, by one of the three that follow"},
    {.name = "landmarks",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "N",
     .help = "features: values of the kernel --kx to N of the objects"},
    {.name = "fisher",
     .kind = OPT_CHOICE,
     .metavar = "MODEL",
     .choices = DKM_FISHER_LIST(FISHER_WORD),
     .help = "features: Fisher scores of a model that is fitted to the objects"},
    {.name = "lle",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "K",
     .help = "features: the weights on its K nearest others that a point is made of, a number for "
             "every object"},
    {.name = "ridge",
     .kind = OPT_REAL,
     .metavar = "R",
     .default_text = "1e-3",
     .help = "> 0, of --lle as of embed lle"},
    {.name = "landmark-choice",
     .kind = OPT_CHOICE,
     .metavar = "HOW",
     .choices = DKM_LANDMARK_LIST(WORD_OF_CHOICE),
     .default_text = "uniform",
     .help = "which objects are landmarks: any, ..., those that stand first, each the farthest "
             "from those before, or by pivoted Cholesky"},
    {.name = "kx",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help = "kernel of the objects --x, for landmarks; gram where they are rows of a matrix"},
    {.name = "no-shear",
     .kind = OPT_FLAG,
     .help = "let K - K_Q have negative eigenvalues: Q = F^+ K F^+', nearest in the Frobenius "
             "norm alone"},
    ROW_CUTOFF,
    ROW_CLIP,
    ROW_X_TYPE,
    ROW_OUTPUT("model file to write, .h5"),
    {0}};

const command command_extend_fit = {
    .name = "extend fit",
    .summary = "find Q such that features, weighed by it, give a kernel matrix back",
    .about =
        "Finds Q >= 0 such that K_Q = F Q F' is nearest to the matrix K and K - K_Q >= 0; the "
        "answer is the same for all Schatten norms. `dkmap extend apply` gives kernel values of "
        "new objects, and extend(FILE) is a kernel for all other commands.",
    .example = "mpirun -np 4 dkmap extend fit --gram k.npy --features phi.npy -o q.h5",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = extend_fit,
};
