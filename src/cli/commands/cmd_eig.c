#include <dkmap/eigen.h>
#include <dkmap/kernel.h>
#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/components.h"
#include "cli/options/gram_file.h"

static dkm_status eig(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_eigen_settings settings = dkm_eigen_settings_default();
    dkm_eigen_info info;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_data *vectors = NULL;
    double *values = NULL;

    settings.center = args_flag(r->args, "center");
    DKM_TRY(components_settings(r, &settings));
    DKM_TRY(run_check_model_path(r));
    DKM_TRY(gram_file_read(r, "gram", &grid, &K));
    DKM_TRY(run_error_context(r, args_text(r->args, "gram"),
                              dkm_eigen_leading(K, &settings, &values, &vectors, NULL, &info)));
    DKM_TRY(dkm_eigenpairs_save(vectors, info.components, values, path, r->args->line));
    report_int(r, "m", dkm_dmat_rows(K));
    report_grid(r, dkm_grid_rows(grid), dkm_grid_cols(grid));
    components_report(r, &info);
    report_real(r, "largest", info.components > 0 ? values[0] : 0.0);
    report_real(r, "smallest", info.components > 0 ? values[info.components - 1] : 0.0);
    report_seconds(r);
    report_text(r, "output", path);
out:
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static const option options[] = {
    ROW_GRAM(OPT_REQUIRED, "symmetric matrix, dense"),
    ROW_COMPONENTS,
    ROW_EIGENSOLVER,
    {.name = "center", .kind = OPT_FLAG, .help = "decompose the centered matrix H G H"},
    ROW_OUTPUT("eigenpairs to write, .h5: /eigenvalues and /vectors/values"),
    {0}};

const command command_eig = {
    .name = "eig",
    .summary = "leading eigenpairs of a Gram matrix",
    .example = "mpirun -np 4 dkmap eig --gram g.npy --components 20 -o pairs.h5",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = eig,
};
