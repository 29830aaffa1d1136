#include "linalg/linalg.h"

#include <assert.h>

#include "linalg/backend/blacs.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "linalg/backend/pblas.h"
#include "matrix/dmat_impl.h"

#define REAL        double
#define PB(name)    pd##name##_
#define NAMED(name) double_##name
#define LOCAL(A)    ((A)->a.f64)
#include "linalg/backend/pblas.inc"
#undef REAL
#undef PB
#undef NAMED
#undef LOCAL

#define REAL        float
#define PB(name)    ps##name##_
#define NAMED(name) single_##name
#define LOCAL(A)    ((A)->a.f32)
#include "linalg/backend/pblas.inc"
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

void dkm_la_lacpy_cols(const dkm_dmat *A, dkm_idx first, dkm_dmat *B)
{
    assert(A->m == B->m && first >= 0 && first + B->n <= A->n);
    dkm_la_lacpy(A, (dkm_place){0, first}, B, (dkm_place){0, 0}, B->m, B->n);
}

void dkm_la_lacpy(const dkm_dmat *A, dkm_place from, dkm_dmat *B, dkm_place to, dkm_idx m,
                  dkm_idx n)
{
    assert(from.i >= 0 && from.i + m <= A->m && from.j >= 0 && from.j + n <= A->n);
    assert(to.i >= 0 && to.i + m <= B->m && to.j >= 0 && to.j + n <= B->n);
    if (m > 0 && n > 0)
        ON_GRID(A, copy, A, from, B, to, m, n);
}

void dkm_la_trsm(char trans, const dkm_dmat *L, dkm_dmat *B)
{
    assert(L->m == L->n && L->n == B->m);
    if (B->m > 0 && B->n > 0)
        ON_GRID(B, lower_solve, trans, L, B);
}

void dkm_la_trsm_right(const dkm_dmat *L, dkm_dmat *B)
{
    assert(L->m == L->n && L->n == B->n && B->nb == L->nb);
    if (B->m > 0 && B->n > 0)
        ON_GRID(B, right_solve, L, B);
}

void dkm_la_trtri(dkm_dmat *L)
{
    double n = (double)L->n;

    assert(L->m == L->n && L->mb == L->nb);
    if (L->n > 0)
        ON_GRID(L, invert, L);
    dkm_phase_flops(dkm_grid_ctx(L->grid), n * n * n / 3.0 / dkm_ctx_size(dkm_grid_ctx(L->grid)));
}

void dkm_la_lauum(dkm_dmat *L)
{
    double n = (double)L->n;

    assert(L->m == L->n && L->mb == L->nb);
    if (L->n > 0)
        ON_GRID(L, square, L);
    dkm_phase_flops(dkm_grid_ctx(L->grid), n * n * n / 3.0 / dkm_ctx_size(dkm_grid_ctx(L->grid)));
}

/* Where one rank has all of it, by the library's own recursion. */
void dkm_la_potri(dkm_dmat *L)
{
    double n = (double)L->n;

    if (L->precision != DKM_F64 || dkm_grid_rows(L->grid) * dkm_grid_cols(L->grid) > 1) {
        dkm_la_trtri(L);
        dkm_la_lauum(L);
        return;
    }
    if (L->n > 0 && dkm_in_grid(L->grid)) {
        dkm_blas_use_threads(dkm_grid_ctx(L->grid));
        dkm_blas_potri(L->n, L->a.f64, L->ld);
    }
    dkm_phase_flops(dkm_grid_ctx(L->grid),
                    2.0 * n * n * n / 3.0 / dkm_ctx_size(dkm_grid_ctx(L->grid)));
}

int dkm_pblas_potrf(dkm_dmat *A, dkm_idx k, dkm_idx w)
{
    (void)dkm_blacs_context(A->grid);
    if (!dkm_in_grid(A->grid))
        return 0;
    return A->precision == DKM_F64 ? double_factor(A, k, w) : single_factor(A, k, w);
}

void dkm_pblas_eliminate(dkm_dmat *A, dkm_idx k, dkm_idx w)
{
    if (k + w < A->n)
        ON_GRID(A, eliminate, A, k, w);
}
