/* L L' + V V' = L~ L~' in place for V of k columns, by blocked Householder reflections (Gill, Golub,
 * Murray and Saunders 1974, Math. Comp. 28(126):505-535, doi:10.2307/2005923, whose rank-one updates
 * are taken nb columns at a time; LAPACK: tpqrt, tpmqrt).
 *
 * [L V] Q = [L~ 0] for an orthogonal Q that is made block column by block column. For block j
 *   [L_jj'; V_j'] = Q_j [L~_jj'; 0],   Q_j = I - [I; W] T [I W'],   W of k x nb, T of nb x nb
 * and every block row i below it becomes
 *   M = (L_ij + V_i W) T,   L_ij <- L_ij - M,   V_i <- V_i - M W'.
 * As sums of squares are only added, no digits are lost and the factor always exists.
 *
 * L is block-cyclic and V lies with its rows, its columns dealt to the grid columns one by one. The
 * columns of V begin with zeros: column c is used from block row `first[c]` on, ascending.
 *
 * Cost on R x C ranks, with k' the columns in use: n^2 (2 k' / C + nb / 2) / R flops per rank. Sent
 * per block column and rank: n nb / R words twice along the grid row (a sum of V W, and M), k' nb +
 * nb^2 to all; over all n^2 / R words twice and n k'. Held: V, n k / (R C), and n nb / R twice. W
 * and T, (k + nb) nb numbers, are replicated.
 *
 * Sums go to a second buffer: MPICH 4.0 reads the address MPI_IN_PLACE in an MPI_Reduce of more than
 * 2 KiB whose root is not rank 0. */
#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "linalg/factor/rank_update.h"
#include "matrix/dmat_impl.h"

typedef struct update_ws {
    dkm_ctx *ctx;
    dkm_dmat *L, *V;
    const dkm_idx *first;
    int p, q, P, Q;
    dkm_idx k;       /* columns of V in use */
    dkm_idx k_loc;   /* of this rank */
    dkm_idx rows;    /* of the package: nb + k */
    double *reflect; /* [I; W], (nb + k) x nb, then T (nb x nb), then nb signs */
    double *mine;    /* what this rank adds to [L_jj'; V_j'] */
    double *part;    /* W of this rank's columns of V */
    double *M, *S;   /* local rows x nb */
    double *tau, *work;
    int lwork;
} update_ws;

static dkm_local update_open(update_ws *s, dkm_dmat *L, dkm_dmat *V, const dkm_idx *first)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx nb = L->nb, k = V->n;

    *s = (update_ws){.ctx = dkm_grid_ctx(L->grid), .L = L, .V = V, .first = first};
    s->p = dkm_grid_row(L->grid);
    s->q = dkm_grid_col(L->grid);
    s->P = dkm_grid_rows(L->grid);
    s->Q = dkm_grid_cols(L->grid);
    s->lwork = (int)(nb * 64);
    DKM_STEP(dkm_calloc(s->ctx, (nb + k) * nb + nb * nb + nb, &s->reflect));
    DKM_STEP(dkm_alloc(s->ctx, (nb + k) * nb, &s->mine));
    DKM_STEP(dkm_alloc(s->ctx, (V->n_loc + 1) * nb, &s->part));
    DKM_STEP(dkm_alloc(s->ctx, (L->m_loc + 1) * nb, &s->M));
    DKM_STEP(dkm_alloc(s->ctx, (L->m_loc + 1) * nb, &s->S));
    DKM_STEP(dkm_alloc(s->ctx, nb, &s->tau));
    DKM_STEP(dkm_alloc(s->ctx, s->lwork, &s->work));
out:
    return local;
}

static void update_close(update_ws *s)
{
    DKM_FREE(s->work);
    DKM_FREE(s->tau);
    DKM_FREE(s->S);
    DKM_FREE(s->M);
    DKM_FREE(s->part);
    DKM_FREE(s->mine);
    DKM_FREE(s->reflect);
}

/* Parts of the package for a block of @p w columns. */
static double *update_t(const update_ws *s, dkm_idx w)
{
    return s->reflect + s->rows * w;
}

static double *update_signs(const update_ws *s, dkm_idx w)
{
    return update_t(s, w) + w * w;
}

/* [L_jj'; V_j'] on the rank of L_jj: the rows of V_j come from all ranks of its grid row. */
static void update_gather(update_ws *s, dkm_idx jg, dkm_idx w, int owner)
{
    const dkm_dmat *L = s->L, *V = s->V;
    dkm_idx il = dkm_cyclic_local(jg, L->mb, s->P), jl = dkm_cyclic_local(jg, L->nb, s->Q);

    memset(s->mine, 0, (size_t)(s->rows * w) * sizeof *s->mine);
    for (dkm_idx cl = 0; cl < s->k_loc; cl++)
        for (dkm_idx i = 0; i < w; i++)
            s->mine[w + dkm_dmat_global_col(V, cl) + i * s->rows] = dkm_dmat_at(V, il + i, cl);
    for (dkm_idx i = 0; s->q == owner && i < w; i++) /* column i of L_jj' is row i of L_jj */
        for (dkm_idx j = 0; j <= i; j++)
            s->mine[j + i * s->rows] = dkm_dmat_at(L, il + i, jl + j);
    MPI_Reduce(s->mine, s->reflect, (int)(s->rows * w), MPI_DOUBLE, MPI_SUM, owner,
               dkm_grid_row_comm(L->grid));
}

/* The reflections, and L~_jj with a positive diagonal. */
static void update_factor(update_ws *s, dkm_idx jg, dkm_idx w)
{
    dkm_dmat *L = s->L;
    dkm_idx il = dkm_cyclic_local(jg, L->mb, s->P), jl = dkm_cyclic_local(jg, L->nb, s->Q);
    const int m = (int)s->rows, n = (int)w;
    double *R = s->reflect, *T = update_t(s, w), *signs = update_signs(s, w);
    int info = 0;

    dgeqrf_(&m, &n, R, &m, s->tau, s->work, &s->lwork, &info);
    dlarft_("F", "C", &m, &n, R, &m, s->tau, T, &n);
    for (dkm_idx i = 0; i < w; i++)
        for (dkm_idx j = i + 1; j < w; j++) /* T is upper triangular */
            T[j + i * w] = 0.0;
    for (dkm_idx j = 0; j < w; j++)
        signs[j] = R[j + j * s->rows] < 0 ? -1.0 : 1.0;
    for (dkm_idx i = 0; i < w; i++)
        for (dkm_idx j = 0; j <= i; j++)
            dkm_dmat_put(L, il + i, jl + j, signs[j] * R[j + i * s->rows]);
}

/* W of this rank's columns of V, k_loc x w. */
static void update_take_part(update_ws *s, dkm_idx w)
{
    for (dkm_idx j = 0; j < w; j++)
        for (dkm_idx cl = 0; cl < s->k_loc; cl++)
            s->part[cl + j * s->k_loc] =
                s->reflect[w + dkm_dmat_global_col(s->V, cl) + j * s->rows];
}

/* All block rows below block j. */
static void update_rows(update_ws *s, dkm_idx jg, dkm_idx w, int owner)
{
    dkm_dmat *L = s->L, *V = s->V;
    dkm_idx i0 = dkm_cyclic_count(jg + w, L->mb, s->p, s->P), n = L->m_loc - i0;
    dkm_idx jl = dkm_cyclic_local(jg, L->nb, s->Q);
    MPI_Comm row = dkm_grid_row_comm(L->grid);
    double *signs = update_signs(s, w);

    if (n == 0)
        return;
    memset(s->S, 0, (size_t)(n * w) * sizeof *s->S);
    if (s->k_loc > 0) /* S = V W */
        dkm_blas_gemm(DKM_F64, 'N', 'N', n, w, s->k_loc, 1.0, V->a.f64 + i0, V->ld, s->part,
                      s->k_loc, 0.0, s->S, n);
    MPI_Reduce(s->S, s->M, (int)(n * w), MPI_DOUBLE, MPI_SUM, owner, row);
    if (s->q == owner) { /* M = (L_ij + V W) T, L_ij <- (L_ij - M) signs */
        double *block = L->a.f64 + i0 + jl * L->ld;
        for (dkm_idx j = 0; j < w; j++)
            for (dkm_idx i = 0; i < n; i++)
                s->S[i + j * n] = s->M[i + j * n] + block[i + j * L->ld];
        dkm_blas_gemm(DKM_F64, 'N', 'N', n, w, w, 1.0, s->S, n, update_t(s, w), w, 0.0, s->M, n);
        for (dkm_idx j = 0; j < w; j++)
            for (dkm_idx i = 0; i < n; i++)
                block[i + j * L->ld] = signs[j] * (block[i + j * L->ld] - s->M[i + j * n]);
    }
    MPI_Bcast(s->M, (int)(n * w), MPI_DOUBLE, owner, row);
    if (s->k_loc > 0) /* V <- V - M W' */
        dkm_blas_gemm(DKM_F64, 'N', 'T', n, s->k_loc, w, -1.0, s->M, n, s->part, s->k_loc, 1.0,
                      V->a.f64 + i0, V->ld);
}

/* Columns of V that are in use for rows before @p end. */
static dkm_idx update_active(const update_ws *s, dkm_idx end)
{
    dkm_idx k = s->k;

    while (k < s->V->n && s->first[k] < end)
        k++;
    return k;
}

static void update_block(update_ws *s, dkm_idx jg)
{
    dkm_idx w = jg + s->L->nb < s->L->n ? s->L->nb : s->L->n - jg;
    int prow = dkm_cyclic_owner(jg, s->L->mb, s->P), pcol = dkm_cyclic_owner(jg, s->L->nb, s->Q);
    int count;

    s->k = update_active(s, jg + w);
    if (s->k == 0)
        return;
    s->k_loc = dkm_cyclic_count(s->k, s->V->nb, s->q, s->Q);
    s->rows = w + s->k;
    count = (int)(s->rows * w + w * w + w);
    if (s->p == prow) {
        update_gather(s, jg, w, pcol);
        if (s->q == pcol)
            update_factor(s, jg, w);
        MPI_Bcast(s->reflect, count, MPI_DOUBLE, pcol, dkm_grid_row_comm(s->L->grid));
    }
    MPI_Bcast(s->reflect, count, MPI_DOUBLE, prow, dkm_grid_col_comm(s->L->grid));
    update_take_part(s, w);
    update_rows(s, jg, w, pcol);
}

dkm_status dkm_la_rank_update(dkm_dmat *L, dkm_dmat *V, const dkm_idx *first)
{
    dkm_status status = DKM_OK;
    update_ws s = {0};

    DKM_AGREE(dkm_grid_ctx(L->grid), update_open(&s, L, V, first));
    for (dkm_idx jg = 0; s.p >= 0 && jg < L->n; jg += L->nb)
        update_block(&s, jg);
out:
    update_close(&s);
    return status;
}
