/* The gradient of the leave-one-out error of ridge regression. With A = (K + gamma I)^-1, B = A T and
 * u = A 1 the residual of example i, left out, is
 *
 *   e_i = c_i / A_ii,   c_i = b_i + t_i u_i / (m - 1)    (the last term where means are taken off)
 *
 * and with dA = -A dK A, for L = sum_i |e_i|^2 / N, v_i = 2 e_i / (N A_ii), w_i = <v_i, e_i> and
 * h_i = <v_i, t_i> / (m - 1):
 *
 *   dL = sum_i <v_i, dc_i> - w_i dA_ii = <G, dK>,
 *   G = A W A - sym(A V B') - sym(A h u'),   sym(M) = (M + M') / 2,  W = diag(w).
 *
 * One G serves all parameters. Sundararajan and Keerthi 2001, Predictive approaches for choosing
 * hyperparameters in Gaussian processes, Neural Computation 13(5):1103-1118,
 * doi:10.1162/08997660151134343; Rasmussen and Williams 2006, section 5.4.2.
 *
 * Cost per rank: m^3 / ranks flops for A (factor, its inverse, their product), m^3 / ranks for
 * A W A, 8 m^2 p / ranks for the rest. Held: two matrices like K. Replicated: two vectors of m. */
#include "solvers/tune/loo_gradient.h"

#include <math.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_square.h"
#include "matrix/dmat_impl.h"

typedef struct work {
    dkm_ctx *ctx;
    const dkm_loo_targets *targets;
    dkm_idx m, p, q, first; /* q: right-hand sides with that of ones */
    dkm_multivec R, V;      /* [T 1] and then [B u], q columns; [v h] */
    double *diagonal, *w;   /* m each */
    dkm_dmat *B, *P;        /* [B u], and A [V h] */
} work;

static dkm_local work_open(work *s, const dkm_dmat *K, const dkm_loo_targets *targets)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_multivec *T = &targets->T;

    *s = (work){.ctx = T->ctx, .targets = targets, .m = K->m, .p = T->cols};
    s->q = s->p + (targets->center != 0);
    s->first = dkm_slab_first(s->m, dkm_ctx_rank(s->ctx), dkm_ctx_size(s->ctx));
    DKM_STEP(dkm_multivec_init(&s->R, s->ctx, s->m, s->q));
    DKM_STEP(dkm_multivec_init(&s->V, s->ctx, s->m, s->q));
    DKM_STEP(dkm_calloc(s->ctx, s->m, &s->diagonal));
    DKM_STEP(dkm_calloc(s->ctx, s->m, &s->w));
    s->R.cols = s->V.cols = s->q;
    for (dkm_idx k = 0; k < T->n * s->q; k++)
        s->R.a[k] = k % s->q < s->p ? T->a[k / s->q * T->ld + k % s->q] : 1.0;
out:
    return local;
}

static void work_close(work *s)
{
    dkm_dmat_destroy(&s->P);
    dkm_dmat_destroy(&s->B);
    DKM_FREE(s->w);
    DKM_FREE(s->diagonal);
    dkm_multivec_free(&s->V);
    dkm_multivec_free(&s->R);
}

/* diagonal <- that of A, on every rank. */
static void take_diagonal(work *s, const dkm_dmat *A)
{
    int p = dkm_grid_row(A->grid), P = dkm_grid_rows(A->grid);

    for (dkm_idx jl = 0; jl < A->n_loc; jl++) {
        dkm_idx ig = dkm_dmat_global_col(A, jl);
        if (dkm_cyclic_owner(ig, A->mb, P) == p)
            s->diagonal[ig] = dkm_dmat_at(A, dkm_cyclic_local(ig, A->mb, P), jl);
    }
    MPI_Allreduce(MPI_IN_PLACE, s->diagonal, (int)s->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
}

/* L L' = K, then B = A R in blocks and as rows, then A in place of L: lower triangle. */
static dkm_status solve_and_invert(work *s, dkm_dmat *L)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_dmat_create_like(L, s->q, L->nb, DKM_F64, &s->B));
    DKM_TRY(dkm_dmat_from_rows(s->B, s->R.a));
    dkm_la_trsm('N', L, s->B);
    dkm_la_trsm('T', L, s->B);
    DKM_TRY(dkm_dmat_to_rows(s->B, s->R.a));
    dkm_la_potri(L);
    take_diagonal(s, L);
out:
    return status;
}

/* Residuals of this rank's rows, and v, h and w of them. */
static double take_residuals(work *s)
{
    const dkm_multivec *T = &s->targets->T;
    double numbers = (double)s->m * (double)s->p, loss = 0;

    for (dkm_idx i = 0; i < T->n; i++) {
        const double *b = s->R.a + i * s->q, *t = T->a + i * T->ld;
        double *v = s->V.a + i * s->q, a = s->diagonal[s->first + i], h = 0, w = 0;
        for (dkm_idx j = 0; j < s->p; j++) {
            double c = s->q > s->p ? b[j] + t[j] * b[s->p] / (double)(s->m - 1) : b[j];
            double e = c / a;
            v[j] = 2.0 * e / (numbers * a);
            loss += e * e / numbers;
            w += v[j] * e;
            h += v[j] * t[j];
        }
        if (s->q > s->p)
            v[s->p] = h / (double)(s->m - 1);
        s->w[s->first + i] = w;
    }
    return loss;
}

/* G from A, both triangles of which are filled. */
static dkm_status assemble(work *s, const dkm_dmat *A, dkm_dmat *G)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL;

    DKM_TRY(dkm_dmat_create_like(A, s->q, A->nb, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create_like(A, s->q, A->nb, DKM_F64, &s->P));
    DKM_TRY(dkm_dmat_from_rows(V, s->V.a));
    dkm_la_gemm('N', 'N', 1.0, A, V, 0.0, s->P);
    DKM_TRY(dkm_la_symm_square(A, s->w, G));
    dkm_la_gemm('N', 'T', -0.5, s->P, s->B, 1.0, G);
    dkm_la_gemm('N', 'T', -0.5, s->B, s->P, 1.0, G);
out:
    dkm_dmat_destroy(&V);
    return status;
}

dkm_status dkm_loo_gradient(dkm_dmat *K, double gamma, const dkm_loo_targets *targets, double *loss,
                            dkm_dmat **G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = targets->T.ctx;
    dkm_dmat *made = NULL;
    dkm_idx info = 0;
    work s = {0};

    *G = NULL;
    *loss = INFINITY;
    dkm_phase_begin(ctx, "loo");
    DKM_AGREE(ctx, work_open(&s, K, targets));
    dkm_dmat_shift_diagonal(K, gamma);
    DKM_TRY(dkm_la_potrf(K, &info));
    if (info != 0)
        goto out;
    DKM_TRY(solve_and_invert(&s, K));
    *loss = take_residuals(&s);
    MPI_Allreduce(MPI_IN_PLACE, loss, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    if (targets->no_gradient || !isfinite(*loss))
        goto out;
    MPI_Allreduce(MPI_IN_PLACE, s.w, (int)s.m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    DKM_TRY(dkm_dmat_symmetrize('L', K));
    DKM_TRY(dkm_dmat_create_like(K, K->n, K->nb, DKM_F64, &made));
    DKM_TRY(assemble(&s, K, made));
    *G = made;
    made = NULL;
out:
    dkm_dmat_destroy(&made);
    work_close(&s);
    dkm_phase_end(ctx);
    return status;
}
