#include "io/archive/archive.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define MOST_COUNT (INT64_C(1) << 53) /* counts are stored as doubles */

dkm_archive dkm_archive_empty(dkm_ctx *ctx)
{
    return (dkm_archive){.ctx = ctx};
}

/* A new last part with its name set; its content is the caller's to fill. */
static dkm_local archive_append(dkm_archive *b, const char *name, dkm_archive_entry_kind kind,
                                dkm_archive_entry **part)
{
    dkm_local local = DKM_LOCAL_OK;

    *part = NULL;
    if (b->count == b->capacity) {
        dkm_idx capacity = b->capacity ? 2 * b->capacity : 8;
        DKM_STEP(dkm_realloc(b->ctx, capacity, &b->parts));
        b->capacity = capacity;
    }
    b->parts[b->count] = (dkm_archive_entry){.kind = kind};
    DKM_STEP(dkm_strdup(b->ctx, name, &b->parts[b->count].name));
    *part = &b->parts[b->count++];
out:
    return local;
}

dkm_local dkm_archive_put_text(dkm_archive *b, const char *name, const char *text)
{
    dkm_archive_entry *part;
    dkm_local local = archive_append(b, name, DKM_ENTRY_TEXT, &part);

    return part ? dkm_strdup(b->ctx, text, &part->text) : local;
}

dkm_local dkm_archive_put_real(dkm_archive *b, const char *name, double value)
{
    return dkm_archive_put_reals(b, name, 1, &value);
}

dkm_local dkm_archive_put_reals(dkm_archive *b, const char *name, dkm_idx count,
                                const double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_archive_entry *part;

    DKM_STEP(archive_append(b, name, DKM_ENTRY_REALS, &part));
    DKM_STEP(dkm_alloc(b->ctx, count, &part->reals));
    part->count = count;
    memcpy(part->reals, values, (size_t)count * sizeof *values);
out:
    return local;
}

dkm_local dkm_archive_put_data(dkm_archive *b, const char *name, dkm_data **data)
{
    dkm_archive_entry *part;
    dkm_local local = archive_append(b, name, DKM_ENTRY_DATA, &part);

    if (part) {
        part->data = *data;
        *data = NULL;
    }
    return local;
}

dkm_local dkm_archive_borrow_data(dkm_archive *b, const char *name, dkm_data *data)
{
    dkm_archive_entry *part;
    dkm_local local = archive_append(b, name, DKM_ENTRY_DATA, &part);

    if (part) {
        part->data = data;
        part->borrowed = 1;
    }
    return local;
}

dkm_local dkm_archive_put_rows(dkm_archive *b, const char *name, const dkm_matrix_entry *rows)
{
    dkm_archive_entry *part;
    dkm_local local = archive_append(b, name, DKM_ENTRY_ROWS, &part);

    if (!part)
        return local;
    part->rows = *rows;
    part->rows.path = NULL;
    return rows->path ? dkm_strdup(b->ctx, rows->path, &part->rows.path) : local;
}

dkm_archive_entry *dkm_archive_find(const dkm_archive *b, const char *name)
{
    for (dkm_idx k = 0; k < b->count; k++)
        if (strcmp(b->parts[k].name, name) == 0)
            return &b->parts[k];
    return NULL;
}

static dkm_local archive_need(const dkm_archive *b, const char *name, dkm_archive_entry_kind kind,
                              dkm_archive_entry **part)
{
    *part = dkm_archive_find(b, name);
    if (!*part || (*part)->kind != kind || (kind == DKM_ENTRY_DATA && !(*part)->data))
        return dkm_fail(b->ctx, DKM_ERR_FORMAT, "the file holds no part '%s' of the right kind",
                        name);
    return DKM_LOCAL_OK;
}

dkm_local dkm_archive_text(const dkm_archive *b, const char *name, const char **text)
{
    dkm_archive_entry *part;
    dkm_local local = archive_need(b, name, DKM_ENTRY_TEXT, &part);

    *text = local.code == DKM_OK ? part->text : NULL;
    return local;
}

dkm_local dkm_archive_reals(const dkm_archive *b, const char *name, dkm_idx *count,
                            const double **values)
{
    dkm_archive_entry *part;
    dkm_local local = archive_need(b, name, DKM_ENTRY_REALS, &part);

    *values = local.code == DKM_OK ? part->reals : NULL;
    *count = local.code == DKM_OK ? part->count : 0;
    return local;
}

dkm_local dkm_archive_real(const dkm_archive *b, const char *name, double *value)
{
    const double *values;
    dkm_idx count;
    dkm_local local = dkm_archive_reals(b, name, &count, &values);

    if (local.code != DKM_OK)
        return local;
    if (count != 1)
        return dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' holds %lld numbers, not one", name,
                        (long long)count);
    *value = values[0];
    return DKM_LOCAL_OK;
}

dkm_local dkm_archive_number(const dkm_archive *b, const char *name, double least, double most,
                             double *value)
{
    dkm_local local = DKM_LOCAL_OK;
    double found = 0;

    DKM_STEP(dkm_archive_real(b, name, &found));
    if (!isfinite(found) || found < least || found > most)
        DKM_STEP(dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' is %g, which cannot be", name, found));
    *value = found;
out:
    return local;
}

dkm_local dkm_archive_check_int(const dkm_archive *b, const char *name, double number,
                                dkm_idx least, dkm_idx most, dkm_idx *integer)
{
    double top = most < MOST_COUNT ? (double)most : (double)MOST_COUNT;
    double bottom = least > -MOST_COUNT ? (double)least : -(double)MOST_COUNT;

    if (!(number >= bottom && number <= top) || number != floor(number))
        return dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' has %g, where that cannot be", name,
                        number);
    *integer = (dkm_idx)number;
    return DKM_LOCAL_OK;
}

dkm_local dkm_archive_count(const dkm_archive *b, const char *name, dkm_idx least, dkm_idx most,
                            dkm_idx *count)
{
    dkm_local local = DKM_LOCAL_OK;
    double found = 0;

    DKM_STEP(dkm_archive_real(b, name, &found));
    DKM_STEP(dkm_archive_check_int(b, name, found, least, most, count));
out:
    return local;
}

dkm_local dkm_archive_numbers(const dkm_archive *b, const char *name, dkm_idx count,
                              const double **values)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx found = 0;

    DKM_STEP(dkm_archive_reals(b, name, &found, values));
    if (found != count)
        DKM_STEP(dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' has %lld numbers, not %lld", name,
                          (long long)found, (long long)count));
out:
    return local;
}

dkm_local dkm_archive_take_rows(dkm_archive *b, const char *name, dkm_data **data)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_archive_entry *part;

    *data = NULL;
    DKM_STEP(archive_need(b, name, DKM_ENTRY_DATA, &part));
    if (part->data->mine.type != DKM_DENSE)
        DKM_STEP(dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' holds %s, not dense rows", name,
                          dkm_type_name(part->data->mine.type)));
    DKM_STEP(dkm_archive_take_data(b, name, data));
out:
    return local;
}

static int all_finite(const double *values, dkm_idx count)
{
    for (dkm_idx k = 0; values && k < count; k++)
        if (!isfinite(values[k]))
            return 0;
    return 1;
}

dkm_local dkm_archive_check_finite(const dkm_archive *b)
{
    for (dkm_idx k = 0; k < b->count; k++) {
        const dkm_archive_entry *part = &b->parts[k];
        const dkm_objs *o = part->data ? &part->data->mine : NULL;
        if (!all_finite(part->reals, part->count) ||
            (o && (!all_finite(o->values, o->n * o->d) ||
                   !all_finite(o->val, o->start ? o->start[o->n] : 0))))
            return dkm_fail(b->ctx, DKM_ERR_FORMAT, "part '%s' holds a number that is not finite",
                            part->name);
    }
    return DKM_LOCAL_OK;
}

dkm_local dkm_archive_take_data(dkm_archive *b, const char *name, dkm_data **data)
{
    dkm_archive_entry *part;
    dkm_local local = archive_need(b, name, DKM_ENTRY_DATA, &part);

    *data = NULL;
    if (local.code == DKM_OK) {
        *data = part->data;
        part->data = NULL;
    }
    return local;
}

dkm_local dkm_archive_rows(const dkm_archive *b, const char *name, const dkm_matrix_entry **rows)
{
    dkm_archive_entry *part;
    dkm_local local = archive_need(b, name, DKM_ENTRY_ROWS, &part);

    *rows = local.code == DKM_OK ? &part->rows : NULL;
    return local;
}

void dkm_archive_clear(dkm_archive *b)
{
    for (dkm_idx k = 0; k < b->count; k++) {
        DKM_FREE(b->parts[k].name);
        DKM_FREE(b->parts[k].text);
        DKM_FREE(b->parts[k].reals);
        DKM_FREE(b->parts[k].rows.path);
        if (!b->parts[k].borrowed)
            dkm_data_destroy(&b->parts[k].data);
    }
    DKM_FREE(b->parts);
    b->count = b->capacity = 0;
}
