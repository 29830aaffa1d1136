#include "cli/options/gram_file.h"

dkm_status gram_file_read(run *r, const char *name, dkm_grid **grid, dkm_dmat **K)
{
    const char *path = args_text(r->args, name);
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_data *G = NULL;

    *K = NULL;
    dkm_phase_begin(r->ctx, "read");
    DKM_TRY(dkm_data_read(r->ctx, path, DKM_INPUTS, "gram", &G));
    if (!*grid)
        DKM_TRY(dkm_grid_create(r->ctx, layout.P, layout.Q, grid));
    DKM_TRY(run_error_context(
        r, path,
        dkm_gram_from_rows(
            *grid, G, layout.block ? layout.block : dkm_grid_block(*grid, dkm_data_rows(G)), K)));
out:
    dkm_phase_end(r->ctx);
    dkm_data_destroy(&G);
    return status;
}

dkm_status gram_file_extrapolation(run *r, dkm_extrapolate_settings *settings)
{
    const value *cutoff = args_value(r->args, "cutoff", 0);
    dkm_local local = DKM_LOCAL_OK;

    *settings = dkm_extrapolate_settings_default();
    settings->shear = !args_flag(r->args, "no-shear");
    if (cutoff && !(cutoff->real > 0 && cutoff->real < 1))
        local =
            dkm_fail(r->ctx, DKM_ERR_ARG, "--cutoff is above 0 and below 1, not %s", cutoff->text);
    else if (cutoff)
        settings->cutoff = cutoff->real;
    return dkm_agree(r->ctx, local);
}

void gram_file_tell_clipped(run *r, const dkm_psd_info *spectrum)
{
    report_int(r, "clipped", spectrum->negative);
    report_real(r, "clipped_share", spectrum->share);
    report_real(r, "smallest", spectrum->smallest);
    report_real(r, "largest", spectrum->largest);
}

dkm_status gram_file_clip(run *r, dkm_dmat *K)
{
    dkm_status status = DKM_OK;
    dkm_psd_info spectrum;

    if (!args_flag(r->args, "clip"))
        return DKM_OK;
    DKM_TRY(dkm_psd_clip(K, &spectrum));
    gram_file_tell_clipped(r, &spectrum);
out:
    return status;
}

dkm_status gram_file_products(run *r, const dkm_data *Z, dkm_data **G)
{
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_kernel *linear = NULL;
    dkm_prepared *prepared = NULL;
    dkm_idx nb;

    *G = NULL;
    DKM_TRY(dkm_grid_create(r->ctx, layout.P, layout.Q, &grid));
    DKM_TRY(dkm_kernel_parse(r->ctx, "linear", &linear));
    DKM_TRY(dkm_kernel_prepare(linear, Z, &prepared));
    nb = layout.block ? layout.block : dkm_grid_block(grid, dkm_data_rows(Z));
    DKM_TRY(dkm_gram_rows(grid, linear, prepared, nb, 0, G));
out:
    dkm_prepared_destroy(&prepared);
    dkm_kernel_destroy(&linear);
    dkm_grid_destroy(&grid);
    return status;
}

dkm_status gram_file_write_products(run *r, const dkm_data *Z)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_data *G = NULL;

    DKM_TRY(gram_file_products(r, Z, &G));
    DKM_TRY(dkm_data_write(G, path));
    report_int(r, "rows", dkm_data_rows(G));
    report_int(r, "cols", dkm_data_cols(G));
    report_seconds(r);
    report_text(r, "output", path);
out:
    dkm_data_destroy(&G);
    return status;
}
