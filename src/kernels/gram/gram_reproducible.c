/* Parts of a Gram matrix, from tiles that lie at the same positions whatever the number of ranks: a
 * product may add up in another order at the edge of a tile, and here edges do not move.
 *
 * Cost: the objects of its rows and of its columns come to a rank once; those of the rows are held, of
 * the columns 512 at a time. */
#include <dkmap/kernel.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/gram/gram.h"

#define TILE  64
#define WIDTH (8 * TILE) /* columns brought together at a time */

typedef struct part {
    const dkm_prepared *X;
    dkm_idx m, first, n; /* this rank's rows */
    dkm_idx left, width; /* its columns, from the edge of a tile on */
    dkm_idx top, height; /* the rows of all tiles that hold one of its own */
    dkm_panel rows, cols;
    double *tile;
    void *scratch;
    dkm_idx *indices;
    double *out;
} part;

static dkm_local open_part(part *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *root = s->X->kernel->node;
    dkm_ctx *ctx = s->X->ctx;
    dkm_idx end = dkm_idx_min(s->m, (s->first + s->n + TILE - 1) / TILE * TILE);

    s->top = s->first / TILE * TILE;
    s->height = s->n > 0 && s->width > 0 ? end - s->top : 0;
    DKM_STEP(dkm_panel_open(&s->rows, s->X, root, DKM_ROWS, DKM_F64, s->height));
    DKM_STEP(dkm_panel_open(&s->cols, s->X, root, DKM_COLS, DKM_F64, dkm_idx_min(s->m, WIDTH)));
    DKM_STEP(dkm_alloc(ctx, TILE * TILE, &s->tile));
    DKM_STEP(dkm_alloc(ctx, TILE * TILE * dkm_node_scratch(root) * (dkm_idx)sizeof(double),
                       (char **)&s->scratch));
    DKM_STEP(dkm_alloc(ctx, s->height > WIDTH ? s->height : WIDTH, &s->indices));
    for (dkm_idx i = 0; i < s->height; i++)
        s->indices[i] = s->top + i;
out:
    return local;
}

static void close_part(part *s)
{
    dkm_panel_close(&s->rows);
    dkm_panel_close(&s->cols);
    DKM_FREE(s->tile);
    DKM_FREE(s->scratch);
    DKM_FREE(s->indices);
}

/* Rows from the a-th of the panel on, columns from the col-th of the part on, which are those of the panel
 * from b. */
static dkm_local gram_reproducible_fill_tile(part *s, dkm_idx a, dkm_idx b, dkm_idx col)
{
    dkm_idx na = dkm_idx_min(TILE, s->height - a), nb = dkm_idx_min(TILE, s->width - col);
    dkm_tile_task task = {.A = &s->rows, .B = &s->cols, .a = a, .b = b, .scratch = s->scratch};
    dkm_tile C = {DKM_F64, na, nb, na, s->tile};
    dkm_local local = dkm_node_tile(s->X->kernel->node, &task, &C);

    for (dkm_idx i = 0; i < na; i++) {
        dkm_idx row = s->top + a + i - s->first;
        for (dkm_idx j = 0; j < nb && row >= 0 && row < s->n; j++)
            s->out[row * s->width + col + j] = s->tile[j * na + i];
    }
    return local;
}

static dkm_local fill_width(part *s, dkm_idx first, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx b = 0; b < count; b += TILE)
        for (dkm_idx a = 0; a < s->height; a += TILE)
            DKM_STEP(gram_reproducible_fill_tile(s, a, b, first + b));
out:
    return local;
}

dkm_status dkm_gram_part(const dkm_prepared *X, dkm_range rows, dkm_range cols, double *out)
{
    dkm_status status = DKM_OK;
    part s = {.X = X,
              .m = X->X->m,
              .first = rows.first,
              .n = rows.count,
              .left = cols.first,
              .width = cols.count,
              .out = out};
    dkm_idx widest = cols.count;

    dkm_phase_begin(X->ctx, "gram");
    MPI_Allreduce(MPI_IN_PLACE, &widest, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(X->ctx));
    DKM_AGREE(X->ctx, open_part(&s));
    DKM_TRY(dkm_panel_fill(&s.rows, s.height, s.indices));
    for (dkm_idx first = 0; first < widest; first += WIDTH) {
        dkm_idx count = s.height > 0 ? dkm_idx_min(WIDTH, s.width - first) : 0;
        count = dkm_idx_max(count, 0);
        for (dkm_idx j = 0; j < count; j++)
            s.indices[j] = s.left + first + j;
        DKM_TRY(dkm_panel_fill(&s.cols, count, s.indices));
        DKM_AGREE(X->ctx, fill_width(&s, first, count));
    }
out:
    dkm_phase_end(X->ctx);
    close_part(&s);
    return status;
}

dkm_status dkm_gram_slab(const dkm_prepared *X, double *rows)
{
    return dkm_gram_part(X, (dkm_range){X->X->first, X->X->mine.n}, (dkm_range){0, X->X->m}, rows);
}
