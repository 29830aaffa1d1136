#include "scalapack/linalg.h"

#include <assert.h>

#include "dmat/dmat_impl.h"
#include "scalapack/blacs.h"
#include "scalapack/fortran.h"

#define REAL        double
#define PB(name)    pd##name##_
#define NAMED(name) double_##name
#define LOCAL(A)    ((A)->a.f64)
#include "scalapack/pblas.inc"
#undef REAL
#undef PB
#undef NAMED
#undef LOCAL

#define REAL        float
#define PB(name)    ps##name##_
#define NAMED(name) single_##name
#define LOCAL(A)    ((A)->a.f32)
#include "scalapack/pblas.inc"
#undef REAL
#undef PB
#undef NAMED
#undef LOCAL

/* Run the wrapper of the right precision; ranks outside the grid only join the making of it. */
#define ON_GRID(A, name, ...)                                                                      \
    do {                                                                                           \
        (void)dkm_blacs_context((A)->grid);                                                        \
        if (!dkm_in_grid((A)->grid))                                                               \
            break;                                                                                 \
        if ((A)->precision == DKM_F64)                                                             \
            double_##name(__VA_ARGS__);                                                            \
        else                                                                                       \
            single_##name(__VA_ARGS__);                                                            \
    } while (0)

/* Columns eliminated at a time: wide enough for gemm to run at speed, narrow enough that progress
 * is told now and then. */
#define STRIP 1024

void dkm_la_gemm(char ta, char tb, double alpha, const dkm_dmat *A, const dkm_dmat *B, double beta,
                 dkm_dmat *C)
{
    assert((ta == 'N' ? A->m : A->n) == C->m && (tb == 'N' ? B->n : B->m) == C->n);
    assert((ta == 'N' ? A->n : A->m) == (tb == 'N' ? B->m : B->n));
    if (C->m > 0 && C->n > 0)
        ON_GRID(C, gemm, ta, tb, alpha, A, B, beta, C);
}

void dkm_la_symm(char uplo, double alpha, const dkm_dmat *A, const dkm_dmat *B, double beta,
                 dkm_dmat *C)
{
    assert(A->m == A->n && A->n == B->m && B->m == C->m && B->n == C->n);
    if (C->m > 0 && C->n > 0)
        ON_GRID(C, symm, uplo, alpha, A, B, beta, C);
}

void dkm_la_syrk(char trans, double alpha, const dkm_dmat *A, double beta, dkm_dmat *C)
{
    assert(C->m == C->n && (trans == 'N' ? A->m : A->n) == C->m);
    if (C->m > 0)
        ON_GRID(C, syrk, trans, alpha, A, beta, C);
}

void dkm_la_transpose(const dkm_dmat *A, dkm_dmat *B)
{
    assert(A->m == B->n && A->n == B->m);
    if (A->m > 0 && A->n > 0)
        ON_GRID(A, tran, A, 0, 0, B, 0, 0, A->m, A->n);
}

void dkm_la_columns(const dkm_dmat *A, dkm_idx first, dkm_dmat *B)
{
    assert(A->m == B->m && first >= 0 && first + B->n <= A->n);
    if (B->m > 0 && B->n > 0)
        ON_GRID(A, columns, A, first, B);
}

/* The diagonal block that starts at global place jg lies whole on one process. */
static void mirror_diagonal_block(char from, dkm_dmat *A, dkm_idx jg)
{
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);
    dkm_idx width = jg + A->nb < A->n ? A->nb : A->n - jg;
    dkm_idx i0 = dkm_cyclic_local(jg, A->mb, P), j0 = dkm_cyclic_local(jg, A->nb, Q);

    if (dkm_cyclic_owner(jg, A->mb, P) != dkm_grid_row(A->grid) ||
        dkm_cyclic_owner(jg, A->nb, Q) != dkm_grid_col(A->grid))
        return;
    for (dkm_idx j = 0; j < width; j++)
        for (dkm_idx i = j + 1; i < width; i++) {
            if (from == 'L')
                dkm_dmat_put(A, i0 + j, j0 + i, dkm_dmat_at(A, i0 + i, j0 + j));
            else
                dkm_dmat_put(A, i0 + i, j0 + j, dkm_dmat_at(A, i0 + j, j0 + i));
        }
}

void dkm_la_mirror(char from, dkm_dmat *A)
{
    assert(A->m == A->n && A->mb == A->nb);
    for (dkm_idx jg = 0; jg < A->n; jg += A->nb) {
        dkm_idx next = jg + A->nb, width = A->nb;
        mirror_diagonal_block(from, A, jg);
        if (next >= A->n)
            continue;
        if (from == 'L')
            ON_GRID(A, tran, A, next, jg, A, jg, next, A->n - next, width);
        else
            ON_GRID(A, tran, A, jg, next, A, next, jg, width, A->n - next);
    }
}

static int factor_strip(dkm_dmat *A, dkm_idx at, dkm_idx width)
{
    (void)dkm_blacs_context(A->grid);
    if (!dkm_in_grid(A->grid))
        return 0;
    return A->precision == DKM_F64 ? double_potrf(A, at, width) : single_potrf(A, at, width);
}

void dkm_la_cholesky(dkm_dmat *A, dkm_idx *minor)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_idx strip = (STRIP + A->nb - 1) / A->nb * A->nb;
    double n = (double)A->n;

    assert(A->m == A->n && A->mb == A->nb);
    *minor = 0;
    for (dkm_idx at = 0; at < A->n; at += strip) {
        dkm_idx width = at + strip < A->n ? strip : A->n - at;
        int info = factor_strip(A, at, width);
        double left = n - (double)at - (double)width;
        MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
        if (info != 0) {
            *minor = at + info;
            return;
        }
        if (at + width < A->n)
            ON_GRID(A, eliminate, A, at, width);
        dkm_progress(ctx, 1.0 - left * left * left / (n * n * n), 1.0);
    }
    dkm_phase_flops(ctx, n * n * n / 3.0 / dkm_ctx_size(ctx));
}

void dkm_la_lower_solve(char trans, const dkm_dmat *L, dkm_dmat *B)
{
    assert(L->m == L->n && L->n == B->m);
    if (B->m > 0 && B->n > 0)
        ON_GRID(B, lower_solve, trans, L, B);
}

void dkm_la_lower_solve_right(const dkm_dmat *L, dkm_dmat *B)
{
    assert(L->m == L->n && L->n == B->n && B->nb == L->nb);
    if (B->m > 0 && B->n > 0)
        ON_GRID(B, right_solve, L, B);
}

void dkm_la_lower_invert(dkm_dmat *L)
{
    double n = (double)L->n;

    assert(L->m == L->n && L->mb == L->nb);
    if (L->n > 0)
        ON_GRID(L, invert, L);
    dkm_phase_flops(dkm_grid_ctx(L->grid), n * n * n / 3.0 / dkm_ctx_size(dkm_grid_ctx(L->grid)));
}

void dkm_la_lower_square(dkm_dmat *L)
{
    double n = (double)L->n;

    assert(L->m == L->n && L->mb == L->nb);
    if (L->n > 0)
        ON_GRID(L, square, L);
    dkm_phase_flops(dkm_grid_ctx(L->grid), n * n * n / 3.0 / dkm_ctx_size(dkm_grid_ctx(L->grid)));
}
