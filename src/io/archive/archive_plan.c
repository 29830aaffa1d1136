#include "io/archive/archive_plan.h"

#include "core/alloc.h"

size_t dkm_write_plan_size(dkm_write_plan_kind kind)
{
    static const size_t sizes[] = {sizeof(double), sizeof(dkm_idx), 1, sizeof(float)};

    return sizes[kind];
}

static dkm_local archive_plan_reserve(dkm_write_plan *p, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    *p = (dkm_write_plan){.archive = archive, .ctx = archive->ctx};
    DKM_STEP(dkm_calloc(p->ctx, archive->count, &p->items));
    DKM_STEP(dkm_calloc(p->ctx, archive->count, &p->before));
    DKM_STEP(dkm_calloc(p->ctx, archive->count, &p->start));
    DKM_STEP(dkm_calloc(p->ctx, archive->count * DKM_PLAN_ARRAYS, &p->arrays));
    DKM_STEP(dkm_calloc(p->ctx, archive->count * DKM_PLAN_ARRAYS, &p->offsets));
out:
    return local;
}

/* Collective. */
static void count_items(dkm_write_plan *p)
{
    MPI_Comm comm = dkm_ctx_comm(p->ctx);

    for (dkm_idx k = 0; k < p->archive->count; k++) {
        const dkm_archive_entry *part = &p->archive->parts[k];
        dkm_idx mine = 0;
        if (part->kind == DKM_ENTRY_DATA && part->data->mine.start)
            mine = part->data->mine.start[part->data->mine.n];
        MPI_Scan(&mine, &p->before[k], 1, MPI_INT64_T, MPI_SUM, comm);
        MPI_Allreduce(&mine, &p->items[k], 1, MPI_INT64_T, MPI_SUM, comm);
        p->before[k] -= mine;
    }
}

static dkm_write_plan_array plan_values(const dkm_data *data)
{
    return (dkm_write_plan_array){.name = "values",
                                  .kind = DKM_PLAN_REAL,
                                  .rank = 2,
                                  .dims = {data->m, data->mine.d},
                                  .first = data->first * data->mine.d,
                                  .count = data->mine.n * data->mine.d,
                                  .slab = data->mine.values};
}

/* The last rank also writes the end of the last object. */
static dkm_local plan_start(dkm_write_plan *p, dkm_idx k, dkm_write_plan_array *a)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_data *data = p->archive->parts[k].data;
    int last = dkm_ctx_rank(p->ctx) == dkm_ctx_size(p->ctx) - 1;

    DKM_STEP(dkm_alloc(p->ctx, data->mine.n + 1, &p->start[k]));
    for (dkm_idx i = 0; i <= data->mine.n; i++)
        p->start[k][i] = data->mine.start[i] + p->before[k];
    *a = (dkm_write_plan_array){.name = "start",
                                .kind = DKM_PLAN_INDEX,
                                .rank = 1,
                                .dims = {data->m + 1},
                                .first = data->first,
                                .count = data->mine.n + last,
                                .slab = p->start[k]};
out:
    return local;
}

static dkm_write_plan_array plan_items(const dkm_write_plan *p, dkm_idx k, const char *name,
                                       dkm_write_plan_kind kind, const void *slab)
{
    const dkm_objs *mine = &p->archive->parts[k].data->mine;

    return (dkm_write_plan_array){.name = name,
                                  .kind = kind,
                                  .rank = 1,
                                  .dims = {p->items[k]},
                                  .first = p->before[k],
                                  .count = mine->start[mine->n],
                                  .slab = slab};
}

static dkm_local plan_part(dkm_write_plan *p, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_data *data = p->archive->parts[k].data;
    dkm_write_plan_array *a = p->arrays + k * DKM_PLAN_ARRAYS;

    if (p->archive->parts[k].kind != DKM_ENTRY_DATA)
        return local;
    if (data->mine.values) {
        a[0] = plan_values(data);
        return local;
    }
    DKM_STEP(plan_start(p, k, &a[0]));
    if (data->mine.bytes)
        a[1] = plan_items(p, k, "bytes", DKM_PLAN_BYTE, data->mine.bytes);
    if (data->mine.col)
        a[1] = plan_items(p, k, "col", DKM_PLAN_INDEX, data->mine.col);
    if (data->mine.val)
        a[2] = plan_items(p, k, "val", DKM_PLAN_REAL, data->mine.val);
out:
    return local;
}

static dkm_local plan_parts(dkm_write_plan *p)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < p->archive->count; k++)
        DKM_STEP(plan_part(p, k));
out:
    return local;
}

dkm_status dkm_write_plan_make(dkm_write_plan *plan, const dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(archive->ctx, archive_plan_reserve(plan, archive));
    count_items(plan);
    DKM_AGREE(archive->ctx, plan_parts(plan));
out:
    return status;
}

void dkm_write_plan_clear(dkm_write_plan *plan)
{
    for (dkm_idx k = 0; plan->start && k < plan->archive->count; k++)
        DKM_FREE(plan->start[k]);
    DKM_FREE(plan->items);
    DKM_FREE(plan->before);
    DKM_FREE(plan->start);
    DKM_FREE(plan->arrays);
    DKM_FREE(plan->offsets);
}
