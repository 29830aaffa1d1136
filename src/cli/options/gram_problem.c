#include "cli/options/gram_problem.h"

#include <dkmap/grid.h>

dkm_status gram_problem_open(gram_problem *s, run *r)
{
    const args *a = r->args;
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;

    *s = (gram_problem){.r = r};
    DKM_TRY(dkm_grid_create(r->ctx, layout.P, layout.Q, &s->grid));
    dkm_phase_begin(r->ctx, "read");
    status = dkm_data_read(r->ctx, args_text(a, "x"), DKM_INPUTS, args_text(a, "x-type"), &s->X);
    dkm_phase_end(r->ctx);
    DKM_TRY(status);
    s->m = dkm_data_rows(s->X);
    s->nb = layout.block ? layout.block : dkm_grid_block(s->grid, s->m);
out:
    return status;
}

dkm_status gram_problem_gram(const gram_problem *s, const dkm_kernel *kernel, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;

    *K = NULL;
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, "x"),
                              dkm_kernel_prepare(kernel, s->X, &prepared)));
    DKM_TRY(dkm_gram(s->grid, kernel, prepared, s->nb, DKM_F64, K));
out:
    dkm_prepared_destroy(&prepared);
    return status;
}

dkm_status gram_problem_read_beside(const gram_problem *s, const char *where, const char *type,
                                    dkm_role role, dkm_data **data)
{
    run *r = s->r;
    const char *path = args_text(r->args, where);
    dkm_local local = DKM_LOCAL_OK;
    dkm_status status = DKM_OK;

    dkm_phase_begin(r->ctx, "read");
    status = dkm_data_read(r->ctx, path, role, type, data);
    dkm_phase_end(r->ctx);
    DKM_TRY(status);
    if (dkm_data_rows(*data) != s->m)
        local = dkm_fail(r->ctx, DKM_ERR_ARG, "%s has %lld objects and %s %lld",
                         args_text(r->args, "x"), (long long)s->m, path,
                         (long long)dkm_data_rows(*data));
    DKM_AGREE(r->ctx, local);
out:
    if (status != DKM_OK)
        dkm_data_destroy(data);
    return status;
}

void gram_problem_close(gram_problem *s)
{
    dkm_data_destroy(&s->X);
    dkm_grid_destroy(&s->grid);
}
