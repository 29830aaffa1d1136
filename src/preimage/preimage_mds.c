/* Pre-images from distance constraints (Kwok and Tsang 2004, IEEE Trans. Neural Networks
 * 15(6):1517-1525, doi:10.1109/TNN.2004.837781). For the training objects nearest to Psi, a
 * distance in feature space gives an inner product <Psi, phi(x_i)>, and inverting the kernel gives
 * a distance d_i between objects. With x_c the neighbors about their mean and d0_i their distances
 * from it, ||x - x_i||^2 = d_i^2 for all i says, up to a constant,
 *   x_c (x - mean) = -1/2 (d^2 - d0^2),
 * which is solved in the span of the neighbors.
 *
 * Cost per point: the top-k search, k^2 d flops and an eigendecomposition of order k. Local once
 * the neighbors have been fetched. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "preimage/preimage.h"

#define NEIGHBORS 10
#define CUTOFF    1e-10 /* of eigenvalues, relative to the largest */
#define LEAST     1e-12 /* an inner product of an rbf that is smaller counts as this */

typedef struct mds_state {
    dkm_candidates training;
    double *mean; /* <v_j, mu>, p */
} mds_state;

static void preimage_mds_clear(void *state)
{
    mds_state *s = state;

    dkm_candidates_clear(&s->training);
    DKM_FREE(s->mean);
}

/* What one point needs. */
typedef struct patch {
    dkm_idx k, d;
    double *x;      /* k x d neighbors, about their mean in the end */
    double *mean;   /* d */
    double *gram;   /* k x k: x x', then its eigenvectors */
    double *value;  /* k */
    double *right;  /* k: d^2 - d0^2 */
    double *weight; /* k */
} patch;

static int preimage_mds_accepts(const dkm_embedding *e)
{
    return dkm_preimage_dense(e, NULL) &&
           (dkm_kernel_is_rbf(e->fitted.kernel) || dkm_kernel_invertible(e->fitted.kernel));
}

static dkm_idx neighbors(const dkm_preimage *pre)
{
    dkm_idx m = dkm_data_rows(pre->e->fitted.X);
    dkm_idx k = pre->settings.neighbors > 0 ? pre->settings.neighbors : NEIGHBORS;

    return k < m ? k : m;
}

/* <v_j, mu> for all components j, on every rank. */
static dkm_status project_mean(const dkm_preimage *pre, mds_state *s)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    dkm_idx m = dkm_data_rows(fitted->X), p = pre->e->p;
    dkm_dmat *means = NULL, *C = NULL;
    dkm_data *rows = NULL;

    DKM_AGREE(fitted->ctx, dkm_calloc(fitted->ctx, p, &s->mean));
    DKM_TRY(dkm_dmat_create(fitted->grid, m, 1, fitted->nb, fitted->nb, DKM_F64, &means));
    DKM_TRY(dkm_dmat_from_rows(means, pre->e->means + dkm_data_local_first(fitted->X)));
    DKM_TRY(dkm_dmat_create(fitted->grid, p, 1, fitted->nb, fitted->nb, DKM_F64, &C));
    dkm_la_gemm('T', 'N', 1.0, pre->e->W, means, 0.0, C);
    DKM_TRY(dkm_data_create_dense(fitted->ctx, p, 1, &rows));
    DKM_TRY(dkm_dmat_to_rows(C, dkm_data_values(rows)));
    memcpy(s->mean + dkm_data_local_first(rows), dkm_data_values(rows),
           (size_t)dkm_data_local_rows(rows) * sizeof *s->mean);
    MPI_Allreduce(MPI_IN_PLACE, s->mean, (int)p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(fitted->ctx));
out:
    dkm_data_destroy(&rows);
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&means);
    return status;
}

static dkm_status preimage_mds_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    mds_state *s = state;

    DKM_TRY(dkm_preimage_training(pre, &s->training));
    DKM_TRY(project_mean(pre, s));
out:
    return status;
}

/* ||Psi||^2 = ||z||^2 + 2 z.<v, mu> + ||mu||^2 */
static double norm(const dkm_preimage *pre, const mds_state *s, const double *z)
{
    double sum = dkm_embedding_grand_mean(pre->e);

    for (dkm_idx j = 0; j < pre->e->p; j++)
        sum += z[j] * (z[j] + 2.0 * s->mean[j]);
    return sum;
}

/* The squared distance of x to a neighbor of squared norm b, up to a constant that all neighbors
 * share, from the squared distance of Psi to its image. */
static double preimage_mds_distance(const dkm_preimage *pre, double far, double norm, double b)
{
    const dkm_kernel *kernel = pre->e->fitted.kernel;
    double k, dk_ds, dk_da;
    dkm_dots pair = {1, &b, &b, &b};
    dkm_derivatives out = {&k, &dk_ds, &dk_da};

    dkm_kernel_derivatives(kernel, &pair, &out);
    if (dkm_kernel_is_rbf(pre->e->fitted.kernel)) /* by_s = k / sigma^2, and k(x, x) = 1 */
        return -2.0 / dk_ds * log(fmax(LEAST, 1.0 - 0.5 * far));
    return b - 2.0 * dkm_kernel_inverse(kernel, 0.5 * (norm + k - far));
}

static dkm_local open_patch(patch *s, dkm_ctx *ctx, dkm_idx k, dkm_idx d)
{
    dkm_local local = DKM_LOCAL_OK;

    *s = (patch){.k = k, .d = d};
    DKM_STEP(dkm_alloc(ctx, d, &s->mean));
    DKM_STEP(dkm_alloc(ctx, k * k, &s->gram));
    DKM_STEP(dkm_alloc(ctx, k, &s->value));
    DKM_STEP(dkm_alloc(ctx, k, &s->right));
    DKM_STEP(dkm_alloc(ctx, k, &s->weight));
out:
    return local;
}

static void close_patch(patch *s)
{
    DKM_FREE(s->mean);
    DKM_FREE(s->gram);
    DKM_FREE(s->value);
    DKM_FREE(s->right);
    DKM_FREE(s->weight);
}

static void preimage_mds_center(patch *s)
{
    memset(s->mean, 0, (size_t)s->d * sizeof *s->mean);
    for (dkm_idx i = 0; i < s->k * s->d; i++)
        s->mean[i % s->d] += s->x[i] / (double)s->k;
    for (dkm_idx i = 0; i < s->k * s->d; i++)
        s->x[i] -= s->mean[i % s->d];
}

/* weight = (x x')^+ right, from the eigenpairs of x x'. */
static void preimage_mds_solve_weights(patch *s)
{
    memset(s->weight, 0, (size_t)s->k * sizeof *s->weight);
    for (dkm_idx j = 0; j < s->k; j++) {
        const double *u = s->gram + j * s->k;
        double along = 0;
        if (s->value[j] <= CUTOFF * s->value[s->k - 1])
            continue;
        for (dkm_idx i = 0; i < s->k; i++)
            along += u[i] * s->right[i] / s->value[j];
        for (dkm_idx i = 0; i < s->k; i++)
            s->weight[i] += along * u[i];
    }
}

/* One point, from its neighbors and the squared distances to them. */
static dkm_local preimage_mds_place(patch *s, dkm_ctx *ctx, double *y)
{
    dkm_local local = DKM_LOCAL_OK;

    preimage_mds_center(s);
    dkm_blas_gemm(DKM_F64, 'T', 'N', s->k, s->k, s->d, 1.0, s->x, s->d, s->x, s->d, 0.0, s->gram,
                  s->k);
    for (dkm_idx i = 0; i < s->k; i++)
        s->right[i] -= s->gram[i * s->k + i];
    DKM_STEP(dkm_syevd_local(ctx, s->k, s->gram, s->value));
    preimage_mds_solve_weights(s);
    memcpy(y, s->mean, (size_t)s->d * sizeof *y);
    dkm_blas_gemm(DKM_F64, 'N', 'N', s->d, 1, s->k, -0.5, s->x, s->d, s->weight, s->k, 1.0, y,
                  s->d);
out:
    return local;
}

static double preimage_mds_square(const double *x, dkm_idx d)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += x[k] * x[k];
    return sum;
}

static dkm_local preimage_mds_place_all(const dkm_preimage *pre, const mds_state *state,
                                        const dkm_data *Z, double *near, const double *far,
                                        dkm_data *Y)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx k = neighbors(pre), d = dkm_data_cols(Y), p = pre->e->p;
    patch s = {0};

    DKM_STEP(open_patch(&s, pre->e->fitted.ctx, k, d));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++) {
        double size = norm(pre, state, dkm_data_values_const(Z) + i * p);
        s.x = near + i * k * d;
        for (dkm_idx j = 0; j < k; j++)
            s.right[j] = preimage_mds_distance(pre, far[i * k + j], size,
                                               preimage_mds_square(s.x + j * d, d));
        DKM_STEP(preimage_mds_place(&s, pre->e->fitted.ctx, dkm_data_values(Y) + i * d));
    }
out:
    close_patch(&s);
    return local;
}

static dkm_status preimage_mds_solve(const dkm_preimage *pre, void *state, const dkm_data *X,
                                     const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const mds_state *s = state;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    dkm_idx n = dkm_data_local_rows(Z), k = neighbors(pre), *index = NULL;
    double *far = NULL;
    dkm_objs near = {0};
    dkm_data *found = NULL;

    (void)X;
    DKM_AGREE(fitted->ctx, dkm_alloc(fitted->ctx, n * k, &index));
    DKM_AGREE(fitted->ctx, dkm_alloc(fitted->ctx, n * k, &far));
    DKM_TRY(dkm_topk(Z, &s->training, k, index, far));
    DKM_TRY(dkm_data_fetch(fitted->X, n * k, index, &near));
    DKM_TRY(dkm_data_create_dense(fitted->ctx, dkm_data_rows(Z), dkm_data_cols(fitted->X), &found));
    DKM_AGREE(fitted->ctx, preimage_mds_place_all(pre, s, Z, near.values, far, found));
    DKM_TRY(dkm_preimage_mend(pre, &s->training, Z, found));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_objs_clear(&near);
    DKM_FREE(far);
    DKM_FREE(index);
    return status;
}

static dkm_local preimage_mds_check(const dkm_preimage *pre)
{
    dkm_idx wanted = pre->settings.neighbors, m = dkm_data_rows(pre->e->fitted.X);

    if (wanted > m)
        return dkm_fail(pre->e->fitted.ctx, DKM_ERR_ARG,
                        "%lld neighbors of only %lld training objects", (long long)wanted,
                        (long long)m);
    return DKM_LOCAL_OK;
}

static dkm_idx preimage_mds_width(const dkm_preimage *pre)
{
    return neighbors(pre) * (dkm_data_cols(pre->e->fitted.X) + 2);
}

const dkm_preimage_kind dkm_preimage_mds = {.method = DKM_PREIMAGE_MDS,
                                            .takes = DKM_PREIMAGE_TAKES_NEIGHBORS,
                                            .state_size = sizeof(mds_state),
                                            .suits = preimage_mds_accepts,
                                            .check = preimage_mds_check,
                                            .width = preimage_mds_width,
                                            .prepare = preimage_mds_prepare,
                                            .solve = preimage_mds_solve,
                                            .clear = preimage_mds_clear};
