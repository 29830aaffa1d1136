#include "support/fixture_ridge_path.h"

#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "support/check.h"

const double path_gammas[PATH_GAMMAS] = {1e-10, 1e-6, 1e-3, 0.1, 1, 10, 1e3, 1e6};

double path_point(int kind, dkm_idx i, dkm_idx j)
{
    if (kind == DUPLICATES)
        i /= 2;
    if (kind == LINE)
        return (double)(i + 1) / PATH_M;
    return dkm_random_normal(2, 0, (uint64_t)i, (uint64_t)j);
}

double path_smooth(void *user, dkm_idx ig, dkm_idx jg)
{
    if (*(int *)user == DUPLICATES) /* equal points with other outputs would ask the impossible */
        ig /= 2;
    return sin(0.4 * (double)(ig * (jg + 1))) + 0.3 * (double)ig + (double)jg;
}

static dkm_status make_inputs(path_problem *p, int kind)
{
    dkm_status status = dkm_data_create_dense(p->ctx, PATH_M, PATH_D, &p->X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(p->X); i++)
        for (dkm_idx j = 0; j < PATH_D; j++)
            dkm_data_values(p->X)[PATH_D * i + j] =
                path_point(kind, dkm_data_local_first(p->X) + i, j);
    return status;
}

dkm_status path_problem_outputs(path_problem *p, int kind, path_value value, int center)
{
    dkm_status status = DKM_OK;

    dkm_dmat_destroy(&p->Y);
    DKM_TRY(dkm_dmat_create(p->grid, PATH_M, PATH_OUTPUTS, PATH_NB, PATH_NB, DKM_F64, &p->Y));
    dkm_dmat_fill(p->Y, value, &kind);
    reference_gather(p->Y, p->y);
    if (center) {
        DKM_TRY(dkm_dmat_column_means(p->Y, p->means));
        dkm_dmat_add_row(p->Y, -1.0, p->means);
        p->settings.means = p->means;
    }
out:
    return status;
}

dkm_status path_problem_open(path_problem *p, dkm_ctx *ctx, int kind, const char *kernel,
                             int center)
{
    dkm_status status = DKM_OK;

    *p = (path_problem){.ctx = ctx, .settings = dkm_path_settings_default()};
    p->settings.count = PATH_GAMMAS;
    p->settings.gammas = path_gammas;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &p->grid));
    DKM_TRY(make_inputs(p, kind));
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->X, &p->prepared));
    DKM_TRY(path_problem_outputs(p, kind, path_smooth, center));
out:
    return status;
}

void path_problem_close(path_problem *p)
{
    dkm_dmat_destroy(&p->Y);
    dkm_prepared_destroy(&p->prepared);
    dkm_kernel_destroy(&p->kernel);
    dkm_data_destroy(&p->X);
    dkm_grid_destroy(&p->grid);
}

double path_problem_kernel(path_problem *p)
{
    static double copy[PATH_M * PATH_M], values[PATH_M];
    dkm_dmat *K = NULL;

    CHECK_OK(p->ctx, dkm_gram(p->grid, p->kernel, p->prepared, PATH_NB, DKM_F64, &K));
    reference_gather(K, p->K);
    for (int i = 0; i < PATH_M * PATH_M; i++)
        if (i % PATH_M < i / PATH_M)
            p->K[i] = p->K[i / PATH_M + i % PATH_M * PATH_M];
    dkm_dmat_destroy(&K);
    memcpy(copy, p->K, sizeof copy);
    reference_eigen(PATH_M, copy, values, NULL);
    return values[0];
}
