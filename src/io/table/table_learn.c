/* Learning the columns of a table: categories first, then means, medians and deviations of numbers
 * from one pass over the rows. Two numbers per column are summed over the ranks; a median gathers
 * its column, m words, on every rank, one column after the other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "io/source_impl.h"
#include "io/table/table.h"

/* What source columns hold, for the table and for reading them. */
static dkm_local name_columns(dkm_source *source, dkm_table *t)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_source_list_columns(source));
    DKM_STEP(dkm_calloc(t->ctx, source->picks, &t->column));
    t->count = source->picks;
    for (dkm_idx c = 0; c < t->count; c++) {
        t->column[c].scale = 1.0;
        if (source->file.names)
            DKM_STEP(dkm_strdup(t->ctx, source->file.names[source->pick[c]], &t->column[c].name));
    }
out:
    return local;
}

/* The strings of this rank's rows of a column, missing ones left out. */
static dkm_local read_words(dkm_source *source, dkm_idx c, dkm_objs *objs)
{
    return dkm_source_read_column(source, source->pick[c], objs);
}

static dkm_status learn_categories(dkm_source *source, dkm_table *t)
{
    dkm_status status = DKM_OK;
    dkm_objs words = {0};

    for (dkm_idx c = 0; c < t->count; c++) {
        if (!source->file.is_text || !source->file.is_text[source->pick[c]])
            continue;
        dkm_objs_clear(&words);
        DKM_AGREE(t->ctx, read_words(source, c, &words));
        DKM_TRY(dkm_categories_learn_objs(t->ctx, &words, NULL, &t->column[c].categories));
        DKM_REQUIRE(t->ctx, t->column[c].categories->count > 0, DKM_ERR_FORMAT,
                    "%s: column %lld has no values", source->where.name,
                    (long long)source->pick[c] + 1);
    }
out:
    dkm_objs_clear(&words);
    return status;
}

/* Sums over the rows that have a value: out[c] = sum of f(x), out[count + c] = how many. */
static void sum_columns(const dkm_table *t, const dkm_data *raw, int squares, double *out)
{
    dkm_idx p = t->count;

    memset(out, 0, (size_t)(2 * p) * sizeof *out);
    for (dkm_idx i = 0; i < raw->mine.n; i++)
        for (dkm_idx c = 0; c < p; c++) {
            double x = raw->mine.values[i * p + c];
            if (isnan(x) && !squares)
                continue;
            x = isnan(x) ? t->column[c].fill : x;
            out[c] += squares ? (x - t->column[c].shift) * (x - t->column[c].shift) : x;
            out[p + c]++;
        }
    MPI_Allreduce(MPI_IN_PLACE, out, (int)(2 * p), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(t->ctx));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static dkm_status fill_by_medians(dkm_table *t, const dkm_data *raw)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = t->ctx;
    int size = dkm_ctx_size(ctx), *counts = NULL, rows = 0;
    double *all = NULL;

    DKM_AGREE(ctx, dkm_checked_int(ctx, raw->m, "the number of rows", &rows));
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)size, &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, raw->m, &all));
    for (int r = 0; r < size; r++) {
        counts[r] = (int)dkm_slab_count(raw->m, r, size);
        counts[size + r] = (int)dkm_slab_first(raw->m, r, size);
    }
    for (dkm_idx c = 0; c < t->count; c++) {
        dkm_idx n = 0;
        if (t->column[c].categories)
            continue;
        for (dkm_idx i = 0; i < raw->mine.n; i++)
            all[raw->first + i] = raw->mine.values[i * t->count + c];
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, all, counts, counts + size, MPI_DOUBLE,
                       dkm_ctx_comm(ctx));
        for (dkm_idx i = 0; i < raw->m; i++)
            if (!isnan(all[i]))
                all[n++] = all[i];
        qsort(all, (size_t)n, sizeof *all, ascending);
        t->column[c].fill = 0.5 * (all[(n - 1) / 2] + all[n / 2]);
    }
out:
    DKM_FREE(all);
    DKM_FREE(counts);
    return status;
}

static dkm_local check_values(const dkm_table *t, const dkm_source *source, const double *sums)
{
    for (dkm_idx c = 0; c < t->count; c++)
        if (sums[t->count + c] == 0)
            return dkm_fail(t->ctx, DKM_ERR_FORMAT, "%s: column %lld has no values",
                            source->where.name, (long long)source->pick[c] + 1);
    return DKM_LOCAL_OK;
}

/* Sums of numbers near the largest that there are overflow, and a model could not be read again. */
static dkm_local check_learned(const dkm_table *t, const dkm_source *source)
{
    for (dkm_idx c = 0; c < t->count; c++) {
        const dkm_table_column *k = &t->column[c];
        if (!isfinite(k->fill) || !isfinite(k->shift) || !isfinite(k->scale) || !(k->scale > 0))
            return dkm_fail(t->ctx, DKM_ERR_NUMERIC,
                            "%s: column %lld has numbers too large or too small to take means and "
                            "deviations of",
                            source->where.name, (long long)source->pick[c] + 1);
    }
    return DKM_LOCAL_OK;
}

/* Means of the values that are there; medians in their place for --missing median; then the
 * deviations of filled columns. A column that does not vary is only shifted. */
static dkm_status learn_numbers(dkm_source *source, dkm_table *t)
{
    dkm_status status = DKM_OK;
    dkm_idx p = t->count;
    dkm_data *raw = NULL;
    double *sums = NULL;
    int total = 0;

    DKM_AGREE(t->ctx, dkm_checked_int(t->ctx, 2 * p, "the number of columns", &total));
    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, 2 * p, &sums));
    DKM_TRY(dkm_source_read(source, 0, source->m, &raw));
    sum_columns(t, raw, 0, sums);
    DKM_AGREE(t->ctx, check_values(t, source, sums));
    for (dkm_idx c = 0; c < p; c++)
        t->column[c].fill = t->column[c].categories ? 0.0 : sums[c] / sums[p + c];
    if (t->settings.missing == DKM_MISSING_MEDIAN)
        DKM_TRY(fill_by_medians(t, raw));
    if (!t->settings.standardize)
        goto out;
    for (dkm_idx c = 0; c < p; c++) { /* the mean after filling in */
        double n = sums[p + c], missing = (double)raw->m - n;
        if (!t->column[c].categories)
            t->column[c].shift = t->settings.missing == DKM_MISSING_DROP
                                     ? sums[c] / n
                                     : (sums[c] + missing * t->column[c].fill) / (double)raw->m;
    }
    sum_columns(t, raw, 1, sums);
    for (dkm_idx c = 0; c < p; c++)
        if (!t->column[c].categories && sums[c] > 0)
            t->column[c].scale = sqrt(sums[c] / sums[p + c]);
out:
    DKM_FREE(sums);
    dkm_data_destroy(&raw);
    return status;
}

static int is_needed(const dkm_source *source, const dkm_table_settings *settings)
{
    if (settings->missing != DKM_MISSING_FAIL || settings->standardize)
        return 1;
    return source->file.type == DKM_DENSE && source->file.names != NULL;
}

static void describe(dkm_table *t)
{
    dkm_idx text = 0;

    for (dkm_idx c = 0; c < t->count; c++)
        text += t->column[c].categories != NULL;
    snprintf(t->about, sizeof t->about, "%lld columns, %lld of text; %lld in all%s",
             (long long)t->count, (long long)text, (long long)dkm_table_cols(t),
             t->settings.standardize ? ", standardized" : "");
}

static dkm_local set_categories(dkm_source *source, const dkm_table *t)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(t->ctx, source->file.d, &source->categories));
    for (dkm_idx c = 0; c < t->count; c++)
        source->categories[source->pick[c]] = t->column[c].categories;
    source->file.categories = source->categories;
out:
    return local;
}

static dkm_status learn_from(dkm_source *source, dkm_table *t)
{
    dkm_status status = DKM_OK;

    DKM_REQUIRE(t->ctx, source->file.type == DKM_DENSE, DKM_ERR_UNSUPPORTED,
                "%s: --standardize and --missing are for tables of numbers, not for %s",
                source->where.name, dkm_type_name(source->file.type));
    DKM_REQUIRE(t->ctx, source->m > 0, DKM_ERR_ARG, "%s: no rows", source->where.name);
    DKM_AGREE(t->ctx, name_columns(source, t));
    DKM_TRY(learn_categories(source, t));
    DKM_AGREE(t->ctx, set_categories(source, t));
    source->file.missing_ok = t->settings.missing != DKM_MISSING_FAIL;
    if (t->settings.missing != DKM_MISSING_FAIL || t->settings.standardize) {
        DKM_TRY(learn_numbers(source, t));
        DKM_AGREE(t->ctx, check_learned(t, source));
    }
    describe(t);
out:
    return status;
}

dkm_status dkm_table_learn(dkm_ctx *ctx, const char *where, const char *type,
                           const dkm_table_settings *settings, dkm_table **table)
{
    dkm_status status = DKM_OK;
    dkm_table_settings wanted = *settings;
    dkm_source *source = NULL;
    dkm_table *t = NULL;

    *table = NULL;
    DKM_TRY(dkm_source_open(ctx, where, DKM_INPUTS, type, &source));
    if (wanted.standardize == DKM_STANDARDIZE_DENSE)
        wanted.standardize = source->file.type == DKM_DENSE;
    if (!is_needed(source, &wanted))
        goto out;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &t));
    t->ctx = ctx;
    t->settings = wanted;
    DKM_TRY(learn_from(source, t));
    *table = t;
    t = NULL;
out:
    dkm_table_destroy(&t);
    dkm_source_close(&source);
    return status;
}
