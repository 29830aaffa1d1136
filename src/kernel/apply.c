/* W = K V with K never stored. V is at hand on every rank, a bounded number of columns at a time,
 * in the order of the rank's own rows and columns of K, so that a tile meets consecutive parts of
 * it. A tile T of the lower triangle serves twice: W_I += T V_J, and W_J += T'V_I without the
 * diagonal. V and W are kept transposed, p numbers an object. */
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "kernel/gram.h"
#include "scalapack/blas.h"

#define COLUMN_BYTES (128 << 20) /* of V at a time, on every rank */

typedef struct product {
    dkm_visitor visitor;
    dkm_ctx *ctx;
    dkm_idx m, p;
    double *all;                               /* p x m: V, then W */
    double *V_rows, *V_cols, *W_rows, *W_cols; /* of the rank's own rows and columns */
    int *counts, *starts;
} product;

static void clear_diagonal(const dkm_dmat *shape, dkm_idx il, dkm_idx jl, const dkm_tile *C)
{
    for (dkm_idx j = 0; j < C->nb; j++) {
        dkm_idx jg = dkm_dmat_global_col(shape, jl + j);
        int P = dkm_grid_rows(shape->grid);
        dkm_idx i = dkm_cyclic_local(jg, shape->mb, P) - il;
        if (dkm_cyclic_owner(jg, shape->mb, P) == dkm_grid_row(shape->grid) && i >= 0 && i < C->na)
            dkm_tile_put(C, i, j, 0.0);
    }
}

static void use_tile(dkm_visitor *self, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                     const dkm_tile *C)
{
    product *w = (product *)self;
    dkm_idx p = w->p;

    dkm_blas_gemm(DKM_F64, 'N', 'T', p, C->na, C->nb, 1.0, w->V_cols + jl * p, p, C->c, C->ld, 1.0,
                  w->W_rows + il * p, p);
    clear_diagonal(shape, il, jl, C);
    dkm_blas_gemm(DKM_F64, 'N', 'N', p, C->nb, C->na, 1.0, w->V_rows + il * p, p, C->c, C->ld, 1.0,
                  w->W_cols + jl * p, p);
}

static dkm_local open_product(product *w, const dkm_dmat *shape, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;
    int size;

    *w = (product){.visitor = {use_tile}, .ctx = dkm_grid_ctx(shape->grid), .m = shape->m, .p = p};
    size = dkm_ctx_size(w->ctx);
    DKM_STEP(dkm_alloc(w->ctx, w->m * p, &w->all));
    DKM_STEP(dkm_alloc(w->ctx, shape->m_loc * p, &w->V_rows));
    DKM_STEP(dkm_alloc(w->ctx, shape->n_loc * p, &w->V_cols));
    DKM_STEP(dkm_calloc(w->ctx, shape->m_loc * p, &w->W_rows));
    DKM_STEP(dkm_calloc(w->ctx, shape->n_loc * p, &w->W_cols));
    DKM_STEP(dkm_alloc(w->ctx, size, &w->counts));
    DKM_STEP(dkm_alloc(w->ctx, size, &w->starts));
    for (int r = 0; r < size; r++) {
        w->counts[r] = (int)(dkm_slab_count(w->m, r, size) * p);
        w->starts[r] = (int)(dkm_slab_first(w->m, r, size) * p);
    }
out:
    return local;
}

static void close_product(product *w)
{
    DKM_FREE(w->all);
    DKM_FREE(w->V_rows);
    DKM_FREE(w->V_cols);
    DKM_FREE(w->W_rows);
    DKM_FREE(w->W_cols);
    DKM_FREE(w->counts);
    DKM_FREE(w->starts);
}

/* Columns [c, c + p) of rows of width d to and from this rank's part of w->all. */
static void copy_columns(product *w, double *rows, dkm_idx d, dkm_idx c, int into)
{
    int rank = dkm_ctx_rank(w->ctx);
    double *mine = w->all + w->starts[rank];
    size_t bytes = (size_t)w->p * sizeof *mine;

    for (dkm_idx i = 0; i < w->counts[rank] / w->p; i++)
        memcpy(into ? mine + i * w->p : rows + i * d + c, into ? rows + i * d + c : mine + i * w->p,
               bytes);
}

static void spread(product *w, const dkm_dmat *shape)
{
    size_t bytes = (size_t)w->p * sizeof *w->all;

    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, w->all, w->counts, w->starts, MPI_DOUBLE,
                   dkm_ctx_comm(w->ctx));
    for (dkm_idx il = 0; il < shape->m_loc; il++)
        memcpy(w->V_rows + il * w->p, w->all + dkm_dmat_global_row(shape, il) * w->p, bytes);
    for (dkm_idx jl = 0; jl < shape->n_loc; jl++)
        memcpy(w->V_cols + jl * w->p, w->all + dkm_dmat_global_col(shape, jl) * w->p, bytes);
}

static void add_up(product *w, const dkm_dmat *shape)
{
    dkm_idx p = w->p;

    memset(w->all, 0, (size_t)(w->m * p) * sizeof *w->all);
    for (dkm_idx il = 0; il < shape->m_loc; il++)
        for (dkm_idx k = 0; k < p; k++)
            w->all[dkm_dmat_global_row(shape, il) * p + k] += w->W_rows[il * p + k];
    for (dkm_idx jl = 0; jl < shape->n_loc; jl++)
        for (dkm_idx k = 0; k < p; k++)
            w->all[dkm_dmat_global_col(shape, jl) * p + k] += w->W_cols[jl * p + k];
    MPI_Allreduce(MPI_IN_PLACE, w->all, (int)(w->m * p), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(w->ctx));
}

/* Columns [c, c + p) of the product; rows hold V on entry, in those columns W on return. */
static dkm_status multiply_columns(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb, dkm_idx p,
                                   double *rows, dkm_idx d, dkm_idx c)
{
    dkm_status status = DKM_OK;
    product w = {0};
    dkm_dmat *shape = NULL;

    DKM_TRY(dkm_dmat_create_shape(grid, X->X->m, X->X->m, nb, nb, DKM_F64, &shape));
    DKM_AGREE(X->ctx, open_product(&w, shape, p));
    copy_columns(&w, rows, d, c, 1);
    spread(&w, shape);
    DKM_TRY(dkm_gram_visit(grid, X, nb, DKM_F64, &w.visitor));
    add_up(&w, shape);
    copy_columns(&w, rows, d, c, 0);
out:
    close_product(&w);
    dkm_dmat_destroy(&shape);
    return status;
}

dkm_status dkm_gram_apply(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb, dkm_idx d,
                          double *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx m = X->X->m, each = COLUMN_BYTES / ((m > 0 ? m : 1) * (dkm_idx)sizeof(double));

    each = each < 1 ? 1 : each;
    for (dkm_idx c = 0; c < d; c += each)
        DKM_TRY(multiply_columns(grid, X, nb, c + each < d ? each : d - c, rows, d, c));
out:
    return status;
}
