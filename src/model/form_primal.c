#include "model/form_primal.h"

#include <string.h>

#include "core/alloc.h"
#include "model/panels.h"

void dkm_form_share(const dkm_form *form, dkm_idx *first, dkm_idx *count)
{
    int rank = dkm_ctx_rank(form->base.ctx), size = dkm_ctx_size(form->base.ctx);

    *first = dkm_slab_first(dkm_data_cols(form->base.X), rank, size);
    *count = dkm_slab_count(dkm_data_cols(form->base.X), rank, size);
}

dkm_status dkm_form_primal_columns(dkm_form *form)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = form->base.ctx;
    dkm_idx p = dkm_data_cols(form->base.X), step = dkm_rows_panel(p), c0, mine;
    double *panel = NULL;

    dkm_form_share(form, &c0, &mine);
    DKM_AGREE(ctx, dkm_alloc(ctx, step * p, &panel));
    DKM_AGREE(ctx, dkm_alloc(ctx, form->m * mine, &form->columns));
    for (dkm_idx first = 0; first < form->m; first += step) {
        dkm_idx count = form->m - first < step ? form->m - first : step;
        DKM_TRY(dkm_rows_gather(ctx, form->m, p, dkm_data_values_const(form->base.X), first, count,
                                panel));
        for (dkm_idx i = 0; i < count; i++)
            memcpy(form->columns + (first + i) * mine, panel + i * p + c0,
                   (size_t)mine * sizeof *panel);
    }
out:
    DKM_FREE(panel);
    return status;
}

/* W <- every rank's rows of it. */
static dkm_status share_weights(dkm_form *f, const double *own)
{
    return dkm_rows_gather(f->base.ctx, dkm_data_cols(f->base.X), f->r, own, 0,
                           dkm_data_cols(f->base.X), f->W);
}

/* G = beta G + X W. */
static void multiply(dkm_form *f, double beta, double *G)
{
    dkm_idx p = dkm_data_cols(f->base.X), n = dkm_data_local_rows(f->base.X);

    dkm_rows_times(n, f->r, p, 1.0, (dkm_block){dkm_data_values_const(f->base.X), p},
                   (dkm_block){f->W, f->r}, beta, G);
    dkm_phase_flops(f->base.ctx, 2.0 * (double)f->r * (double)n * (double)p);
}

dkm_status dkm_form_primal_add(dkm_form *form, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = form->base.ctx;
    dkm_idx first_own, mine, step = dkm_rows_panel(form->r);
    double *panel = NULL, *own = NULL;

    dkm_form_share(form, &first_own, &mine);
    DKM_AGREE(ctx, dkm_alloc(ctx, step * form->r, &panel));
    DKM_AGREE(ctx, dkm_calloc(ctx, mine * form->r, &own));
    for (dkm_idx first = 0; first < form->m; first += step) {
        dkm_idx count = form->m - first < step ? form->m - first : step;
        DKM_TRY(dkm_rows_gather(ctx, form->m, form->r, U, first, count, panel));
        dkm_rows_cross(mine, form->r, count, 1.0, (dkm_block){form->columns + first * mine, mine},
                       (dkm_block){panel, form->r}, own);
    }
    dkm_phase_flops(ctx, 2.0 * (double)form->r * (double)form->m * (double)mine);
    DKM_TRY(share_weights(form, own));
    multiply(form, 1.0, G);
out:
    DKM_FREE(own);
    DKM_FREE(panel);
    return status;
}

dkm_status dkm_form_primal_values(dkm_form *form, const double *own, double *G)
{
    dkm_status status = DKM_OK;

    DKM_TRY(share_weights(form, own));
    multiply(form, 0.0, G);
out:
    return status;
}

dkm_local dkm_form_primal_count(const dkm_form *form, const int32_t *truth, const int32_t *choice,
                                double unit, double *own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first, mine, r = form->r;
    double *sums = NULL; /* r x features: the sum of a class lies together */

    dkm_form_share(form, &first, &mine);
    DKM_STEP(dkm_calloc(form->base.ctx, r * mine, &sums));
    for (dkm_idx i = 0; i < form->m; i++) {
        const double *restrict x = form->columns + i * mine;
        double *restrict right = sums + truth[i] * mine;
        double *restrict wrong = sums + (choice[i] >= 0 ? choice[i] : 0) * mine;
        for (dkm_idx k = 0; choice[i] >= 0 && k < mine; k++) {
            right[k] += x[k];
            wrong[k] -= x[k];
        }
    }
    for (dkm_idx c = 0; c < r; c++)
        for (dkm_idx k = 0; k < mine; k++)
            own[k * r + c] = unit * sums[c * mine + k];
out:
    DKM_FREE(sums);
    return local;
}
