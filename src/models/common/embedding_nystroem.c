/* Kernel PCA of the Nystroem approximation K_mn K_nn^-1 K_nm (Williams and Seeger 2001, NIPS
 * 13:682-688), centered over all m objects. With K_nn + d I = L L', features of an object are L^-1
 * k_n(x), their second moments about the mean
 *
 *   C = L^-1 (K_nm K_mn - m k k') L^-T = U diag(l) U',  k = K_nm 1 / m
 *
 * and coordinates z = W'(k_n(x) - k), W = L^-T U. The mean is that of the landmarks with weights
 * (K_nn + d I)^-1 k. The shift d keeps rounding errors of K_nm K_mn from being amplified by the
 * smallest eigenvalues of K_nn.
 *
 * Cost per rank: m n^2 / ranks flops for K_nm K_mn, 4/3 n^3 / ranks and more for its eigenpairs;
 * K_mn is formed in strips and not stored. Replicated: the n landmarks and k. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "models/common/embedding.h"

#define SHIFT 1e-8 /* of the trace of K_nn */

typedef struct fitting {
    dkm_embedding *e;
    dkm_ctx *ctx;
    dkm_nystroem N;
    dkm_dmat *G; /* K_nm K_mn, then C */
    dkm_dmat *L; /* factor of K_nn + d I */
    dkm_shifted_cholesky factor;
} fitting;

/* k, on every rank. */
static dkm_status embed_nystroem_find_means(fitting *f)
{
    dkm_status status = DKM_OK;
    dkm_idx rows = dkm_slab_count(f->N.m, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    double *one = NULL;
    dkm_multivec W = {0};
    dkm_nystroem_pass pass = {.p = 1, .W = &W};

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, rows, &one));
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, f->N.n, &f->e->means));
    DKM_AGREE(f->ctx, dkm_multivec_init(&W, f->ctx, f->N.n, 1));
    for (dkm_idx i = 0; i < rows; i++)
        one[i] = 1.0 / (double)f->N.m;
    pass.T = one;
    DKM_TRY(dkm_nystroem_products(&f->N, &pass));
    DKM_TRY(dkm_multivec_allgather(&W, f->N.n, f->e->means));
out:
    dkm_multivec_free(&W);
    DKM_FREE(one);
    return status;
}

/* G <- G - m k k', lower triangle. */
static void embed_nystroem_center(fitting *f)
{
    dkm_dmat *G = f->G;
    const double *k = f->e->means;

    for (dkm_idx jl = 0; jl < G->n_loc; jl++)
        for (dkm_idx il = 0; il < G->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(G, il), jg = dkm_dmat_global_col(G, jl);
            if (ig >= jg)
                G->a.f64[il + jl * G->ld] -= (double)f->N.m * k[ig] * k[jg];
        }
}

/* Weights of the landmarks whose combination is the mean. */
static dkm_status find_center(fitting *f)
{
    dkm_status status = DKM_OK;
    dkm_idx n = f->N.n, first = dkm_slab_first(n, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    dkm_multivec c = {0};

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, n, &f->e->center));
    DKM_AGREE(f->ctx, dkm_multivec_init(&c, f->ctx, n, 1));
    c.cols = 1;
    memcpy(c.a, f->e->means + first, (size_t)c.n * sizeof *c.a);
    DKM_TRY(dkm_shifted_cholesky_apply_rows(&f->factor, &c));
    DKM_TRY(dkm_multivec_allgather(&c, n, f->e->center));
out:
    dkm_multivec_free(&c);
    return status;
}

/* L^-1 G L^-T in place of G, both triangles. */
static dkm_status embed_nystroem_whiten(fitting *f)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(f->ctx, "whiten");
    DKM_TRY(dkm_dmat_symmetrize('L', f->G));
    dkm_la_trsm('N', f->L, f->G);
    dkm_la_trsm_right(f->L, f->G);
out:
    dkm_phase_end(f->ctx);
    return status;
}

/* C in place of G, and its leading eigenpairs; W = L^-T U. */
static dkm_status embed_nystroem_decompose(fitting *f, const dkm_eigen_settings *settings,
                                           dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_embedding *e = f->e;
    dkm_eigen_settings plain = *settings;
    dkm_data *vectors = NULL;

    plain.center = 0;
    DKM_TRY(embed_nystroem_whiten(f));
    DKM_TRY(dkm_eigen_leading(f->G, &plain, &e->values, &vectors, NULL, info));
    e->p = info->components;
    DKM_AGREE(f->ctx, dkm_embedding_check_rank(f->ctx, e->p));
    DKM_TRY(
        dkm_dmat_create(e->fitted.grid, f->N.n, e->p, e->fitted.nb, e->fitted.nb, DKM_F64, &e->W));
    DKM_TRY(dkm_dmat_from_rows(e->W, dkm_data_values(vectors)));
    dkm_la_trsm('T', f->L, e->W);
out:
    dkm_data_destroy(&vectors);
    return status;
}

/* Coordinates of all objects, this rank's slab. */
static dkm_status embed_nystroem_place_all(fitting *f, double **Z)
{
    dkm_status status = DKM_OK;
    dkm_idx p = f->e->p, rows = dkm_slab_count(f->N.m, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    dkm_idx first = dkm_slab_first(f->N.n, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx));
    dkm_multivec W = {0};
    dkm_nystroem_pass pass = {.p = p, .V = &W};
    double *mean = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, rows * p, Z));
    DKM_AGREE(f->ctx, dkm_calloc(f->ctx, p, &mean));
    DKM_AGREE(f->ctx, dkm_multivec_init(&W, f->ctx, f->N.n, p));
    W.cols = p;
    DKM_TRY(dkm_dmat_to_rows(f->e->W, W.a));
    for (dkm_idx i = 0; i < W.n; i++)
        for (dkm_idx j = 0; j < p; j++)
            mean[j] += f->e->means[first + i] * W.a[i * p + j];
    MPI_Allreduce(MPI_IN_PLACE, mean, (int)p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(f->ctx));
    pass.F = *Z;
    DKM_TRY(dkm_nystroem_products(&f->N, &pass));
    for (dkm_idx k = 0; k < rows * p; k++)
        (*Z)[k] -= mean[k % p];
out:
    dkm_multivec_free(&W);
    DKM_FREE(mean);
    return status;
}

dkm_status dkm_embedding_fit_landmarks(dkm_embedding *e, dkm_input_stream *feed,
                                       const dkm_nystroem_settings *how,
                                       const dkm_eigen_settings *settings, double **Z,
                                       dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_nystroem_settings precise = *how;
    const dkm_nystroem_problem parts = {
        e->fitted.grid, e->fitted.kernel, e->fitted.prepared, e->fitted.nb, feed, NULL};
    fitting f = {.e = e, .ctx = e->fitted.ctx};

    precise.precision = DKM_RIDGE_DOUBLE;
    DKM_TRY(dkm_input_stream_bind(feed, e->fitted.prepared));
    DKM_TRY(dkm_nystroem_open(&f.N, &parts, &precise));
    DKM_TRY(embed_nystroem_find_means(&f));
    DKM_TRY(dkm_nystroem_normal_matrix(&f.N, &f.G));
    embed_nystroem_center(&f);
    DKM_TRY(dkm_dmat_convert(f.N.K, DKM_F64, &f.L));
    DKM_TRY(dkm_shifted_cholesky_open(&f.factor, f.L, "the kernel matrix of the landmarks"));
    DKM_TRY(dkm_shifted_cholesky_factorize(&f.factor, SHIFT * (double)f.N.n * f.factor.mean));
    DKM_TRY(find_center(&f));
    DKM_TRY(embed_nystroem_decompose(&f, settings, info));
    if (Z)
        DKM_TRY(embed_nystroem_place_all(&f, Z));
out:
    dkm_shifted_cholesky_close(&f.factor);
    dkm_dmat_destroy(&f.L);
    dkm_dmat_destroy(&f.G);
    dkm_nystroem_close(&f.N);
    return status;
}
