/* Kernel PCA of objects with weights w = s^2: of the covariance sum_i w_i (phi_i - mu)(phi_i - mu)'
 * about the weighted mean mu = sum_i q_i phi_i, q = w / sum w. With S = diag(s), t = s / ||s|| and
 * A = S K S its matrix is
 *
 *   S (I - 1 q') K (I - q 1') S = (I - t t') A (I - t t') = A - t a' - a t' + (t'a) t t',  a = A t,
 *
 * and with eigenpairs l, u of it the coordinates of an object are sum_i s_i u_i / sqrt(l) (k(x, x_i) -
 * (K q)_i), as u is orthogonal to s. An object of weight 2 counts as two.
 *
 * Cost: that of kernel PCA, and 2 m^2 flops for a. Replicated: m numbers of s, q, a and K q each. */
#include <math.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "matrix/dmat_impl.h"
#include "models/common/embedding.h"
#include "solvers/operators/linop.h"

/* a = A t on every rank, and t'a. */
static dkm_status project(const dkm_embedding *e, const dkm_example_weights *w, const dkm_dmat *A,
                          double *a, double *ta)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = e->fitted.ctx;
    double length = sqrt(w->total);
    dkm_multivec v = {0};
    const dkm_kernel_op op = {.grid = e->fitted.grid, .nb = e->fitted.nb, .K = A, .scale = 1};

    DKM_AGREE(ctx, dkm_multivec_init(&v, ctx, w->m, 1));
    v.cols = 1;
    for (dkm_idx i = 0; i < v.n; i++)
        v.a[i * v.ld] = w->root[w->first + i] / length;
    DKM_TRY(dkm_kernel_op_multiply(&op, &v));
    for (dkm_idx i = 0; i < v.n; i++)
        a[w->first + i] = v.a[i * v.ld];
    dkm_mpi_allreduce(a, w->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    *ta = 0;
    for (dkm_idx i = 0; i < w->m; i++)
        *ta += a[i] * w->root[i] / length;
out:
    dkm_multivec_free(&v);
    return status;
}

/* A <- A - t a' - a t' + (t'a) t t' */
static void center_matrix(const dkm_example_weights *w, const double *a, double ta, dkm_dmat *A)
{
    double length = sqrt(w->total);

    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx j = dkm_dmat_global_col(A, jl);
        double tj = w->root[j] / length;
        for (dkm_idx il = 0; il < A->m_loc; il++) {
            dkm_idx i = dkm_dmat_global_row(A, il);
            double ti = w->root[i] / length;
            dkm_dmat_put(A, il, jl, dkm_dmat_at(A, il, jl) - ti * a[j] - a[i] * tj + ta * ti * tj);
        }
    }
}

/* Eigenvectors without what rounding leaves of them along t, times s. */
static dkm_status weigh_vectors(const dkm_example_weights *w, dkm_data *vectors)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(vectors);
    dkm_idx n = dkm_data_local_rows(vectors), p = dkm_data_cols(vectors);
    const double *s = dkm_example_roots(w);
    double *v = dkm_data_values(vectors), *along = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, p, &along));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < p; j++)
            along[j] += s[i] * v[i * p + j];
    dkm_mpi_allreduce(along, p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < p; j++)
            v[i * p + j] = s[i] * (v[i * p + j] - s[i] * along[j] / w->total);
out:
    DKM_FREE(along);
    return status;
}

static dkm_local take_center(dkm_embedding *e, const dkm_example_weights *w, const double *a)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(w->ctx, w->m, &e->means));
    DKM_STEP(dkm_alloc(w->ctx, w->m, &e->center));
    for (dkm_idx i = 0; i < w->m; i++) {
        e->means[i] = a[i] / w->root[i] / sqrt(w->total);
        e->center[i] = w->root[i] * w->root[i] / w->total;
    }
out:
    return local;
}

dkm_status dkm_embedding_fit_weighted(dkm_embedding *e, const dkm_example_weights *w,
                                      const dkm_eigen_settings *settings, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_fitted_kernel *fitted = &e->fitted;
    dkm_eigen_settings plain = *settings;
    dkm_data *vectors = NULL;
    dkm_dmat *A = NULL;
    double *a = NULL, ta = 0;

    plain.center = 0;
    DKM_AGREE(fitted->ctx, dkm_calloc(fitted->ctx, w->m, &a));
    dkm_example_weights_apply(w, fitted);
    DKM_TRY(dkm_gram(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, DKM_F64, &A));
    DKM_TRY(project(e, w, A, a, &ta));
    center_matrix(w, a, ta, A);
    DKM_AGREE(fitted->ctx, take_center(e, w, a));
    DKM_TRY(dkm_eigen_leading(A, &plain, &e->values, &vectors, NULL, info));
    e->p = info->components;
    DKM_AGREE(fitted->ctx, dkm_embedding_check_rank(fitted->ctx, e->p));
    DKM_TRY(weigh_vectors(w, vectors));
    DKM_TRY(dkm_embedding_scale_vectors(e, vectors));
out:
    dkm_example_weights_apply(NULL, fitted);
    DKM_FREE(a);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&A);
    return status;
}
