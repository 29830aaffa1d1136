/* The tiles of a Gram matrix, into the local arrays of a distributed matrix or to a visitor.
 *
 * A panel of the objects of a rank's columns is cached while those of its rows stream by. A rank
 * that needs nothing of a panel asks for nothing.
 *
 * Rows too wide for such panels come a window of columns at a time, and inner products add up in a
 * block of the matrix: what a rank holds beside its share of the objects is bounded. */
#include "core/minmax.h"
#include "kernels/evaluation/tile_parallel.h"
#include "kernels/gram/assembly.h"
#include "kernels/vector/vectors.h"

/* The first local row that is not above local column jl. */
static dkm_idx gram_fill_first_row(const dkm_assembly *s, dkm_idx jl)
{
    if (!s->lower)
        return 0;
    return dkm_cyclic_count(dkm_dmat_global_col(s->K, jl), dkm_dmat_row_block(s->K), s->p, s->P);
}

static dkm_status fill_cols(dkm_assembly *s, dkm_idx c0)
{
    dkm_idx end = dkm_idx_min(c0 + s->cols_each, dkm_dmat_local_cols(s->K)), n = 0;

    s->c0 = c0;
    if (s->cols != &s->own)
        return DKM_OK;
    for (dkm_idx jl = c0; jl < end; jl++)
        s->indices[n++] = dkm_dmat_global_col(s->K, jl);
    return dkm_panel_fill(s->cols, n, s->indices);
}

/* Bring those objects of the rows from r0 on that some tile needs. */
static dkm_status gram_fill_fill_rows(dkm_assembly *s, dkm_idx r0)
{
    dkm_idx end = dkm_idx_min(r0 + s->rows_each, dkm_dmat_local_rows(s->K)), n = 0;

    s->i0 = s->cols->n > 0 ? dkm_idx_max(r0, gram_fill_first_row(s, s->c0)) : end;
    for (dkm_idx il = s->i0; il < end; il++)
        s->indices[n++] = dkm_dmat_global_row(s->K, il);
    return dkm_panel_fill(&s->rows, n, s->indices);
}

static dkm_tile tile_at(const dkm_assembly *s, dkm_idx il, dkm_idx jl, dkm_idx na, dkm_idx nb)
{
    dkm_tile C = {dkm_dmat_precision(s->K), na, nb, dkm_dmat_ld(s->K), NULL};

    if (s->visitor)
        return (dkm_tile){C.precision, na, nb, na, s->dropped};
    C.c = C.precision == DKM_F64 ? (void *)dkm_dmat_f64(s->K) : (void *)dkm_dmat_f32(s->K);
    C.c = dkm_tile_at(&C, il, jl);
    return C;
}

/* What a tile has above the diagonal is cleared; on it goes k(x, x), which is exact. */
static void finish_tile(const dkm_assembly *s, const dkm_tile *C, dkm_idx il, dkm_idx jl, dkm_idx b)
{
    const double *diag = dkm_panel_diag(s->cols, s->B->kernel->node);

    for (dkm_idx j = 0; j < C->nb; j++) {
        dkm_idx diagonal = s->first[j];
        for (dkm_idx i = 0; i < dkm_idx_min(diagonal, C->na); i++)
            dkm_tile_put(C, i, j, 0.0);
        if (diagonal < C->na &&
            dkm_dmat_global_row(s->K, il + diagonal) == dkm_dmat_global_col(s->K, jl + j))
            dkm_tile_put(C, diagonal, j, diag[b + j]);
    }
}

/* c_ij <- s_i s_j c_ij for the scales of the objects. */
static void scale_tile(const dkm_assembly *s, const dkm_tile *C, dkm_idx il, dkm_idx jl)
{
    for (dkm_idx j = 0; j < C->nb; j++) {
        double b = s->B->scale ? s->B->scale[dkm_dmat_global_col(s->K, jl + j)] : 1.0;
        for (dkm_idx i = 0; i < C->na; i++) {
            double a = s->A->scale ? s->A->scale[dkm_dmat_global_row(s->K, il + i)] : 1.0;
            dkm_tile_put(C, i, j, a * b * dkm_tile_get(C, i, j));
        }
    }
}

static int is_last_window(const dkm_assembly *s)
{
    return s->at + s->window_b.width >= s->columns;
}

/* Add the inner products of the columns in memory to those of the tile so far. */
static dkm_local add_dots(const dkm_assembly *s, const dkm_tile_task *task, const dkm_tile *sums)
{
    const dkm_node *leaf = s->window_b.leaf;
    dkm_tile part = {sums->precision, sums->na, sums->nb, sums->na, s->part};
    dkm_local local = DKM_LOCAL_OK;

    if (s->at == 0)
        return dkm_vectors_dot(leaf, task, sums);
    DKM_STEP(dkm_vectors_dot(leaf, task, &part));
    dkm_map_add(sums, &part);
out:
    return local;
}

/* Local rows [il, end), columns [b, b + nb) of the panel in memory. */
static dkm_local do_tile(dkm_assembly *s, dkm_idx il, dkm_idx end, dkm_idx b, dkm_idx nb)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_tile_task task = {&s->rows, s->cols, il - s->i0, b, s->first, s->scratch, NULL, 0};
    dkm_tile C, sums;

    C = tile_at(s, il, s->c0 + b, end - il, nb);
    for (dkm_idx j = 0; j < nb; j++)
        s->first[j] = dkm_idx_max(0, gram_fill_first_row(s, s->c0 + b + j) - il);
    if (s->columns > 0) {
        sums = (dkm_tile){C.precision, C.na, C.nb, s->rows_each, s->sums};
        sums.c = dkm_tile_at(&sums, task.a, b);
        DKM_STEP(add_dots(s, &task, &sums));
        if (!is_last_window(s))
            return local;
        task.dots = &sums;
    }
    if (s->visitor && s->visitor->look)
        return s->visitor->look(s->visitor, s->K, il, s->c0 + b, &task, &C);
    DKM_STEP(dkm_node_tile_parallel(s->A->kernel->node, &task, &C));
    if (s->lower)
        finish_tile(s, &C, il, s->c0 + b, b);
    if (s->A->scale || s->B->scale)
        scale_tile(s, &C, il, s->c0 + b);
    if (s->visitor)
        s->visitor->visit(s->visitor, s->K, il, s->c0 + b, &C);
out:
    return local;
}

/* Local rows [il, end) of columns [b, b + nb), in tiles of bounded height. */
static dkm_local do_columns(dkm_assembly *s, dkm_idx il, dkm_idx end, dkm_idx b, dkm_idx nb)
{
    dkm_local local = DKM_LOCAL_OK;

    for (; il < end; il += s->tall)
        DKM_STEP(do_tile(s, il, dkm_idx_min(il + s->tall, end), b, nb));
out:
    return local;
}

/* All tiles of the panels in memory: wide ones below the diagonal, narrow ones across it. */
static dkm_local do_tiles(dkm_assembly *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx end = s->i0 + s->rows.n;

    for (dkm_idx b = 0, nb; s->rows.n > 0 && b < s->cols->n; b += nb) {
        nb = dkm_idx_min(s->wide, s->cols->n - b);
        dkm_idx below = dkm_idx_max(s->i0, gram_fill_first_row(s, s->c0 + b + nb - 1));
        for (dkm_idx c = b; c < b + nb; c += s->narrow)
            DKM_STEP(do_columns(s, dkm_idx_max(s->i0, gram_fill_first_row(s, s->c0 + c)),
                                dkm_idx_min(below, end), c, dkm_idx_min(s->narrow, b + nb - c)));
        DKM_STEP(do_columns(s, below, end, b, nb));
    }
out:
    return local;
}

/* The first panel of rows that some process needs for its columns from c0 on. */
static dkm_idx first_panel(const dkm_assembly *s, dkm_idx c0)
{
    dkm_idx jg = dkm_cyclic_global(c0, dkm_dmat_col_block(s->K), 0, s->Q), il = INT64_MAX;

    for (int p = 0; p < s->P && s->lower; p++)
        il = dkm_idx_min(il, dkm_cyclic_count(jg, dkm_dmat_row_block(s->K), p, s->P));
    return s->lower ? il / s->rows_each * s->rows_each : 0;
}

/* The tiles of the columns in memory and the rows from r0 on. */
static dkm_status gram_fill_meet_rows(dkm_assembly *s, dkm_idx r0)
{
    dkm_status status = gram_fill_fill_rows(s, r0);

    if (status == DKM_OK && s->local.code == DKM_OK)
        s->local = do_tiles(s);
    return status;
}

/* The same for wide rows, from columns from c0 on. */
static dkm_status meet_in_windows(dkm_assembly *s, dkm_idx c0, dkm_idx r0)
{
    dkm_status status = DKM_OK;

    for (s->at = 0; s->at < s->columns; s->at += s->window_b.width) {
        dkm_column_block_move(&s->window_a, s->at);
        dkm_column_block_move(&s->window_b, s->at);
        DKM_TRY(fill_cols(s, c0));
        DKM_TRY(gram_fill_meet_rows(s, r0));
    }
out:
    return status;
}

static dkm_status do_panels(dkm_assembly *s)
{
    dkm_status status = DKM_OK;
    dkm_idx rows = dkm_assembly_rows(s), cols = dkm_assembly_cols(s);

    for (dkm_idx c0 = 0; c0 < cols; c0 += s->cols_each) {
        if (s->columns == 0)
            DKM_TRY(fill_cols(s, c0));
        for (dkm_idx r0 = first_panel(s, c0); r0 < rows; r0 += s->rows_each) {
            DKM_TRY(s->columns > 0 ? meet_in_windows(s, c0, r0) : gram_fill_meet_rows(s, r0));
            dkm_progress(s->ctx, (double)c0 * (double)rows + (double)r0 * (double)s->cols_each,
                         (double)cols * (double)rows);
        }
    }
    DKM_AGREE(s->ctx, s->local);
out:
    return status;
}

dkm_status dkm_gram_fill(const dkm_prepared *A, const dkm_prepared *B, int lower, dkm_dmat *K,
                         dkm_visitor *visitor, dkm_panel *cached)
{
    dkm_status status = DKM_OK;
    dkm_assembly s = {0};

    dkm_phase_begin(A->ctx, "gram");
    DKM_AGREE(A->ctx, dkm_assembly_open(&s, A, B, K, visitor, cached));
    s.lower = lower;
    DKM_TRY(do_panels(&s));
out:
    dkm_assembly_close(&s);
    dkm_phase_end(A->ctx);
    return status;
}

dkm_status dkm_gram_cache_columns(const dkm_prepared *B, dkm_dmat *shape, dkm_panel *cols)
{
    dkm_status status = DKM_OK;
    dkm_assembly s = {0};

    *cols = (dkm_panel){0};
    dkm_phase_begin(B->ctx, "gram");
    DKM_AGREE(B->ctx, dkm_assembly_open(&s, B, B, shape, NULL, cols));
    if (s.cols_each < dkm_assembly_cols(&s))
        goto out;
    s.cols = &s.own;
    DKM_AGREE(B->ctx, dkm_panel_open(&s.own, B, B->kernel->node, DKM_COLS,
                                     dkm_dmat_precision(shape), s.cols_each));
    DKM_TRY(fill_cols(&s, 0));
    *cols = s.own;
    s.own = (dkm_panel){0};
out:
    dkm_assembly_close(&s);
    dkm_phase_end(B->ctx);
    return status;
}
