#include "store/bundle_plan.h"

#include "core/alloc.h"

size_t dkm_plan_size(dkm_plan_kind kind)
{
    static const size_t sizes[] = {sizeof(double), sizeof(dkm_idx), 1, sizeof(float)};

    return sizes[kind];
}

static dkm_local take_room(dkm_plan *p, const dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    *p = (dkm_plan){.bundle = bundle, .ctx = bundle->ctx};
    DKM_STEP(dkm_calloc(p->ctx, bundle->count, &p->items));
    DKM_STEP(dkm_calloc(p->ctx, bundle->count, &p->before));
    DKM_STEP(dkm_calloc(p->ctx, bundle->count, &p->start));
    DKM_STEP(dkm_calloc(p->ctx, bundle->count * DKM_PLAN_ARRAYS, &p->arrays));
    DKM_STEP(dkm_calloc(p->ctx, bundle->count * DKM_PLAN_ARRAYS, &p->offsets));
out:
    return local;
}

/* Collective. */
static void count_items(dkm_plan *p)
{
    MPI_Comm comm = dkm_ctx_comm(p->ctx);

    for (dkm_idx k = 0; k < p->bundle->count; k++) {
        const dkm_part *part = &p->bundle->parts[k];
        dkm_idx mine = 0;
        if (part->kind == DKM_PART_DATA && part->data->mine.start)
            mine = part->data->mine.start[part->data->mine.n];
        MPI_Scan(&mine, &p->before[k], 1, MPI_INT64_T, MPI_SUM, comm);
        MPI_Allreduce(&mine, &p->items[k], 1, MPI_INT64_T, MPI_SUM, comm);
        p->before[k] -= mine;
    }
}

static dkm_plan_array plan_values(const dkm_data *data)
{
    return (dkm_plan_array){.name = "values",
                            .kind = DKM_PLAN_REAL,
                            .rank = 2,
                            .dims = {data->m, data->mine.d},
                            .first = data->first * data->mine.d,
                            .count = data->mine.n * data->mine.d,
                            .slab = data->mine.values};
}

/* The last rank also writes the end of the last object. */
static dkm_local plan_start(dkm_plan *p, dkm_idx k, dkm_plan_array *a)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_data *data = p->bundle->parts[k].data;
    int last = dkm_ctx_rank(p->ctx) == dkm_ctx_size(p->ctx) - 1;

    DKM_STEP(dkm_alloc(p->ctx, data->mine.n + 1, &p->start[k]));
    for (dkm_idx i = 0; i <= data->mine.n; i++)
        p->start[k][i] = data->mine.start[i] + p->before[k];
    *a = (dkm_plan_array){.name = "start",
                          .kind = DKM_PLAN_INDEX,
                          .rank = 1,
                          .dims = {data->m + 1},
                          .first = data->first,
                          .count = data->mine.n + last,
                          .slab = p->start[k]};
out:
    return local;
}

static dkm_plan_array plan_items(const dkm_plan *p, dkm_idx k, const char *name, dkm_plan_kind kind,
                                 const void *slab)
{
    const dkm_objs *mine = &p->bundle->parts[k].data->mine;

    return (dkm_plan_array){.name = name,
                            .kind = kind,
                            .rank = 1,
                            .dims = {p->items[k]},
                            .first = p->before[k],
                            .count = mine->start[mine->n],
                            .slab = slab};
}

static dkm_local plan_part(dkm_plan *p, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_data *data = p->bundle->parts[k].data;
    dkm_plan_array *a = p->arrays + k * DKM_PLAN_ARRAYS;

    if (p->bundle->parts[k].kind != DKM_PART_DATA)
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

static dkm_local plan_parts(dkm_plan *p)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < p->bundle->count; k++)
        DKM_STEP(plan_part(p, k));
out:
    return local;
}

dkm_status dkm_plan_make(dkm_plan *plan, const dkm_bundle *bundle)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(bundle->ctx, take_room(plan, bundle));
    count_items(plan);
    DKM_AGREE(bundle->ctx, plan_parts(plan));
out:
    return status;
}

void dkm_plan_clear(dkm_plan *plan)
{
    for (dkm_idx k = 0; plan->start && k < plan->bundle->count; k++)
        DKM_FREE(plan->start[k]);
    DKM_FREE(plan->items);
    DKM_FREE(plan->before);
    DKM_FREE(plan->start);
    DKM_FREE(plan->arrays);
    DKM_FREE(plan->offsets);
}
