/* Back-transformation of the one-stage reduction: Z <- Q Z with Q the product of the reflectors
 * I - tau v v' that dkm_la_sytrd() left in A, b = WIDTH of them at a time as I - V T V' (compact WY;
 * Schreiber and Van Loan 1989, SIAM J. Sci. Stat. Comput. 10(1):53-57, doi:10.1137/0910005; LAPACK
 * dormtr, ScaLAPACK pdormtr). T comes from V'V, one column after the other,
 *
 *     T(0:i, i) = -tau_i T(0:i, 0:i) (V'V)(0:i, i),   T(i, i) = tau_i.
 *
 * Z stays where it is. Cost per rank on P x Q ranks: 2 n^3 / ranks flops in products; n / b times a sum
 * of V along the grid row, n b / P words, and one of V'V and V'Z along the grid column, b^2 + n b / Q:
 * n^2 (1/(2 P) + 1/Q) words in all. Held: b numbers for each local row and column, and 2 b^2. */
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "linalg/eigen/sytrd.h"
#include "matrix/dmat_impl.h"

#define WIDTH 256

typedef struct ormtr {
    const dkm_dmat *A;
    const dkm_tridiagonal *t;
    dkm_dmat *Z;
    dkm_idx k, w;      /* reflectors [k, k + w) */
    dkm_idx row, rows; /* local rows from k + 1 on */
    double *V;         /* rows x w */
    double *products;  /* w x w of V'V, and behind it w x n_loc of V'Z */
    double *T;         /* WIDTH x WIDTH */
} ormtr;

static dkm_local ormtr_open(ormtr *o, const dkm_dmat *A, const dkm_tridiagonal *t, dkm_dmat *Z)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);

    *o = (ormtr){.A = A, .t = t, .Z = Z};
    DKM_STEP(dkm_alloc(ctx, A->m_loc * WIDTH, &o->V));
    DKM_STEP(dkm_alloc(ctx, (WIDTH + A->n_loc) * WIDTH, &o->products));
    DKM_STEP(dkm_alloc(ctx, (dkm_idx)WIDTH * WIDTH, &o->T));
out:
    return local;
}

static void ormtr_close(ormtr *o)
{
    DKM_FREE(o->T);
    DKM_FREE(o->products);
    DKM_FREE(o->V);
}

/* V in the local rows, from the ranks of the grid row. */
static void ormtr_gather_vectors(ormtr *o)
{
    const dkm_dmat *A = o->A;
    int p = dkm_grid_row(A->grid), P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);

    o->row = dkm_cyclic_count(o->k + 1, A->mb, p, P);
    o->rows = A->m_loc - o->row;
    memset(o->V, 0, (size_t)(o->rows * o->w) * sizeof *o->V);
    for (dkm_idx j = 0; j < o->w; j++) {
        dkm_idx jl = dkm_cyclic_local(o->k + j, A->nb, Q);
        dkm_idx first = dkm_cyclic_count(o->k + j + 1, A->mb, p, P);
        if (dkm_cyclic_owner(o->k + j, A->nb, Q) == dkm_grid_col(A->grid))
            memcpy(o->V + first - o->row + j * o->rows, A->a.f64 + first + jl * A->ld,
                   (size_t)(A->m_loc - first) * sizeof *o->V);
    }
    dkm_mpi_allreduce(o->V, o->rows * o->w, MPI_DOUBLE, MPI_SUM, dkm_grid_row_comm(A->grid));
}

/* T from the upper triangle of V'V. */
static void ormtr_form_t(ormtr *o, const double *VV)
{
    const double *tau = o->t->tau + o->k;

    for (dkm_idx i = 0; i < o->w; i++) {
        double *column = o->T + i * WIDTH;
        memset(column, 0, WIDTH * sizeof *column);
        for (dkm_idx l = 0; l < i; l++)
            for (dkm_idx r = 0; r <= l; r++)
                column[r] -= tau[i] * VV[l + i * o->w] * o->T[r + l * WIDTH];
        column[i] = tau[i];
    }
}

/* Z <- (I - V T V') Z, in rows from k + 1 on. */
static void ormtr_apply(ormtr *o)
{
    const int w = (int)o->w, cols = (int)o->A->n_loc, ldt = WIDTH;
    const double one = 1.0;
    dkm_idx rows = o->rows, n_loc = o->A->n_loc, squares = o->w * o->w;
    double *z = o->Z->a.f64 + o->row, *VZ = o->products + squares;

    dkm_blas_gemm(DKM_F64, 'T', 'N', o->w, o->w, rows, 1.0, o->V, dkm_idx_max(rows, 1), o->V,
                  dkm_idx_max(rows, 1), 0.0, o->products, o->w);
    dkm_blas_gemm(DKM_F64, 'T', 'N', o->w, n_loc, rows, 1.0, o->V, dkm_idx_max(rows, 1), z,
                  o->Z->ld, 0.0, VZ, o->w);
    dkm_mpi_allreduce(o->products, squares + o->w * n_loc, MPI_DOUBLE, MPI_SUM,
                      dkm_grid_col_comm(o->A->grid));
    ormtr_form_t(o, o->products);
    if (cols > 0)
        dtrmm_("L", "U", "N", "N", &w, &cols, &one, o->T, &ldt, VZ, &w);
    dkm_blas_gemm(DKM_F64, 'N', 'N', rows, n_loc, o->w, -1.0, o->V, dkm_idx_max(rows, 1), VZ, o->w,
                  1.0, z, o->Z->ld);
}

dkm_status dkm_la_ormtr(const dkm_dmat *A, const dkm_tridiagonal *t, dkm_dmat *Z)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    ormtr o = {0};

    DKM_AGREE(ctx, ormtr_open(&o, A, t, Z));
    for (dkm_idx k = (A->n - 2) / WIDTH * WIDTH; k >= 0 && A->n > 1 && dkm_grid_row(A->grid) >= 0;
         k -= WIDTH) {
        o.k = k;
        o.w = dkm_idx_min(WIDTH, A->n - 1 - k);
        ormtr_gather_vectors(&o);
        ormtr_apply(&o);
    }
out:
    ormtr_close(&o);
    return status;
}
