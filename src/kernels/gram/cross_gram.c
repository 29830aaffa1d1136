/* K = k(A, B) between new objects A and training objects B, as a matrix; and K V tile by tile, with K
 * never stored.
 *
 * K V is the stationary-A product of Schatz, van de Geijn and Poulson 2016 (SIAM J. Sci. Comput.
 * 38(6):C748-C781, doi:10.1137/140993478), as linalg/symm: the rows of V for a rank's columns of K are
 * allgathered within the grid column, sums reduce-scattered within the grid row. Cost per rank on R x C
 * ranks, for n new objects and p columns: n m / (R C) kernel values and 2 n m p / (R C) flops. Words sent:
 * m p / C + n p / R within lines, and (m + n) p / (R C) between slabs and grid, in 2 (R + C) messages and
 * those between slabs and grid. Held: m p / C + n p / R numbers, padded, and as many again on the way. */
#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/gram/gram.h"
#include "linalg/kernels/parallel_products.h"
#include "matrix/dmat_impl.h"
#include "matrix/multivec_map.h"

struct dkm_cross_gram {
    dkm_grid *grid;
    const dkm_prepared *B;
    dkm_idx nb;
    dkm_precision precision;
    dkm_panel cols; /* all objects of this rank's columns; empty where that is too much */
};

dkm_status dkm_cross_gram_create(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *B,
                                 dkm_idx nb, dkm_precision precision, dkm_cross_gram **cross)
{
    dkm_status status = DKM_OK;
    dkm_cross_gram *made = NULL;
    dkm_dmat *shape = NULL;

    *cross = NULL;
    DKM_AGREE(B->ctx, dkm_gram_check(kernel, B));
    DKM_AGREE(B->ctx, dkm_calloc(B->ctx, 1, &made));
    *made = (dkm_cross_gram){.grid = grid, .B = B, .nb = nb, .precision = precision};
    DKM_TRY(dkm_dmat_create_shape(grid, 0, B->X->m, nb, nb, precision, &shape));
    DKM_TRY(dkm_gram_cache_columns(B, shape, &made->cols));
    *cross = made;
    made = NULL;
out:
    dkm_dmat_destroy(&shape);
    dkm_cross_gram_destroy(&made);
    return status;
}

dkm_status dkm_cross_gram_eval(dkm_cross_gram *cross, const dkm_prepared *A, dkm_idx mb,
                               dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    *K = NULL;
    DKM_AGREE(A->ctx, dkm_prepared_match(A, cross->B));
    DKM_TRY(
        dkm_dmat_create(cross->grid, A->X->m, cross->B->X->m, mb, cross->nb, cross->precision, &G));
    DKM_TRY(dkm_gram_fill(A, cross->B, 0, G, NULL, cross->cols.of ? &cross->cols : NULL));
    *K = G;
    G = NULL;
out:
    dkm_dmat_destroy(&G);
    return status;
}

void dkm_cross_gram_destroy(dkm_cross_gram **cross)
{
    if (!*cross)
        return;
    dkm_panel_close(&(*cross)->cols);
    DKM_FREE(*cross);
}

dkm_status dkm_gram_cross(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *A,
                          const dkm_prepared *B, dkm_idx mb, dkm_idx nb, dkm_precision precision,
                          dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    *K = NULL;
    DKM_AGREE(A->ctx, dkm_gram_check(kernel, A));
    DKM_AGREE(A->ctx, dkm_prepared_match(A, B));
    DKM_TRY(dkm_dmat_create(grid, A->X->m, B->X->m, mb, nb, precision, &G));
    DKM_TRY(dkm_gram_fill(A, B, 0, G, NULL, NULL));
    *K = G;
    G = NULL;
out:
    dkm_dmat_destroy(&G);
    return status;
}

/* A product with tiles as they come. V and W have @p pad numbers per row. */
typedef struct cross_product {
    dkm_visitor visitor;
    dkm_multivec_map rows, cols;
    dkm_idx p, pad;
    double *V, *W, *local;
} cross_product;

static dkm_local cross_product_open(cross_product *c, const dkm_dmat *shape, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(shape->grid);

    c->p = p;
    c->pad = dkm_ts_nrhs_pad(p);
    DKM_STEP(dkm_multivec_map_init(&c->rows, shape, 'R', p));
    DKM_STEP(dkm_multivec_map_init(&c->cols, shape, 'C', p));
    DKM_STEP(dkm_alloc(ctx, dkm_idx_max(shape->m_loc, shape->n_loc) * p, &c->local));
    DKM_STEP(dkm_calloc(ctx, shape->n_loc * c->pad, &c->V));
    DKM_STEP(dkm_calloc(ctx, shape->m_loc * c->pad, &c->W));
out:
    return local;
}

static void cross_product_close(cross_product *c)
{
    DKM_FREE(c->W);
    DKM_FREE(c->V);
    DKM_FREE(c->local);
    dkm_multivec_map_free(&c->cols);
    dkm_multivec_map_free(&c->rows);
}

/* W_I <- W_I + K_IJ V_J */
static void cross_product_visit(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                                const dkm_tile *C)
{
    cross_product *c = (cross_product *)visitor;
    dkm_ts_tile t = {C->precision, C->na, C->nb, C->ld, C->c};

    dkm_ts_gemm_n_parallel(dkm_ctx_threads(dkm_grid_ctx(shape->grid)), &t, c->pad,
                           c->V + jl * c->pad, c->W + il * c->pad);
}

static void copy_columns(dkm_idx rows, dkm_idx p, const double *from, dkm_idx ld_from, double *to,
                         dkm_idx ld_to)
{
    for (dkm_idx i = 0; i < rows; i++)
        for (dkm_idx j = 0; j < p; j++)
            to[i * ld_to + j] = from[i * ld_from + j];
}

/* W <- k(A, B) V, with the panel of all columns or (NULL) without. */
static dkm_status cross_multiply(dkm_dmat *shape, const dkm_prepared *A, const dkm_prepared *B,
                                 dkm_panel *cached, const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    cross_product c = {.visitor = {.visit = cross_product_visit}};

    DKM_AGREE(A->ctx, cross_product_open(&c, shape, V->cols));
    dkm_multivec_map_to_homes(&c.cols, V->a, V->ld, dkm_multivec_map_home(&c.cols, c.local));
    dkm_multivec_map_allgather(&c.cols, c.local);
    copy_columns(c.cols.local, c.p, c.local, c.p, c.V, c.pad);
    DKM_TRY(dkm_gram_fill(A, B, 0, shape, &c.visitor, cached));
    copy_columns(c.rows.local, c.p, c.W, c.pad, c.local, c.p);
    dkm_multivec_map_reduce_scatter(&c.rows, c.local);
    W->cols = c.p;
    dkm_multivec_map_from_homes(&c.rows, dkm_multivec_map_home(&c.rows, c.local), 0, W->a, W->ld);
out:
    cross_product_close(&c);
    return status;
}

dkm_status dkm_gram_cross_multiply(dkm_grid *grid, const dkm_prepared *A, const dkm_prepared *B,
                                   dkm_idx nb, const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_dmat *shape = NULL;

    DKM_AGREE(A->ctx, dkm_prepared_match(A, B));
    DKM_TRY(dkm_dmat_create_shape(grid, A->X->m, B->X->m, nb, nb, DKM_F64, &shape));
    DKM_TRY(cross_multiply(shape, A, B, NULL, V, W));
out:
    dkm_dmat_destroy(&shape);
    return status;
}

dkm_status dkm_cross_gram_multiply(dkm_cross_gram *cross, const dkm_prepared *A, dkm_idx mb,
                                   const dkm_multivec *V, dkm_multivec *W)
{
    dkm_status status = DKM_OK;
    dkm_dmat *shape = NULL;

    DKM_AGREE(A->ctx, dkm_prepared_match(A, cross->B));
    DKM_REQUIRE(A->ctx, cross->precision == DKM_F64, DKM_ERR_ARG,
                "products with kernel rows are in double precision");
    DKM_TRY(dkm_dmat_create_shape(cross->grid, A->X->m, cross->B->X->m, mb, cross->nb, DKM_F64,
                                  &shape));
    DKM_TRY(cross_multiply(shape, A, cross->B, cross->cols.of ? &cross->cols : NULL, V, W));
out:
    dkm_dmat_destroy(&shape);
    return status;
}
