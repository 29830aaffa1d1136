/* Normal equations of a data matrix: X'X and X'T, dense or sparse rows.
 *
 * Each rank multiplies its own rows; panels of bounded size are summed over the ranks. Cost per
 * rank: m d^2 / ranks flops for dense rows; for sparse rows, the number of pairs of entries in a
 * row, summed over the rows; d^2 / 2 words of X'X sent to their owners, in panels of at most 32
 * MiB of which each rank holds one (matrix/reduce_panel.h). */
#include "solvers/operators/normal_equations.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"
#include "data/objects.h"
#include "io/checkpoint/checkpointer.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"
#include "matrix/reduce_panel.h"

#define PANEL_BYTES (32 << 20)
#define PANEL_COLS  256 /* at most, so that little is done above the diagonal */

/* P = X(:, c..)' X(:, c..c + w) of this rank's rows, (d - c) x w, column-major. */
static void normal_syrk_local(const dkm_objs *X, dkm_idx c, dkm_idx w, double *P)
{
    dkm_idx d = X->d, rows = d - c;

    if (X->values) {
        dkm_blas_gemm(DKM_F64, 'N', 'T', rows, w, X->n, 1.0, X->values + c, d, X->values + c, d,
                      0.0, P, rows);
        dkm_phase_flops(X->ctx, 2.0 * (double)rows * (double)w * (double)X->n);
        return;
    }
    memset(P, 0, (size_t)(rows * w) * sizeof *P);
    for (dkm_idx i = 0; i < X->n; i++)
        for (dkm_idx b = X->start[i]; b < X->start[i + 1]; b++) {
            dkm_idx j = X->col[b] - c;
            if (j < 0 || j >= w)
                continue;
            for (dkm_idx a = X->start[i]; a < X->start[i + 1]; a++)
                if (X->col[a] >= c)
                    P[X->col[a] - c + j * rows] += X->val[a] * X->val[b];
        }
}

/* A panel of (d - c) x w numbers. */
typedef struct normal_panel {
    const double *P;
    dkm_idx c, rows;
} normal_panel;

static const double *normal_panel_column(const void *user, dkm_idx jg, dkm_idx *stride)
{
    const normal_panel *panel = user;

    *stride = 1;
    return panel->P + (jg - panel->c) * panel->rows;
}

dkm_status dkm_normal_equations_matrix(dkm_grid *grid, const dkm_data *X, dkm_idx nb, dkm_dmat **C)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    dkm_idx d = X->mine.d;
    dkm_idx each =
        dkm_idx_clamp((double)PANEL_BYTES / (8.0 * (double)dkm_idx_max(d, 1)), PANEL_COLS);
    dkm_dmat *S = NULL;
    double *P = NULL;
    normal_panel panel;
    dkm_panel_sum sum;

    *C = NULL;
    dkm_phase_begin(ctx, "moments");
    DKM_TRY(dkm_dmat_create(grid, d, d, nb, nb, DKM_F64, &S));
    DKM_AGREE(ctx, dkm_alloc(ctx, each * d, &P));
    dkm_blas_use_threads(ctx);
    for (dkm_idx c = 0; c < d; c += each) {
        dkm_idx w = c + each < d ? each : d - c;
        normal_syrk_local(&X->mine, c, w, P);
        panel = (normal_panel){P, c, d - c};
        sum = (dkm_panel_sum){.row = c,
                              .col = c,
                              .cols = w,
                              .lower = 1,
                              .column = normal_panel_column,
                              .user = &panel};
        DKM_TRY(dkm_dmat_reduce_panel(S, &sum));
        dkm_progress(ctx, (double)(c + w), (double)d);
    }
    *C = S;
    S = NULL;
out:
    dkm_phase_end(ctx);
    DKM_FREE(P);
    dkm_dmat_destroy(&S);
    return status;
}

/* P = X'T(:, c..c + w) of this rank's rows, d x w, row-major. */
static void normal_gemm_local(const dkm_objs *X, const dkm_multivec *T, dkm_idx c, dkm_idx w,
                              double *P)
{
    if (X->values) {
        dkm_blas_gemm(DKM_F64, 'N', 'T', w, X->d, X->n, 1.0, T->a + c, T->ld, X->values, X->d, 0.0,
                      P, w);
        return;
    }
    memset(P, 0, (size_t)(X->d * w) * sizeof *P);
    for (dkm_idx i = 0; i < X->n; i++)
        for (dkm_idx a = X->start[i]; a < X->start[i + 1]; a++)
            for (dkm_idx j = 0; j < w; j++)
                P[X->col[a] * w + j] += X->val[a] * T->a[i * T->ld + c + j];
}

static dkm_local normal_alloc(dkm_ctx *ctx, dkm_idx all, dkm_idx mine, double **P, double **own,
                              int **counts)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, all, P));
    DKM_STEP(dkm_alloc(ctx, mine, own));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), counts));
out:
    return local;
}

dkm_status dkm_normal_equations_rhs(const dkm_data *X, const dkm_multivec *T, dkm_multivec *R)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = X->ctx;
    dkm_idx d = X->mine.d,
            each = dkm_idx_clamp((double)PANEL_BYTES / (8.0 * (double)dkm_idx_max(d, 1)), T->cols);
    double *P = NULL, *own = NULL;
    int *counts = NULL;

    R->cols = T->cols;
    DKM_AGREE(ctx, normal_alloc(ctx, d * each, R->n * each, &P, &own, &counts));
    for (dkm_idx c = 0; c < T->cols; c += each) {
        dkm_idx w = c + each < T->cols ? each : T->cols - c;
        normal_gemm_local(&X->mine, T, c, w, P);
        for (int r = 0; r < dkm_ctx_size(ctx); r++)
            counts[r] = (int)(dkm_slab_count(d, r, dkm_ctx_size(ctx)) * w);
        MPI_Reduce_scatter(P, own, counts, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
        for (dkm_idx i = 0; i < R->n; i++)
            memcpy(R->a + i * R->ld + c, own + i * w, (size_t)w * sizeof *own);
    }
out:
    DKM_FREE(counts);
    DKM_FREE(own);
    DKM_FREE(P);
    return status;
}

void dkm_normal_equations_rows(const dkm_data *X, dkm_idx first, dkm_idx count, dkm_idx d,
                               double *rows)
{
    const dkm_objs *o = &X->mine;
    dkm_idx width = o->d < d ? o->d : d;

    memset(rows, 0, (size_t)(count * d) * sizeof *rows);
    for (dkm_idx i = 0; i < count && first + i < o->n; i++) {
        double *row = rows + i * d;
        if (o->values) {
            memcpy(row, o->values + (first + i) * o->d, (size_t)width * sizeof *row);
            continue;
        }
        for (dkm_idx a = o->start[first + i]; a < o->start[first + i + 1]; a++)
            if (o->col[a] < d)
                row[o->col[a]] = o->val[a];
    }
}
