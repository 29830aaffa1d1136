#include "io/table/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "core/ctx_private.h"
#include "io/column_list.h"

void dkm_table_use(dkm_ctx *ctx, const dkm_table *table)
{
    dkm_ctx_lend(ctx, DKM_LENT_TABLE, table);
}

const char *dkm_table_describe(const dkm_table *table)
{
    return table->about;
}

dkm_idx dkm_table_cols(const dkm_table *table)
{
    dkm_idx cols = 0;

    for (dkm_idx c = 0; c < table->count; c++)
        cols += table->column[c].categories ? dkm_categories_count(table->column[c].categories) : 1;
    return cols;
}

static double *apply_cell(const dkm_table *table, const dkm_table_column *column, double value,
                          double *out)
{
    if (column->categories) {
        dkm_idx n = dkm_categories_count(column->categories);
        for (dkm_idx k = 0; k < n; k++)
            out[k] = value == (double)k;
        if (isnan(value) && table->settings.missing == DKM_MISSING_DROP)
            out[0] = NAN;
        return out + n;
    }
    if (isnan(value) && table->settings.missing != DKM_MISSING_DROP)
        value = column->fill;
    *out = (value - column->shift) / column->scale;
    return out + 1;
}

dkm_local dkm_table_apply(const dkm_table *table, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = dkm_table_cols(table), p = table->count;
    double *values = NULL;

    DKM_STEP(dkm_alloc(table->ctx, objs->n * d, &values));
    for (dkm_idx i = 0; i < objs->n; i++) {
        double *out = values + i * d;
        for (dkm_idx c = 0; c < p; c++)
            out = apply_cell(table, &table->column[c], objs->values[i * p + c], out);
    }
    DKM_FREE(objs->values);
    objs->values = values;
    objs->d = d;
out:
    return local;
}

dkm_local dkm_table_match(const dkm_table *table, const dkm_file *file, const char *where,
                          int chosen, dkm_idx *count, dkm_idx **pick)
{
    dkm_local local = DKM_LOCAL_OK;
    int named = table->count > 0 && table->column[0].name && file->names;

    if (named && !chosen) {
        DKM_FREE(*pick);
        *count = table->count;
        DKM_STEP(dkm_alloc(table->ctx, table->count, pick));
        for (dkm_idx c = 0; c < table->count; c++) {
            const char *name = table->column[c].name;
            (*pick)[c] = dkm_column_find(file, name, strlen(name));
            if ((*pick)[c] < 0)
                DKM_STEP(dkm_fail(table->ctx, DKM_ERR_ARG,
                                  "%s: there is no column '%s', which the model was trained on",
                                  where, name));
        }
    }
    if (*count != table->count)
        DKM_STEP(dkm_fail(table->ctx, DKM_ERR_ARG,
                          "%s: %lld columns, and the model was trained on %lld", where,
                          (long long)*count, (long long)table->count));
    for (dkm_idx c = 0; c < table->count; c++)
        if (table->column[c].categories && !file->is_text)
            DKM_STEP(dkm_fail(table->ctx, DKM_ERR_ARG,
                              "%s: the model was trained on a column of text, which this file "
                              "cannot hold",
                              where));
    for (dkm_idx c = 0; named && c < table->count; c++)
        if (strcmp(file->names[(*pick)[c]], table->column[c].name) != 0)
            DKM_STEP(dkm_fail(table->ctx, DKM_ERR_ARG,
                              "%s: a column '%s' where the model was trained on '%s'", where,
                              file->names[(*pick)[c]], table->column[c].name));
out:
    return local;
}

static int has_missing(const dkm_objs *objs, dkm_idx i)
{
    for (dkm_idx j = 0; j < objs->d; j++)
        if (isnan(objs->values[i * objs->d + j]))
            return 1;
    return 0;
}

static dkm_status replace_by_rows(dkm_data **data, dkm_idx count, const dkm_idx *rows)
{
    dkm_data *left = NULL;
    dkm_status status = dkm_data_select(*data, count, rows, &left);

    if (status == DKM_OK) {
        dkm_data_destroy(data);
        *data = left;
    }
    return status;
}

dkm_status dkm_table_drop(dkm_data **const *data, dkm_idx *dropped)
{
    dkm_status status = DKM_OK;
    const dkm_data *X = *data[0];
    dkm_ctx *ctx = X->ctx;
    dkm_idx m = X->m, left = 0, *rows = NULL;
    int all = 0;

    *dropped = 0;
    if (X->mine.type != DKM_DENSE)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_checked_int(ctx, m, "the number of rows", &all));
    DKM_AGREE(ctx, dkm_calloc(ctx, m, &rows));
    for (dkm_idx i = 0; i < X->mine.n; i++)
        rows[X->first + i] = has_missing(&X->mine, i);
    MPI_Allreduce(MPI_IN_PLACE, rows, all, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < m; i++)
        if (!rows[i])
            rows[left++] = i;
    *dropped = m - left;
    DKM_REQUIRE(ctx, left > 0, DKM_ERR_ARG, "--missing drop: every row has a missing value");
    for (int k = 0; data[k] && left < m; k++)
        if (*data[k])
            DKM_TRY(replace_by_rows(data[k], left, rows));
out:
    DKM_FREE(rows);
    return status;
}

void dkm_table_destroy(dkm_table **table)
{
    dkm_table *t = *table;

    if (!t)
        return;
    for (dkm_idx c = 0; t->column && c < t->count; c++) {
        DKM_FREE(t->column[c].name);
        dkm_categories_destroy(&t->column[c].categories);
    }
    DKM_FREE(t->column);
    DKM_FREE(*table);
}
