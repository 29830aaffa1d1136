#include "data/rows.h"

#include <string.h>

#include "core/alloc.h"

/* Entries of one list. */
static dkm_idx list_of(const dkm_objs *objs, dkm_idx i, const dkm_idx **cols, const double **values)
{
    dkm_idx at = objs->start[i];

    *cols = objs->col + at;
    if (values)
        *values = objs->val ? objs->val + at : NULL;
    return objs->start[i + 1] - at;
}

dkm_idx dkm_data_entries(const dkm_data *data, dkm_idx il, const dkm_idx **cols,
                         const double **values)
{
    return list_of(&data->mine, il, cols, values);
}

int dkm_data_is_borrowed(const dkm_data *data)
{
    return data->borrowed;
}

static dkm_local copy_objects(const dkm_objs *from, dkm_objs *to)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t n = (size_t)from->n, d = (size_t)from->d;
    dkm_idx items = from->start ? from->start[from->n] : 0;

    DKM_STEP(dkm_objs_init(to, from->ctx, from->type, from->n, from->d, items));
    if (from->values)
        memcpy(to->values, from->values, n * d * sizeof *to->values);
    if (from->start)
        memcpy(to->start, from->start, (n + 1) * sizeof *to->start);
    if (from->col)
        memcpy(to->col, from->col, (size_t)items * sizeof *to->col);
    if (from->val)
        memcpy(to->val, from->val, (size_t)items * sizeof *to->val);
    if (from->bytes)
        memcpy(to->bytes, from->bytes, (size_t)items);
out:
    return local;
}

dkm_status dkm_data_copy(const dkm_data *data, dkm_data **copy)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *copy = NULL;
    DKM_AGREE(data->ctx, copy_objects(&data->mine, &objs));
    DKM_TRY(dkm_data_wrap(data->ctx, data->m, &objs, copy));
out:
    dkm_objs_clear(&objs);
    return status;
}

static dkm_local check_range(const dkm_data *data, dkm_idx first, dkm_idx count)
{
    if (first >= 0 && count >= 0 && first <= data->m && count <= data->m - first)
        return DKM_LOCAL_OK;
    return dkm_fail(data->ctx, DKM_ERR_ARG, "objects %lld to %lld, and there are %lld",
                    (long long)first, (long long)(first + count - 1), (long long)data->m);
}

static dkm_local make_list(const dkm_data *data, dkm_idx first, dkm_idx count, dkm_rows **rows,
                           dkm_idx **indices)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(check_range(data, first, count));
    DKM_STEP(dkm_calloc(data->ctx, 1, rows));
    DKM_STEP(dkm_alloc(data->ctx, count, indices));
    for (dkm_idx k = 0; k < count; k++)
        (*indices)[k] = first + k;
out:
    return local;
}

dkm_status dkm_rows_get(const dkm_data *data, dkm_idx first, dkm_idx count, dkm_rows **rows)
{
    dkm_status status = DKM_OK;
    dkm_rows *got = NULL;
    dkm_idx *indices = NULL;

    *rows = NULL;
    DKM_AGREE(data->ctx, make_list(data, first, count, &got, &indices));
    DKM_TRY(dkm_data_fetch(data, count, indices, &got->own));
    got->objs = &got->own;
    got->count = count;
    *rows = got;
    got = NULL;
out:
    DKM_FREE(indices);
    dkm_rows_destroy(&got);
    return status;
}

dkm_type dkm_rows_type(const dkm_rows *rows)
{
    return rows->objs->type;
}

dkm_idx dkm_rows_count(const dkm_rows *rows)
{
    return rows->count;
}

dkm_idx dkm_rows_cols(const dkm_rows *rows)
{
    return rows->objs->d;
}

const double *dkm_rows_values(const dkm_rows *rows, dkm_idx i)
{
    return rows->objs->values + (rows->from + i) * dkm_objs_step(rows->objs);
}

dkm_idx dkm_rows_entries(const dkm_rows *rows, dkm_idx i, const dkm_idx **cols,
                         const double **values)
{
    return list_of(rows->objs, rows->from + i, cols, values);
}

const char *dkm_rows_string(const dkm_rows *rows, dkm_idx i, dkm_idx *length)
{
    const dkm_idx *start = rows->objs->start + rows->from + i;

    *length = start[1] - start[0];
    return rows->objs->bytes + start[0];
}

void dkm_rows_destroy(dkm_rows **rows)
{
    if (!*rows)
        return;
    dkm_objs_clear(&(*rows)->own);
    DKM_FREE(*rows);
}
