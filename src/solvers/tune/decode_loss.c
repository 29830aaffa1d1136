/* The expected loss of a random decoding of leave-one-out predictions. With A = (K + gamma I)^-1 the
 * ridge regression without example i, of outputs psi(y_j) less the mean of those of the others,
 * predicts at x_i
 *
 *   f_i = sum_{j != i} S_ij psi(y_j),   S_ij = -A_ij / A_ii + s_i,   s_i = (1 + sum_{j != i} A_ij / A_ii) / (m - 1)
 *
 * Squared distances to other outputs are, up to a term of i alone, D_ic = L_cc - 2 (S L)_ic, and
 *
 *   loss = 1/m sum_i sum_{c != i} p_ic Delta_ic,   p_i = softmax(-D_i / T).
 *
 * Then, backwards:
 *
 *   Q = dloss/dD:    Q_ic = -p_ic (Delta_ic - E_i) / (m T),   E_i = sum_c p_ic Delta_ic
 *   dloss/dL = diag(Q'1) - S'Q - Q'S,   R = dloss/dS = -2 Q L off the diagonal
 *   B = dloss/dA:    B_ij = -(R_ij - g_i / (m - 1)) / A_ii,   g_i = sum_{j != i} R_ij,
 *                    B_ii = -sum_{j != i} B_ij A_ij / A_ii
 *   dloss/dK = -A (B + B') A / 2
 *
 * The expected loss of a Gibbs predictor is that of minimum-risk training (Smith and Eisner 2006,
 * Minimum risk annealing for training log-linear models, COLING/ACL), with the leave-one-out
 * predictions of ridge regression (Sundararajan and Keerthi 2001, doi:10.1162/08997660151134343).
 *
 * Cost: 15 m^3 / ranks flops, in seven products, a factor and its inverse. Held: six matrices like K
 * at most, with the two that are given. Replicated: six vectors of m. */
#include "solvers/tune/decode_loss.h"

#include <math.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

typedef struct work {
    dkm_ctx *ctx;
    const dkm_decoding *problem;
    dkm_idx m;
    double *a, *l, *shift, *least, *sums, *risk; /* m each, replicated */
    dkm_dmat *S, *D, *R, *W;
} work;

static dkm_local work_open(work *s, dkm_ctx *ctx, const dkm_decoding *problem, dkm_idx m)
{
    dkm_local local = DKM_LOCAL_OK;
    double **const vectors[] = {&s->a, &s->l, &s->shift, &s->least, &s->sums, &s->risk};

    s->ctx = ctx;
    s->problem = problem;
    s->m = m;
    for (int k = 0; k < 6; k++)
        DKM_STEP(dkm_calloc(ctx, m, vectors[k]));
out:
    return local;
}

static void work_close(work *s)
{
    dkm_dmat_destroy(&s->W);
    dkm_dmat_destroy(&s->R);
    dkm_dmat_destroy(&s->D);
    dkm_dmat_destroy(&s->S);
    DKM_FREE(s->risk);
    DKM_FREE(s->sums);
    DKM_FREE(s->least);
    DKM_FREE(s->shift);
    DKM_FREE(s->l);
    DKM_FREE(s->a);
}

static dkm_status create_like(const dkm_dmat *K, dkm_dmat **A)
{
    return dkm_dmat_create_like(K, K->n, K->nb, DKM_F64, A);
}

static void reduce(const work *s, double *vector, MPI_Op op)
{
    MPI_Allreduce(MPI_IN_PLACE, vector, (int)s->m, MPI_DOUBLE, op, dkm_ctx_comm(s->ctx));
}

/* What is done with the element (i, j) of a matrix of this rank at local place k. */
typedef void (*element_step)(work *s, dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx k);

static void for_each(work *s, dkm_dmat *A, element_step step)
{
    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx j = dkm_dmat_global_col(A, jl);
        for (dkm_idx il = 0; il < A->m_loc; il++)
            step(s, A, dkm_dmat_global_row(A, il), j, il + jl * A->ld);
    }
}

static void take_diagonal_of_A(work *s, dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx k)
{
    if (i == j)
        s->a[i] = A->a.f64[k];
    else
        s->shift[i] += A->a.f64[k];
}

static void fill_S(work *s, dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx k)
{
    s->S->a.f64[k] = i == j ? 0.0 : s->shift[i] - A->a.f64[k] / s->a[i];
    if (i == j)
        s->l[i] = s->problem->L->a.f64[k];
}

/* D holds -2 S L so far. */
static void complete_D(work *s, dkm_dmat *D, dkm_idx i, dkm_idx j, dkm_idx k)
{
    D->a.f64[k] = i == j ? INFINITY : D->a.f64[k] + s->l[j];
    if (D->a.f64[k] < s->least[i])
        s->least[i] = D->a.f64[k];
}

static double weight(const work *s, const dkm_dmat *D, dkm_idx i, dkm_idx k)
{
    return exp(-(D->a.f64[k] - s->least[i]) / s->problem->temperature);
}

static void add_weights(work *s, dkm_dmat *D, dkm_idx i, dkm_idx j, dkm_idx k)
{
    double w = weight(s, D, i, k);

    (void)j;
    s->sums[i] += w;
    s->risk[i] += w * s->problem->Delta->a.f64[k];
}

/* shift is the first of the nearest outputs */
static void find_nearest(work *s, dkm_dmat *D, dkm_idx i, dkm_idx j, dkm_idx k)
{
    if (i != j && D->a.f64[k] <= s->least[i] && (double)j < s->shift[i])
        s->shift[i] = (double)j;
}

static void fill_Q(work *s, dkm_dmat *D, dkm_idx i, dkm_idx j, dkm_idx k)
{
    double T = s->problem->temperature, p = i == j ? 0.0 : weight(s, D, i, k) / s->sums[i];
    double gain = p * (s->problem->Delta->a.f64[k] - s->risk[i]) / ((double)s->m * T);

    if (p > 0)
        s->shift[i] += gain * (D->a.f64[k] - s->least[i]) / T;
    D->a.f64[k] = -gain;
    s->l[j] -= gain;
}

static void add_diagonal(work *s, dkm_dmat *G, dkm_idx i, dkm_idx j, dkm_idx k)
{
    if (i == j)
        G->a.f64[k] += s->l[i];
}

static void add_rows_of_R(work *s, dkm_dmat *R, dkm_idx i, dkm_idx j, dkm_idx k)
{
    if (i != j)
        s->sums[i] += R->a.f64[k];
}

/* R becomes B off the diagonal; W holds nothing yet. */
static void fill_B(work *s, dkm_dmat *A, dkm_idx i, dkm_idx j, dkm_idx k)
{
    double *b = &s->R->a.f64[k];

    *b = i == j ? 0.0 : -(*b - s->sums[i] / (double)(s->m - 1)) / s->a[i];
    s->risk[i] -= *b * A->a.f64[k] / s->a[i];
}

static void set_diagonal_of_B(work *s, dkm_dmat *B, dkm_idx i, dkm_idx j, dkm_idx k)
{
    if (i == j)
        B->a.f64[k] = s->risk[i];
}

static void clear(const work *s, double *vector, double value)
{
    for (dkm_idx i = 0; i < s->m; i++)
        vector[i] = value;
}

/* A in place of K + gamma I, then S; no S where there is no factor. */
static dkm_status leave_out(work *s, dkm_dmat *K)
{
    dkm_status status = DKM_OK;
    dkm_idx info = 0;

    dkm_dmat_shift_diagonal(K, s->problem->gamma);
    DKM_TRY(dkm_la_potrf(K, &info));
    if (info != 0)
        goto out;
    dkm_la_trtri(K);
    dkm_la_lauum(K);
    DKM_TRY(dkm_dmat_symmetrize('L', K));
    for_each(s, K, take_diagonal_of_A);
    reduce(s, s->a, MPI_SUM);
    reduce(s, s->shift, MPI_SUM);
    for (dkm_idx i = 0; i < s->m; i++)
        s->shift[i] = (1.0 + s->shift[i] / s->a[i]) / (double)(s->m - 1);
    DKM_TRY(create_like(K, &s->S));
    for_each(s, K, fill_S);
    reduce(s, s->l, MPI_SUM);
out:
    return status;
}

static double nearest_loss(work *s)
{
    double sum = 0;

    clear(s, s->shift, (double)s->m);
    for_each(s, s->D, find_nearest);
    reduce(s, s->shift, MPI_MIN);
    for (dkm_idx jl = 0; jl < s->D->n_loc; jl++)
        for (dkm_idx il = 0; il < s->D->m_loc; il++)
            if (s->shift[dkm_dmat_global_row(s->D, il)] == (double)dkm_dmat_global_col(s->D, jl))
                sum += s->problem->Delta->a.f64[il + jl * s->D->ld];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
    return sum / (double)s->m;
}

/* D, its sums of weights and the risk of each example. */
static dkm_status decode(work *s, dkm_decode_info *info)
{
    dkm_status status = DKM_OK;

    DKM_TRY(create_like(s->S, &s->D));
    dkm_la_gemm('N', 'N', -2.0, s->S, s->problem->L, 0.0, s->D);
    clear(s, s->least, INFINITY);
    for_each(s, s->D, complete_D);
    reduce(s, s->least, MPI_MIN);
    for_each(s, s->D, add_weights);
    reduce(s, s->sums, MPI_SUM);
    reduce(s, s->risk, MPI_SUM);
    info->loss = 0;
    for (dkm_idx i = 0; i < s->m; i++) {
        s->risk[i] /= s->sums[i];
        info->loss += s->risk[i] / (double)s->m;
    }
    info->nearest = nearest_loss(s);
out:
    return status;
}

/* D becomes Q; then the gradient by L and by T. */
static dkm_status back_to_L(work *s, dkm_decode_info *info)
{
    dkm_status status = DKM_OK;

    clear(s, s->l, 0.0);
    clear(s, s->shift, 0.0);
    for_each(s, s->D, fill_Q);
    reduce(s, s->l, MPI_SUM);
    reduce(s, s->shift, MPI_SUM);
    info->by_temperature = 0;
    for (dkm_idx i = 0; i < s->m; i++)
        info->by_temperature += s->shift[i];
    DKM_TRY(create_like(s->S, &info->by_L));
    dkm_la_gemm('T', 'N', -1.0, s->S, s->D, 0.0, info->by_L);
    dkm_la_gemm('T', 'N', -1.0, s->D, s->S, 1.0, info->by_L);
    for_each(s, info->by_L, add_diagonal);
    dkm_dmat_destroy(&s->S);
out:
    return status;
}

static dkm_status back_to_K(work *s, dkm_dmat *A, dkm_decode_info *info)
{
    dkm_status status = DKM_OK;

    DKM_TRY(create_like(A, &s->R));
    dkm_la_gemm('N', 'N', -2.0, s->D, s->problem->L, 0.0, s->R);
    dkm_dmat_destroy(&s->D);
    clear(s, s->sums, 0.0);
    clear(s, s->risk, 0.0);
    for_each(s, s->R, add_rows_of_R);
    reduce(s, s->sums, MPI_SUM);
    for_each(s, A, fill_B);
    reduce(s, s->risk, MPI_SUM);
    for_each(s, s->R, set_diagonal_of_B);
    DKM_TRY(create_like(A, &s->W));
    dkm_la_gemm('N', 'N', 1.0, s->R, A, 0.0, s->W);
    DKM_TRY(create_like(A, &info->by_K));
    dkm_la_gemm('N', 'N', -0.5, A, s->W, 0.0, info->by_K);
    dkm_la_gemm('T', 'N', -0.5, s->W, A, 1.0, info->by_K);
out:
    return status;
}

dkm_status dkm_decode_loss(dkm_dmat *K, const dkm_decoding *problem, dkm_decode_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(K->grid);
    work s = {0};

    *info = (dkm_decode_info){.loss = INFINITY, .nearest = INFINITY};
    dkm_phase_begin(ctx, "decode_loss");
    DKM_AGREE(ctx, work_open(&s, ctx, problem, K->m));
    DKM_TRY(leave_out(&s, K));
    if (!s.S)
        goto out;
    DKM_TRY(decode(&s, info));
    if (problem->no_gradient || !isfinite(info->loss))
        goto out;
    DKM_TRY(back_to_L(&s, info));
    DKM_TRY(back_to_K(&s, K, info));
out:
    if (status != DKM_OK) {
        dkm_dmat_destroy(&info->by_K);
        dkm_dmat_destroy(&info->by_L);
    }
    work_close(&s);
    dkm_phase_end(ctx);
    return status;
}
