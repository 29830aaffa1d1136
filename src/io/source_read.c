/* Rows of an open source: a range of them, every rank's own share, or those that a list names. Readers
 * read for the ranks of their node (readers.h). */
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "data/pack.h"
#include "io/checkpoint/checkpointer.h"
#include "io/source_impl.h"
#include "io/table/table.h"
#include "io/text/cells.h"

/* The columns picked, in their order, of rows that have the range of them. */
static dkm_local put_in_order(const dkm_source *source, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    double *values = NULL;

    DKM_STEP(dkm_alloc(source->ctx, objs->n * source->picks, &values));
    for (dkm_idx i = 0; i < objs->n; i++)
        for (dkm_idx c = 0; c < source->picks; c++)
            values[i * source->picks + c] =
                objs->values[i * objs->d + source->pick[c] - source->cols.first];
    DKM_FREE(objs->values);
    objs->values = values;
    objs->d = source->picks;
out:
    return local;
}

static dkm_local read_range(void *user, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    dkm_source *source = user;
    const dkm_slice *rows = &source->rows, *cols = &source->cols;
    dkm_idx row = rows->first + first * rows->step;
    dkm_local local = DKM_LOCAL_OK;

    if (source->file.type == DKM_STRINGS && source->picks == 1)
        return source->format->read_text(&source->file, row, rows->step, count, source->pick[0],
                                         objs);
    DKM_STEP(
        source->format->read(&source->file, row, rows->step, count, cols->first, cols->last, objs));
    if (source->reorders)
        DKM_STEP(put_in_order(source, objs));
    if (source->table)
        DKM_STEP(dkm_table_apply(source->table, objs));
out:
    return local;
}

/* Objects [first, first + count) for this rank. Collective on the group of its reader. */
static dkm_local read_here(dkm_source *source, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    return dkm_readers_read(&source->readers, read_range, source, source->file.type, first, count,
                            objs);
}

typedef struct text_column {
    dkm_source *source;
    dkm_idx column;
} text_column;

static dkm_local read_column_range(void *user, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    text_column *t = user;
    const dkm_slice *rows = &t->source->rows;

    return t->source->format->read_text(&t->source->file, rows->first + first * rows->step,
                                        rows->step, count, t->column, objs);
}

dkm_local dkm_source_read_column(dkm_source *source, dkm_idx column, dkm_objs *objs)
{
    int rank = dkm_ctx_rank(source->ctx), size = dkm_ctx_size(source->ctx);
    text_column wanted = {source, column};
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n_kept = 0;

    DKM_STEP(dkm_readers_read(&source->readers, read_column_range, &wanted, DKM_STRINGS,
                              dkm_slab_first(source->m, rank, size),
                              dkm_slab_count(source->m, rank, size), objs));
    for (dkm_idx i = 0; i < objs->n; i++) {
        dkm_cell cell = {objs->bytes + objs->start[i], objs->start[i + 1] - objs->start[i]};
        if (dkm_cell_is_missing(cell))
            continue;
        memmove(objs->bytes + objs->start[n_kept], cell.text, (size_t)cell.length);
        objs->start[n_kept + 1] = objs->start[n_kept] + cell.length;
        n_kept++;
    }
    objs->n = n_kept;
out:
    return local;
}

/* Of a range that is the same on all ranks. */
static dkm_local read_mine(dkm_source *source, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    int rank = dkm_ctx_rank(source->ctx), size = dkm_ctx_size(source->ctx);

    if (first < 0 || count < 0 || count > source->m - first)
        return dkm_fail(source->ctx, DKM_ERR_ARG, "%s: rows %lld to %lld asked for, it has %lld",
                        source->where.name, (long long)first, (long long)(first + count),
                        (long long)source->m);
    return read_here(source, first + dkm_slab_first(count, rank, size),
                     dkm_slab_count(count, rank, size), objs);
}

dkm_status dkm_source_read(dkm_source *source, dkm_idx first, dkm_idx count, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(source->ctx, read_mine(source, first, count, &objs));
    DKM_TRY(dkm_data_wrap(source->ctx, count, &objs, data));
    DKM_TRY(dkm_checkpointer_note_data(*data));
out:
    if (status != DKM_OK)
        dkm_data_destroy(data);
    dkm_objs_clear(&objs);
    return status;
}

/* How many rows of its slab from @p first on rank r has, @p count at the most. */
static dkm_idx share_of(const dkm_source *source, int r, dkm_idx first, dkm_idx count)
{
    dkm_idx left = dkm_slab_count(source->m, r, dkm_ctx_size(source->ctx)) - first;

    return left < 0 ? 0 : left < count ? left : count;
}

dkm_status dkm_source_read_share(dkm_source *source, dkm_idx first, dkm_idx count, dkm_data **data)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(source->ctx), size = dkm_ctx_size(source->ctx);
    dkm_idx all = 0;
    dkm_objs objs = {0};

    *data = NULL;
    for (int r = 0; r < size; r++)
        all += share_of(source, r, first, count);
    DKM_AGREE(source->ctx, read_here(source, dkm_slab_first(source->m, rank, size) + first,
                                     share_of(source, rank, first, count), &objs));
    /* slabs differ by one at the most, the longer ones first: shares are slabs of their sum */
    DKM_TRY(dkm_data_wrap(source->ctx, all, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

/* One after the other as the objects of @p objs. */
static dkm_local source_join(dkm_source *source, dkm_idx count, const dkm_objs *single,
                             dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx items = 0;

    for (dkm_idx k = 0; k < count; k++)
        items += single[k].start ? single[k].start[1] : 0;
    DKM_STEP(dkm_objs_init(objs, source->ctx, source->file.type, count,
                           count > 0 ? single[0].d : source->d, items));
    for (dkm_idx k = 0; k < count; k++) {
        if (objs->start)
            objs->start[k + 1] = objs->start[k] + single[k].start[1];
        dkm_pack_copy_object(&single[k], 0, objs, k);
    }
out:
    return local;
}

static dkm_local check_listed(const dkm_source *source, dkm_idx count, const dkm_idx *rows)
{
    for (dkm_idx k = 0; k < count; k++)
        if (rows[k] < 0 || rows[k] >= source->m)
            return dkm_fail(source->ctx, DKM_ERR_ARG, "%s: row %lld asked for, it has %lld",
                            source->where.name, (long long)rows[k], (long long)source->m);
    return DKM_LOCAL_OK;
}

/* Each rank its own rows, one after the other; @p most are those of the rank with most. A rank whose
 * step fails goes on asking for nothing, so that its group stays together. */
static dkm_local read_listed(dkm_source *source, dkm_idx count, const dkm_idx *rows, dkm_idx most,
                             dkm_objs *single)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < most; k++) {
        dkm_objs none = {0};
        int wanted = k < count && local.code == DKM_OK;
        dkm_local step =
            read_here(source, wanted ? rows[k] : 0, wanted, wanted ? &single[k] : &none);
        dkm_objs_clear(&none);
        if (local.code == DKM_OK)
            local = step;
    }
    return local;
}

dkm_status dkm_source_select(dkm_source *source, dkm_idx count, const dkm_idx *rows,
                             dkm_data **data)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(source->ctx), size = dkm_ctx_size(source->ctx);
    dkm_idx mine = dkm_slab_count(count, rank, size), first = dkm_slab_first(count, rank, size);
    dkm_objs objs = {0}, *single = NULL;

    *data = NULL;
    DKM_AGREE(source->ctx, check_listed(source, mine, rows + first));
    DKM_AGREE(source->ctx, dkm_calloc(source->ctx, mine, &single));
    DKM_AGREE(source->ctx,
              read_listed(source, mine, rows + first, dkm_slab_count(count, 0, size), single));
    DKM_AGREE(source->ctx, source_join(source, mine, single, &objs));
    DKM_TRY(dkm_data_wrap(source->ctx, count, &objs, data));
out:
    for (dkm_idx k = 0; single && k < mine; k++)
        dkm_objs_clear(&single[k]);
    DKM_FREE(single);
    dkm_objs_clear(&objs);
    return status;
}
