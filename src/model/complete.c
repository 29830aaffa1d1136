/* K is known on the observed objects O alone, S on all. Features of an object x are s(x, O), so
 * those of the observed ones are the square S_OO: K_OO is met as far as its range allows, and S
 * becomes Nystroem's kernel. */
#include <dkmap/extend.h>
#include <dkmap/psd.h>

#include "core/alloc.h"
#include "scalapack/blas.h"

typedef struct completion {
    dkm_ctx *ctx;
    const dkm_complete_settings *settings;
    dkm_grid *grid;
    dkm_idx m, n;
    dkm_idx *places; /* of the observed objects, n of m */
} completion;

static dkm_local check_square(dkm_ctx *ctx, const char *name, const dkm_data *K)
{
    if (dkm_data_rows(K) == dkm_data_cols(K))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "a Gram matrix is square and the %s one has %lld rows and %lld columns", name,
                    (long long)dkm_data_rows(K), (long long)dkm_data_cols(K));
}

static dkm_local check(dkm_ctx *ctx, const dkm_data *K, const dkm_data *S, const dkm_data *observed,
                       double lambda)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = dkm_data_rows(K);

    DKM_STEP(check_square(ctx, "incomplete", K));
    DKM_STEP(check_square(ctx, "complete", S));
    if (dkm_data_rows(S) != m)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the incomplete matrix has %lld objects and the complete one %lld",
                        (long long)m, (long long)dkm_data_rows(S));
    if (dkm_data_rows(observed) != m || dkm_data_cols(observed) != 1)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the mask of observed objects is %lld x %lld, and %lld objects want one "
                        "number each: 1 where the matrix is known, else 0",
                        (long long)dkm_data_rows(observed), (long long)dkm_data_cols(observed),
                        (long long)m);
    if (!(lambda >= 0 && lambda <= 1))
        local = dkm_fail(ctx, DKM_ERR_ARG, "lambda is from 0 to 1, not %g", lambda);
out:
    return local;
}

static dkm_local check_mask(dkm_ctx *ctx, const dkm_data *observed)
{
    const double *mask = dkm_data_values_const(observed);

    for (dkm_idx i = 0; i < dkm_data_local_rows(observed); i++)
        if (mask[i] != 0 && mask[i] != 1)
            return dkm_fail(ctx, DKM_ERR_ARG, "the mask is %g for object %lld: it is 1 or 0",
                            mask[i], (long long)(dkm_data_local_first(observed) + i));
    return DKM_LOCAL_OK;
}

/* Where the mask is 1, on every rank. */
static dkm_status find_places(completion *c, const dkm_data *observed)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first = dkm_data_local_first(observed);
    int *all = NULL;

    DKM_AGREE(c->ctx, check_mask(c->ctx, observed));
    DKM_AGREE(c->ctx, dkm_calloc(c->ctx, c->m, &all));
    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, c->m, &c->places));
    for (dkm_idx i = 0; i < dkm_data_local_rows(observed); i++)
        all[first + i] = dkm_data_values_const(observed)[i] == 1;
    MPI_Allreduce(MPI_IN_PLACE, all, (int)c->m, MPI_INT, MPI_MAX, dkm_ctx_comm(c->ctx));
    for (dkm_idx i = 0; i < c->m; i++)
        if (all[i])
            c->places[c->n++] = i;
    if (c->n == 0)
        local = dkm_fail(c->ctx, DKM_ERR_ARG, "the mask observes no object at all");
    DKM_AGREE(c->ctx, local);
out:
    DKM_FREE(all);
    return status;
}

/* The columns of the observed objects: of all rows, or of theirs alone. */
static dkm_status pick(const completion *c, const dkm_data *K, int all_rows, dkm_data **block)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;
    const dkm_data *from = K;

    if (!all_rows) {
        DKM_TRY(dkm_data_select(K, c->n, c->places, &rows));
        from = rows;
    }
    DKM_TRY(dkm_data_create_dense(c->ctx, dkm_data_rows(from), c->n, block));
    for (dkm_idx i = 0; i < dkm_data_local_rows(from); i++)
        for (dkm_idx j = 0; j < c->n; j++)
            dkm_data_values(*block)[i * c->n + j] =
                dkm_data_values_const(from)[i * c->m + c->places[j]];
out:
    dkm_data_destroy(&rows);
    return status;
}

/* The root of Q for one of the matrices on the observed objects. */
static dkm_status find_root(const completion *c, const dkm_data *K, const dkm_data *F,
                            double **root, dkm_extrapolate_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = c->settings->layout.block;
    dkm_data *block = NULL;
    dkm_dmat *A = NULL;

    DKM_TRY(pick(c, K, 0, &block));
    DKM_TRY(dkm_gram_given(c->grid, block, nb ? nb : dkm_grid_block(c->grid, c->n), &A));
    if (c->settings->clip)
        DKM_TRY(dkm_psd_clip(A, NULL));
    DKM_TRY(dkm_extrapolate(A, F, &c->settings->extrapolate, root, info));
out:
    dkm_dmat_destroy(&A);
    dkm_data_destroy(&block);
    return status;
}

/* Z = F root for all objects. */
static dkm_status place_all(const completion *c, const dkm_data *S, dkm_idx t, const double *root,
                            dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;

    DKM_TRY(pick(c, S, 1, &F));
    DKM_TRY(dkm_data_create_dense(c->ctx, c->m, t, Z));
    if (t > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'N', t, dkm_data_local_rows(F), c->n, 1.0, root, t,
                      dkm_data_values_const(F), c->n, 0.0, dkm_data_values(*Z), t);
out:
    dkm_data_destroy(&F);
    return status;
}

static dkm_status solve(const completion *c, const dkm_data *K, const dkm_data *S, double lambda,
                        dkm_data **Z, dkm_complete_info *info)
{
    dkm_status status = DKM_OK;
    double *known = NULL, *by = NULL, *root = NULL;
    dkm_weighed_root both[2];
    dkm_data *F = NULL;
    dkm_idx t = 0;

    DKM_TRY(pick(c, S, 0, &F));
    DKM_TRY(find_root(c, K, F, &known, &info->known));
    DKM_TRY(find_root(c, S, F, &by, &info->by));
    both[0] = (dkm_weighed_root){info->by.dimensions, by, lambda};
    both[1] = (dkm_weighed_root){info->known.dimensions, known, 1.0 - lambda};
    DKM_TRY(dkm_extrapolate_join(c->ctx, c->n, 2, both, &root, &t));
    DKM_TRY(place_all(c, S, t, root, Z));
    info->dimensions = t;
out:
    dkm_data_destroy(&F);
    dkm_extrapolate_free(&known);
    dkm_extrapolate_free(&by);
    dkm_extrapolate_free(&root);
    return status;
}

dkm_status dkm_extend_complete(const dkm_data *K, const dkm_data *S, const dkm_data *observed,
                               double lambda, const dkm_complete_settings *settings, dkm_data **Z,
                               dkm_complete_info *info)
{
    dkm_status status = DKM_OK;
    completion c = {.ctx = dkm_data_ctx(K), .settings = settings, .m = dkm_data_rows(K)};
    dkm_complete_info found = {0};

    *Z = NULL;
    DKM_AGREE(c.ctx, check(c.ctx, K, S, observed, lambda));
    DKM_TRY(find_places(&c, observed));
    DKM_TRY(dkm_grid_create(c.ctx, settings->layout.P, settings->layout.Q, &c.grid));
    DKM_TRY(solve(&c, K, S, lambda, Z, &found));
    found.m = c.m;
    found.observed = c.n;
    if (info)
        *info = found;
out:
    DKM_FREE(c.places);
    dkm_grid_destroy(&c.grid);
    return status;
}
