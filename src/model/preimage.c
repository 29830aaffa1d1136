/* A row z of coordinates stands for the point mu + sum_j z_j v_j of feature space. Candidates are
 * compared by their whole distance to it: ||phi(c) - mu||^2 - 2 z.z(c) + z.z, which also counts
 * what of phi(c) lies outside the span. With a linear kernel the point is an object itself: y =
 * mean + z W'Y. */
#include "model/preimage.h"

#include <string.h>

#include "core/alloc.h"
#include "scalapack/linalg.h"

static int is_linear(const dkm_embedding *e)
{
    return dkm_data_type(e->base.X) == DKM_DENSE &&
           strcmp(dkm_kernel_text(e->base.kernel), "linear") == 0;
}

static const dkm_data *objects(const dkm_preimage *pre)
{
    return pre->settings.candidates ? pre->settings.candidates : pre->e->base.X;
}

static dkm_local check(const dkm_preimage *pre)
{
    dkm_ctx *ctx = pre->e->base.ctx;
    const dkm_data *given = pre->settings.candidates, *training = pre->e->base.X;

    if (pre->settings.method == DKM_PREIMAGE_LINEAR && !is_linear(pre->e))
        return dkm_fail(
            ctx, DKM_ERR_UNSUPPORTED,
            "the linear pre-image is for the kernel linear on dense rows, not for %s on "
            "%s: use candidates",
            dkm_kernel_text(pre->e->base.kernel), dkm_type_name(dkm_data_type(training)));
    if (given && pre->settings.method != DKM_PREIMAGE_CANDIDATES)
        return dkm_fail(ctx, DKM_ERR_ARG, "candidates go with the pre-image method candidates");
    if (given &&
        (dkm_data_type(given) != dkm_data_type(training) ||
         (dkm_data_type(given) == DKM_DENSE && dkm_data_cols(given) != dkm_data_cols(training))))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "candidates are %s of %lld columns, and the model's outputs are %s of %lld",
                        dkm_type_name(dkm_data_type(given)), (long long)dkm_data_cols(given),
                        dkm_type_name(dkm_data_type(training)), (long long)dkm_data_cols(training));
    if (dkm_data_rows(objects(pre)) < (pre->settings.top > 0 ? pre->settings.top : 1))
        return dkm_fail(ctx, DKM_ERR_ARG, "the best %lld of %lld candidates cannot be listed",
                        (long long)pre->settings.top, (long long)dkm_data_rows(objects(pre)));
    return DKM_LOCAL_OK;
}

dkm_status dkm_preimage_open(dkm_preimage *pre, dkm_embedding *e, dkm_preimage_settings *settings)
{
    dkm_status status = DKM_OK;

    *pre = (dkm_preimage){.e = e, .settings = *settings};
    settings->candidates = NULL;
    if (pre->settings.method == DKM_PREIMAGE_AUTO)
        pre->settings.method = is_linear(e) && !pre->settings.candidates && pre->settings.top == 0
                                   ? DKM_PREIMAGE_LINEAR
                                   : DKM_PREIMAGE_CANDIDATES;
    DKM_AGREE(e->base.ctx, check(pre));
out:
    return status;
}

void dkm_preimage_close(dkm_preimage *pre)
{
    dkm_data_destroy(&pre->settings.candidates);
    dkm_candidates_clear(&pre->candidates);
    dkm_dmat_destroy(&pre->U);
    DKM_FREE(pre->mean);
    pre->ready = 0;
}

dkm_type dkm_preimage_type(const dkm_preimage *pre)
{
    return pre->settings.method == DKM_PREIMAGE_NONE || pre->settings.top > 0
               ? DKM_DENSE
               : dkm_data_type(pre->e->base.X);
}

dkm_idx dkm_preimage_cols(const dkm_preimage *pre)
{
    if (pre->settings.method == DKM_PREIMAGE_NONE)
        return pre->e->p;
    return pre->settings.top > 0 ? 2 * pre->settings.top : dkm_data_cols(pre->e->base.X);
}

/* Coordinates and norms of the training objects. */
static dkm_status use_training(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->base.ctx;
    const dkm_data *X = pre->e->base.X;
    dkm_dmat *Z = NULL;

    DKM_TRY(dkm_embedding_training(pre->e, &Z));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), pre->e->p, &pre->candidates.Z));
    DKM_TRY(dkm_dmat_to_rows(Z, dkm_data_values(pre->candidates.Z)));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &pre->candidates.norms));
    DKM_TRY(dkm_embedding_training_norms(pre->e, pre->candidates.norms));
out:
    dkm_dmat_destroy(&Z);
    return status;
}

/* Coordinates and norms of the objects given. */
static dkm_status use_given(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->base.ctx;
    const dkm_data *C = pre->settings.candidates;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(C), &pre->candidates.norms));
    DKM_TRY(dkm_embedding_encode(pre->e, C, &pre->candidates.Z, pre->candidates.norms));
out:
    return status;
}

/* U = W'Y and the mean of Y. */
static dkm_status use_linear(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &pre->e->base;
    dkm_idx d = dkm_data_cols(base->X);
    dkm_dmat *Y = NULL;

    DKM_AGREE(base->ctx, dkm_alloc(base->ctx, d, &pre->mean));
    DKM_TRY(
        dkm_dmat_create(base->grid, dkm_data_rows(base->X), d, base->nb, base->nb, DKM_F64, &Y));
    DKM_TRY(dkm_dmat_from_rows(Y, dkm_data_values_const(base->X)));
    DKM_TRY(dkm_dmat_column_means(Y, pre->mean));
    DKM_TRY(dkm_dmat_create(base->grid, pre->e->p, d, base->nb, base->nb, DKM_F64, &pre->U));
    dkm_la_gemm('T', 'N', 1.0, pre->e->W, Y, 0.0, pre->U); /* W'1 = 0: Y need not be centred */
out:
    dkm_dmat_destroy(&Y);
    return status;
}

static dkm_status get_ready(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;

    if (pre->ready || pre->settings.method == DKM_PREIMAGE_NONE)
        return DKM_OK;
    if (pre->settings.method == DKM_PREIMAGE_LINEAR)
        DKM_TRY(use_linear(pre));
    else if (pre->settings.candidates)
        DKM_TRY(use_given(pre));
    else
        DKM_TRY(use_training(pre));
    pre->ready = 1;
out:
    return status;
}

static dkm_status solve_linear(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &pre->e->base;
    dkm_idx n = dkm_data_rows(Z), d = dkm_data_cols(base->X);
    dkm_dmat *C = NULL, *F = NULL;
    dkm_data *found = NULL;

    DKM_TRY(dkm_dmat_create(base->grid, n, pre->e->p, base->nb, base->nb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_beside(C, d, base->nb, DKM_F64, &F));
    dkm_la_gemm('N', 'N', 1.0, C, pre->U, 0.0, F);
    dkm_dmat_add_row(F, 1.0, pre->mean);
    DKM_TRY(dkm_data_create_dense(base->ctx, n, d, &found));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(found)));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&C);
    return status;
}

/* Rows of index, distance, index, distance, ... */
static dkm_status list_them(dkm_ctx *ctx, dkm_idx n, dkm_idx top, const dkm_idx *index,
                            const double *distance, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(ctx, n, 2 * top, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * top; k++) {
        dkm_data_values(*Y)[2 * k] = (double)index[k];
        dkm_data_values(*Y)[2 * k + 1] = distance[k];
    }
    return status;
}

static dkm_status solve_candidates(dkm_preimage *pre, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->base.ctx;
    dkm_idx top = pre->settings.top > 0 ? pre->settings.top : 1, n = dkm_data_local_rows(Z);
    dkm_idx *index = NULL;
    double *distance = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * top, &distance));
    DKM_TRY(dkm_nearest(Z, &pre->candidates, top, index, distance));
    if (pre->settings.top > 0) {
        DKM_TRY(list_them(ctx, dkm_data_rows(Z), top, index, distance, Y));
    } else {
        DKM_TRY(dkm_data_fetch(objects(pre), n, index, &got));
        DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(Z), &got, Y));
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

dkm_status dkm_preimage_solve(dkm_preimage *pre, dkm_data **Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    *Y = NULL;
    DKM_TRY(get_ready(pre));
    if (pre->settings.method == DKM_PREIMAGE_NONE) {
        *Y = *Z;
        *Z = NULL;
    } else if (pre->settings.method == DKM_PREIMAGE_LINEAR) {
        DKM_TRY(solve_linear(pre, *Z, Y));
    } else {
        DKM_TRY(solve_candidates(pre, *Z, Y));
    }
out:
    dkm_data_destroy(Z);
    return status;
}
