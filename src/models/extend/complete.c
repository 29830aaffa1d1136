/* Kernel matrix completion: K is known only on the observed objects O, S on all objects. Features
 * of an object x are s(x, O), so those of the observed ones are the square S_OO: K_OO is reproduced
 * as far as the range of S_OO allows (extrapolated by solvers/extrapolate), and S becomes its
 * Nystroem approximation. lambda weighs the two in the parallel sum of both (Anderson and Duffin
 * 1969, J. Math. Anal. Appl. 26(3):576-594, doi:10.1016/0022-247X(69)90200-5).
 *
 * Cost: that of an eigendecomposition of order |O| and 2 m |O|^2 flops over all ranks. */
#include <dkmap/complete.h>

#include <dkmap/kernel.h>
#include <dkmap/psd.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"

struct dkm_completion {
    dkm_ctx *ctx;
    dkm_complete_settings settings;
    dkm_grid *grid;
    dkm_idx m, n;
    dkm_idx *indices;   /* of the observed objects, n of m */
    dkm_data *F;        /* features of all objects, m x n */
    double *known, *by; /* roots of Q for K and for S */
    dkm_complete_info info;
};

static dkm_local complete_check_square(dkm_ctx *ctx, const char *name, const dkm_data *K)
{
    if (dkm_data_rows(K) == dkm_data_cols(K))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "a Gram matrix is square and the %s one has %lld rows and %lld columns", name,
                    (long long)dkm_data_rows(K), (long long)dkm_data_cols(K));
}

static dkm_local complete_check(dkm_ctx *ctx, const dkm_data *K, const dkm_data *S,
                                const dkm_data *observed)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = dkm_data_rows(K);

    DKM_STEP(complete_check_square(ctx, "incomplete", K));
    DKM_STEP(complete_check_square(ctx, "complete", S));
    if (dkm_data_rows(S) != m)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the incomplete matrix has %lld objects and the complete one %lld",
                        (long long)m, (long long)dkm_data_rows(S));
    if (dkm_data_rows(observed) != m || dkm_data_cols(observed) != 1)
        local = dkm_fail(ctx, DKM_ERR_ARG,
                         "the mask of observed objects is %lld x %lld, and %lld objects want one "
                         "number each: 1 where the matrix is known, else 0",
                         (long long)dkm_data_rows(observed), (long long)dkm_data_cols(observed),
                         (long long)m);
out:
    return local;
}

static dkm_local complete_check_mask(dkm_ctx *ctx, const dkm_data *observed)
{
    const double *mask = dkm_data_values_const(observed);

    for (dkm_idx i = 0; i < dkm_data_local_rows(observed); i++)
        if (mask[i] != 0 && mask[i] != 1)
            return dkm_fail(ctx, DKM_ERR_ARG, "the mask is %g for object %lld: it is 1 or 0",
                            mask[i], (long long)(dkm_data_local_first(observed) + i));
    return DKM_LOCAL_OK;
}

/* Where the mask is 1, on every rank. */
static dkm_status find_indices(dkm_completion *c, const dkm_data *observed)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first = dkm_data_local_first(observed);
    int *all = NULL;

    DKM_AGREE(c->ctx, complete_check_mask(c->ctx, observed));
    DKM_AGREE(c->ctx, dkm_calloc(c->ctx, c->m, &all));
    DKM_AGREE(c->ctx, dkm_alloc(c->ctx, c->m, &c->indices));
    for (dkm_idx i = 0; i < dkm_data_local_rows(observed); i++)
        all[first + i] = dkm_data_values_const(observed)[i] == 1;
    MPI_Allreduce(MPI_IN_PLACE, all, (int)c->m, MPI_INT, MPI_MAX, dkm_ctx_comm(c->ctx));
    for (dkm_idx i = 0; i < c->m; i++)
        if (all[i])
            c->indices[c->n++] = i;
    if (c->n == 0)
        local = dkm_fail(c->ctx, DKM_ERR_ARG, "the mask observes no object at all");
    DKM_AGREE(c->ctx, local);
out:
    DKM_FREE(all);
    return status;
}

/* The columns of the observed objects: of all rows, or of theirs alone. */
static dkm_status complete_pick(const dkm_completion *c, const dkm_data *K, int all_rows,
                                dkm_data **block)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;
    const dkm_data *from = K;

    if (!all_rows) {
        DKM_TRY(dkm_data_select(K, c->n, c->indices, &rows));
        from = rows;
    }
    DKM_TRY(dkm_data_create_dense(c->ctx, dkm_data_rows(from), c->n, block));
    for (dkm_idx i = 0; i < dkm_data_local_rows(from); i++)
        for (dkm_idx j = 0; j < c->n; j++)
            dkm_data_values(*block)[i * c->n + j] =
                dkm_data_values_const(from)[i * c->m + c->indices[j]];
out:
    dkm_data_destroy(&rows);
    return status;
}

/* The root of Q for one of the matrices on the observed objects. */
static dkm_status complete_find_root(const dkm_completion *c, const dkm_data *K, const dkm_data *F,
                                     double **root, dkm_extrapolate_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = c->settings.layout.block;
    dkm_data *block = NULL;
    dkm_dmat *A = NULL;

    DKM_TRY(complete_pick(c, K, 0, &block));
    DKM_TRY(dkm_gram_from_rows(c->grid, block, nb ? nb : dkm_grid_block(c->grid, c->n), &A));
    if (c->settings.clip)
        DKM_TRY(dkm_psd_clip(A, NULL));
    DKM_TRY(dkm_extrapolate(A, F, &c->settings.extrapolate, root, info));
out:
    dkm_dmat_destroy(&A);
    dkm_data_destroy(&block);
    return status;
}

void dkm_completion_close(dkm_completion **completion)
{
    dkm_completion *c = *completion;

    if (!c)
        return;
    dkm_extrapolate_free(&c->by);
    dkm_extrapolate_free(&c->known);
    dkm_data_destroy(&c->F);
    DKM_FREE(c->indices);
    dkm_grid_destroy(&c->grid);
    dkm_free_block(c);
    *completion = NULL;
}

static dkm_status find_roots(dkm_completion *c, const dkm_data *K, const dkm_data *S)
{
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;

    DKM_TRY(complete_pick(c, S, 1, &c->F));
    DKM_TRY(dkm_data_select(c->F, c->n, c->indices, &F));
    DKM_TRY(complete_find_root(c, K, F, &c->known, &c->info.known));
    DKM_TRY(complete_find_root(c, S, F, &c->by, &c->info.by));
out:
    dkm_data_destroy(&F);
    return status;
}

dkm_status dkm_completion_open(const dkm_data *K, const dkm_data *S, const dkm_data *observed,
                               const dkm_complete_settings *settings, dkm_completion **completion,
                               dkm_complete_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(K);
    dkm_completion *c = NULL;

    *completion = NULL;
    DKM_AGREE(ctx, complete_check(ctx, K, S, observed));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &c));
    c->ctx = ctx;
    c->settings = *settings;
    c->m = c->info.m = dkm_data_rows(K);
    DKM_TRY(find_indices(c, observed));
    c->info.observed = c->n;
    DKM_TRY(dkm_grid_create(ctx, settings->layout.P, settings->layout.Q, &c->grid));
    DKM_TRY(find_roots(c, K, S));
    if (info)
        *info = c->info;
    *completion = c;
    c = NULL;
out:
    dkm_completion_close(&c);
    return status;
}

static dkm_local check_lambda(dkm_ctx *ctx, double lambda)
{
    if (lambda >= 0 && lambda <= 1)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG, "lambda is from 0 to 1, not %g", lambda);
}

dkm_status dkm_completion_join(const dkm_completion *c, double lambda, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_weighted_root both[2] = {{c->info.by.dimensions, c->by, lambda},
                                 {c->info.known.dimensions, c->known, 1.0 - lambda}};
    double *root = NULL;
    dkm_idx t = 0;

    *Z = NULL;
    DKM_AGREE(c->ctx, check_lambda(c->ctx, lambda));
    DKM_TRY(dkm_parallel_sum(c->ctx, c->n, 2, both, &root, &t));
    DKM_TRY(dkm_data_create_dense(c->ctx, c->m, t, Z));
    if (t > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'N', t, dkm_data_local_rows(c->F), c->n, 1.0, root, t,
                      dkm_data_values_const(c->F), c->n, 0.0, dkm_data_values(*Z), t);
out:
    dkm_extrapolate_free(&root);
    return status;
}
