/* Measures that need all rows of a column in one place: each column goes to one rank. */
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "selection/metrics/losses.h"

typedef struct columns {
    const dkm_data *truth, *pred;
    const dkm_loss_class *class;
    dkm_idx first, count; /* columns of the predictions that are measured */
    int *counts, *starts; /* numbers of each rank */
    double *mine, *all, *work;
} columns;

static int has_label(const dkm_objs *sets, dkm_idx i, dkm_idx label)
{
    for (dkm_idx k = sets->start[i]; k < sets->start[i + 1]; k++)
        if (sets->col[k] == label)
            return 1;
    return 0;
}

static void fill_pairs(columns *c, dkm_idx j)
{
    const dkm_objs *y = &c->truth->mine, *p = &c->pred->mine;

    for (dkm_idx i = 0; i < p->n; i++) {
        c->mine[2 * i] =
            c->class->input == DKM_LOSS_OF_SCORES ? has_label(y, i, j) : y->values[i * y->d + j];
        c->mine[2 * i + 1] = p->values[i * p->d + j];
    }
}

/* Of two classes the second column says all; of one column, label 1 is the one looked for. */
static void choose_columns(columns *c)
{
    c->first = c->class->input == DKM_LOSS_OF_SCORES && c->pred->mine.d == 2 &&
               c->truth->mine.type == DKM_LABEL_SETS && c->truth->mine.d == 1;
    c->count = c->pred->mine.d - c->first;
}

static dkm_local columns_allocate(columns *c)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = c->truth->ctx;
    dkm_idx m = c->truth->m;
    int size = dkm_ctx_size(ctx), total = 0;

    DKM_STEP(dkm_checked_int(ctx, 2 * m, "numbers of a column and its truth", &total));
    DKM_STEP(dkm_alloc(ctx, size, &c->counts));
    DKM_STEP(dkm_alloc(ctx, size, &c->starts));
    DKM_STEP(dkm_alloc(ctx, 2 * c->pred->mine.n, &c->mine));
    DKM_STEP(dkm_alloc(ctx, 2 * m, &c->all));
    DKM_STEP(dkm_alloc(ctx, 2 * m, &c->work));
    for (int r = 0; r < size; r++) {
        c->counts[r] = (int)(2 * dkm_slab_count(m, r, size));
        c->starts[r] = (int)(2 * dkm_slab_first(m, r, size));
    }
out:
    return local;
}

static void columns_free(columns *c)
{
    DKM_FREE(c->work);
    DKM_FREE(c->all);
    DKM_FREE(c->mine);
    DKM_FREE(c->starts);
    DKM_FREE(c->counts);
}

dkm_status dkm_loss_columns(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                            dkm_idx *count, double **values)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = truth->ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx), d = 0;
    columns c = {.truth = truth, .pred = pred, .class = dkm_loss_class_at(loss)};

    *values = NULL;
    choose_columns(&c);
    DKM_AGREE(ctx, columns_allocate(&c));
    DKM_AGREE(ctx, dkm_checked_int(ctx, c.count, "the number of columns", &d));
    DKM_AGREE(ctx, dkm_calloc(ctx, c.count, values));
    for (dkm_idx j = 0; j < c.count; j += size) {
        for (int r = 0; r < size && j + r < c.count; r++) {
            fill_pairs(&c, c.first + j + r);
            MPI_Gatherv(c.mine, (int)(2 * pred->mine.n), MPI_DOUBLE, c.all, c.counts, c.starts,
                        MPI_DOUBLE, r, dkm_ctx_comm(ctx));
        }
        if (j + rank < c.count)
            (*values)[j + rank] = c.class->column(truth->m, c.all, c.work);
    }
    MPI_Allreduce(MPI_IN_PLACE, *values, d, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    *count = c.count;
out:
    columns_free(&c);
    return status;
}
