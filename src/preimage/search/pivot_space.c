/* Pivots y_0, ..., y_s and o = phi(y_0). Cholesky with pivoting, G G', of the matrix of the <phi(y_i) - o, phi(y_j) - o>
 * gives an object the coordinates z = G^-1 <phi(y_i) - o, phi(c) - o> in their span; h^2 = ||phi(c) - o||^2 - ||z||^2
 * is the squared distance to it. A point f of an embedding has q and e in their place, from its squared distances to
 * the pivots. Directions that add less than INDEPENDENT of the first are left out.
 *
 * Rounding. z is found by substitution, with a relative error of at most 4 s u cond(G); differences of kernel values
 * add a few u of the largest. h and e are enlarged to h^2 + eps S_c and e^2 + eps S_f, S the largest kernel values
 * that occur in them and eps = EPS + 32 s u cond(G), so that e h exceeds all of that: q.z + e h is never below
 * <f - o, phi(c) - o>.
 *
 * Cost: (s + 1) kernel values and s^2 flops per object, on the rank that has it. Replicated: s + 1 objects with
 * p + 1 numbers each, and three matrices of that order. */
#include "preimage/search/pivot_space.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "kernels/evaluation/prepare.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"

#define INDEPENDENT 1e-9
#define EPS         1e-9

dkm_status dkm_pivot_space_agree(const dkm_pivot_space *p, dkm_status status)
{
    if (p->own == p->ctx)
        return status;
    return dkm_agree(p->ctx, status == DKM_OK
                                 ? DKM_LOCAL_OK
                                 : dkm_fail(p->ctx, status, "%s", dkm_ctx_message(p->own)));
}

dkm_status dkm_pivot_space_begin(dkm_pivot_space *p, dkm_embedding *e)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    MPI_Comm comm = MPI_COMM_NULL;

    *p = (dkm_pivot_space){.ctx = e->fitted.ctx, .e = e};
    if (dkm_ctx_size(p->ctx) == 1) {
        p->own = p->ctx;
        return DKM_OK;
    }
    dkm_mpi_split(p->ctx, dkm_ctx_rank(p->ctx), 0, &comm);
    DKM_AGREE(p->ctx, DKM_LOCAL_OK);
    if (dkm_ctx_create(comm, &p->own) != DKM_OK)
        local = dkm_fail(p->ctx, DKM_ERR_MEMORY, "no memory to search candidates");
    if (p->own) {
        dkm_ctx_set_seed(p->own, dkm_ctx_seed(p->ctx));
        dkm_ctx_set_threads(p->own, dkm_ctx_threads(p->ctx));
        dkm_ctx_set_kernels(p->own, dkm_ctx_kernels(p->ctx), NULL);
    }
    DKM_AGREE(p->ctx, local);
out:
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    return status;
}

/* Kernel values between the pivots. On this rank alone. */
static dkm_status pivot_values(dkm_pivot_space *p)
{
    dkm_status status = DKM_OK;
    dkm_idx n = p->count;
    dkm_dmat *K = NULL;

    DKM_AGREE(p->own, dkm_alloc(p->own, n * n, &p->K));
    DKM_AGREE(p->own, dkm_calloc(p->own, n * n, &p->F));
    DKM_AGREE(p->own, dkm_alloc(p->own, n, &p->pivot));
    DKM_TRY(dkm_fitted_kernel_cross(&p->pivots, p->pivots.X, &K));
    DKM_TRY(dkm_dmat_to_rows(K, p->K));
    for (dkm_idx i = 0; i < n; i++)
        p->largest = fmax(p->largest, fabs(p->K[i * n + i]));
out:
    dkm_dmat_destroy(&K);
    return status;
}

/* <phi(y_i) - o, phi(y_j) - o> */
static double pivot_inner(const dkm_pivot_space *p, dkm_idx i, dkm_idx j)
{
    const double *K = p->K;
    dkm_idx n = p->count;

    return K[i * n + j] - K[i * n] - K[j * n] + K[0];
}

/* Cholesky with pivoting of those inner products: directions in the order of what they add. Local. */
static void find_directions(dkm_pivot_space *p, double *left)
{
    dkm_idx n = p->count;
    double most = 0;

    for (dkm_idx i = 0; i < n; i++)
        left[i] = pivot_inner(p, i, i);
    for (p->s = 0; p->s < n - 1; p->s++) {
        dkm_idx k = p->s, best = 0;
        for (dkm_idx i = 1; i < n; i++)
            best = left[i] > left[best] ? i : best;
        most = k == 0 ? left[best] : most;
        if (best == 0 || !(left[best] > INDEPENDENT * most))
            return;
        p->pivot[k] = best;
        p->F[best * n + k] = sqrt(left[best]);
        for (dkm_idx i = 0; i < n; i++) {
            double sum = pivot_inner(p, i, best);
            for (dkm_idx l = 0; l < k; l++)
                sum -= p->F[i * n + l] * p->F[best * n + l];
            if (i != best && left[i] > 0)
                p->F[i * n + k] = sum / p->F[best * n + k];
            left[i] -= i == best ? left[i] : p->F[i * n + k] * p->F[i * n + k];
        }
    }
}

/* ||G|| ||G^-1|| in the norm of Frobenius. Local. */
static double condition(const dkm_pivot_space *p, double *inverse)
{
    double a = 0, b = 0;

    for (dkm_idx i = 0; i < p->s; i++)
        for (dkm_idx j = 0; j < p->s; j++)
            inverse[i + j * p->s] = i == j;
    dkm_blas_trsm_right(DKM_F64, 'N', p->s, p->s, p->G, p->s, inverse, p->s);
    for (dkm_idx i = 0; i < p->s * p->s; i++) {
        a += p->G[i] * p->G[i];
        b += inverse[i] * inverse[i];
    }
    return sqrt(a * b);
}

/* The factor of the directions, and how far rounding may go. On this rank alone. */
static dkm_local factor_pivots(dkm_pivot_space *p)
{
    dkm_local local = DKM_LOCAL_OK;
    double *work = NULL;

    DKM_STEP(dkm_alloc(p->own, p->count * p->count, &work));
    find_directions(p, work);
    DKM_STEP(dkm_calloc(p->own, p->s * p->s, &p->G));
    for (dkm_idx i = 0; i < p->s; i++)
        for (dkm_idx j = 0; j <= i; j++)
            p->G[i + j * p->s] = p->F[p->pivot[i] * p->count + j];
    p->eps = EPS + 32.0 * (double)(p->s + 1) * DBL_EPSILON * (p->s > 0 ? condition(p, work) : 0.0);
out:
    DKM_FREE(work);
    return local;
}

static void drop_pivots(dkm_pivot_space *p)
{
    dkm_objs_clear(&p->embedded);
    DKM_FREE(p->G);
    DKM_FREE(p->F);
    DKM_FREE(p->K);
    DKM_FREE(p->pivot);
    dkm_fitted_kernel_close(&p->pivots);
    p->pivots = (dkm_fitted_kernel){0};
}

/* Coordinates and norm of every pivot in the embedding, on every rank: rows of p + 1. Collective. */
static dkm_status encode_pivots(const dkm_pivot_space *p, const dkm_idx *indices, dkm_objs *all)
{
    dkm_status status = DKM_OK;
    dkm_idx d = p->e->p, n, *rows = NULL;
    dkm_data *shared = NULL, *Z = NULL, *wide = NULL;
    double *norms = NULL;

    DKM_TRY(dkm_data_select(p->e->fitted.X, p->count, indices, &shared));
    n = dkm_data_local_rows(shared);
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n, &norms));
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, p->count, &rows));
    DKM_TRY(dkm_embedding_encode(p->e, shared, &Z, norms));
    DKM_TRY(dkm_data_create_dense(p->ctx, p->count, d + 1, &wide));
    for (dkm_idx i = 0; i < n; i++) {
        memcpy(dkm_data_values(wide) + i * (d + 1), dkm_data_values(Z) + i * d,
               (size_t)d * sizeof(double));
        dkm_data_values(wide)[i * (d + 1) + d] = norms[i];
    }
    for (dkm_idx i = 0; i < p->count; i++)
        rows[i] = i;
    DKM_TRY(dkm_data_fetch(wide, p->count, rows, all));
out:
    dkm_data_destroy(&wide);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&shared);
    DKM_FREE(rows);
    DKM_FREE(norms);
    return status;
}

dkm_status dkm_pivot_space_take(dkm_pivot_space *p, dkm_idx count, const dkm_idx *rows)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {1, 1, p->e->fitted.nb};
    dkm_objs got = {0};
    dkm_data *mine = NULL;

    drop_pivots(p);
    p->largest = 0;
    DKM_TRY(dkm_data_fetch(p->e->fitted.X, count, rows, &got));
    p->count = count;
    got.ctx = p->own;
    status = dkm_data_wrap(p->own, count, &got, &mine);
    if (status == DKM_OK)
        status = dkm_fitted_kernel_open(&p->pivots, p->own, mine, p->e->fitted.kernel, &layout);
    if (status == DKM_OK && p->e->fitted.kernel->distances)
        status = dkm_fitted_kernel_use_distances(&p->pivots);
    if (status == DKM_OK)
        status = pivot_values(p);
    if (status == DKM_OK)
        status = dkm_agree(p->own, factor_pivots(p));
    DKM_TRY(dkm_pivot_space_agree(p, status));
    DKM_TRY(encode_pivots(p, rows, &p->embedded));
out:
    dkm_data_destroy(&mine);
    dkm_objs_clear(&got);
    return status;
}

static double squared_distance(dkm_idx d, const double *z, const double *pivot)
{
    double sum = pivot[d];

    for (dkm_idx j = 0; j < d; j++)
        sum += z[j] * (z[j] - 2.0 * pivot[j]);
    return fmax(sum, 0.0);
}

void dkm_pivot_space_place_point(const dkm_pivot_space *p, const double *z, double *row)
{
    const dkm_objs *pivots = &p->embedded;
    dkm_idx d = p->e->p;
    double base = squared_distance(d, z, pivots->values), inside = 0;

    for (dkm_idx k = 0; k < p->s; k++) {
        dkm_idx at = p->pivot[k];
        double far = squared_distance(d, z, pivots->values + at * (d + 1));
        double sum = 0.5 * (base + pivot_inner(p, at, at) - far);
        for (dkm_idx l = 0; l < k; l++)
            sum -= p->G[k + l * p->s] * row[l];
        row[k] = sum / p->G[k + k * p->s];
        inside += row[k] * row[k];
    }
    row[p->s] = sqrt(fmax(base - inside, 0.0) + p->eps * (base + p->largest));
    row[p->s + 1] = base;
}

void dkm_pivot_space_close(dkm_pivot_space *p)
{
    drop_pivots(p);
    if (p->own && p->own != p->ctx)
        dkm_ctx_destroy(&p->own);
}

/* Norms from k(c, c), and z and h from kernel values to the pivots, n x count. Local. 
 * @param B  workspace of n s numbers */
static void place_objects(const dkm_pivot_space *p, const dkm_dmat *K, double *B, dkm_idx n,
                          double *Z, double *norms)
{
    const double *first = K->a.f64;
    dkm_idx s = p->s;

    for (dkm_idx k = 0; k < s; k++) {
        const double *column = K->a.f64 + p->pivot[k] * K->ld;
        double shift = p->K[0] - p->K[p->pivot[k] * p->count];
        for (dkm_idx i = 0; i < n; i++)
            B[i + k * n] = column[i] - first[i] + shift;
    }
    if (s > 0)
        dkm_blas_trsm_right(DKM_F64, 'T', n, s, p->G, s, B, n);
    for (dkm_idx i = 0; i < n; i++) {
        double *z = Z + i * (s + 1), self = norms[i], inside = 0;
        for (dkm_idx k = 0; k < s; k++) {
            z[k] = B[i + k * n];
            inside += z[k] * z[k];
        }
        norms[i] = fmax(self - 2.0 * first[i] + p->K[0], 0.0);
        z[s] = sqrt(fmax(norms[i] - inside, 0.0) + p->eps * (fabs(self) + p->largest));
    }
}

dkm_status dkm_pivot_space_place(dkm_pivot_space *p, const dkm_data *objects, double *work,
                                 double *Z, double *norms)
{
    dkm_status status = DKM_OK;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_kernel_prepare_new(p->pivots.prepared, objects, &prepared));
    DKM_TRY(dkm_kernel_diagonal(prepared, norms));
    DKM_TRY(dkm_fitted_kernel_cross(&p->pivots, objects, &K));
    place_objects(p, K, work, dkm_data_rows(objects), Z, norms);
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    return status;
}
