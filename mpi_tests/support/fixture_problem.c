#include "support/fixture_problem.h"

dkm_status gram_problem_open(gram_problem *p, dkm_ctx *ctx, int P, dkm_idx m, dkm_idx d,
                             object_value value, const char *kernel)
{
    dkm_status status = DKM_OK;

    *p = (gram_problem){0};
    DKM_TRY(dkm_grid_create(ctx, P, P ? dkm_ctx_size(ctx) / P : 0, &p->grid));
    DKM_TRY(dkm_data_create_dense(ctx, m, d, &p->X));
    for (dkm_idx k = 0; k < d * dkm_data_local_rows(p->X); k++)
        dkm_data_values(p->X)[k] = value(dkm_data_local_first(p->X) + k / d, k % d);
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->X, &p->prepared));
out:
    return status;
}

void gram_problem_close(gram_problem *p)
{
    dkm_prepared_destroy(&p->prepared);
    dkm_kernel_destroy(&p->kernel);
    dkm_data_destroy(&p->X);
    dkm_grid_destroy(&p->grid);
}
