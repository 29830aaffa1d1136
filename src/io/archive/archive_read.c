#include "io/archive/archive_read.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/hdf5_guard.h"

#define PLACE_LENGTH 256
#define MOST_PARTS   1000

/* A part is called by one plain name, and no two by the same. */
static int is_good_name(const dkm_reading *readings, dkm_idx k)
{
    const char *name = readings[k].name;

    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0)
        return 0;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return 0;
    for (dkm_idx j = 0; j < k; j++)
        if (strcmp(readings[j].name, name) == 0)
            return 0;
    return 1;
}

dkm_local dkm_readings_list(dkm_h5 *h5, char **names, dkm_idx *count, dkm_reading **readings)
{
    dkm_local local = DKM_LOCAL_OK;
    char *name;

    *count = 0;
    DKM_STEP(dkm_h5_get_text(h5, h5->file, "parts", names));
    for (name = *names; *name; name++)
        *count += *name == '\n';
    if (*count > MOST_PARTS || (name > *names && name[-1] != '\n')) {
        *count = 0;
        DKM_STEP(dkm_h5_damaged(h5, "parts"));
    }
    DKM_STEP(dkm_calloc(h5->ctx, *count, readings));
    name = *names;
    for (dkm_idx k = 0; k < *count; k++) {
        char *end = strchr(name, '\n');
        *end = '\0';
        (*readings)[k].name = name;
        if (!is_good_name(*readings, k))
            DKM_STEP(dkm_h5_damaged(h5, "parts"));
        name = end + 1;
    }
out:
    return local;
}

/* An array of a data part as it must be, and the rows of it that are wanted. */
typedef struct extent {
    const char *name;
    H5T_class_t class;
    int rank;
    dkm_idx dims[2];
    dkm_idx first, count;
} extent;

static dkm_local archive_read_damaged(const dkm_h5 *h5, const dkm_reading *r, const char *array)
{
    char place[PLACE_LENGTH];

    snprintf(place, sizeof place, "%s/%s", r->name, array);
    return dkm_h5_damaged(h5, place);
}

/* The dataset of an extent; negative when it is not there or not of its type and shape. */
static hid_t open_extent(hid_t group, const extent *e)
{
    hid_t set = dkm_h5_is_inside(group, e->name) ? H5Dopen2(group, e->name, H5P_DEFAULT) : -1;
    hid_t type = H5Dget_type(set);
    hsize_t dims[2] = {0, 0};
    int fits = set >= 0 && H5Tget_class(type) == e->class && dkm_h5_dims(set, dims) == e->rank;

    for (int k = 0; fits && k < e->rank; k++)
        fits = dims[k] == (hsize_t)e->dims[k];
    H5Tclose(type);
    if (!fits) {
        H5Dclose(set);
        set = -1;
    }
    return set;
}

/* Check before allocating what a damaged file promises. */
static dkm_local need_extent(dkm_h5 *h5, hid_t group, const dkm_reading *r, const extent *e)
{
    hid_t set = open_extent(group, e);
    char place[PLACE_LENGTH];
    dkm_local local;

    if (set < 0)
        return archive_read_damaged(h5, r, e->name);
    snprintf(place, sizeof place, "%s/%s", r->name, e->name);
    local = dkm_h5_check_set(h5, set, place);
    H5Dclose(set);
    return local;
}

static dkm_local archive_read_read_extent(dkm_h5 *h5, hid_t group, const dkm_reading *r,
                                          const extent *e, hid_t type, void *into)
{
    hid_t set = open_extent(group, e), space, memory;
    hsize_t first[2] = {(hsize_t)e->first, 0}, count[2] = {(hsize_t)e->count, (hsize_t)e->dims[1]};
    herr_t got = -1;

    if (set < 0)
        return archive_read_damaged(h5, r, e->name);
    if (e->count == 0 || (e->rank == 2 && e->dims[1] == 0)) {
        H5Dclose(set);
        return DKM_LOCAL_OK;
    }
    space = H5Dget_space(set);
    memory = H5Screate_simple(e->rank, count, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0)
        got = H5Dread(set, type, memory, space, H5P_DEFAULT, into);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    return got < 0 ? archive_read_damaged(h5, r, e->name) : DKM_LOCAL_OK;
}

static dkm_local read_values(dkm_h5 *h5, hid_t group, const dkm_reading *r, dkm_idx first,
                             dkm_idx count, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    extent e = {"values", H5T_FLOAT, 2, {r->m, r->d}, first, count};

    DKM_STEP(dkm_objs_init(objs, h5->ctx, r->type, count, r->d, 0));
    DKM_STEP(archive_read_read_extent(h5, group, r, &e, H5T_NATIVE_DOUBLE, objs->values));
out:
    return local;
}

/* start[] of rows [first, first + n), as the file counts, n + 1 of them. */
static dkm_local read_start(dkm_h5 *h5, hid_t group, const dkm_reading *r, dkm_idx first, dkm_idx n,
                            dkm_idx **start)
{
    dkm_local local = DKM_LOCAL_OK;
    extent e = {"start", H5T_INTEGER, 1, {r->m + 1, 0}, first, n + 1};

    DKM_STEP(dkm_calloc(h5->ctx, n + 1, start));
    DKM_STEP(archive_read_read_extent(h5, group, r, &e, H5T_NATIVE_INT64, *start));
    for (dkm_idx i = 0; i <= n; i++)
        if ((*start)[i] < (i > 0 ? (*start)[i - 1] : 0) || (*start)[i] > r->items)
            DKM_STEP(archive_read_damaged(h5, r, "start"));
out:
    return local;
}

/* How many items the lists or bytes of all objects hold; -1 when that cannot be read. */
static dkm_idx items_in(hid_t group, const char *name)
{
    hid_t set = dkm_h5_is_inside(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    hsize_t dims[2] = {0, 0};
    dkm_idx items = set >= 0 && dkm_h5_dims(set, dims) == 1 ? (dkm_idx)dims[0] : -1;

    H5Dclose(set);
    return items;
}

static dkm_local check_columns(dkm_h5 *h5, const dkm_reading *r, const dkm_objs *o)
{
    for (dkm_idx k = 0; k < o->start[o->n]; k++)
        if (o->col[k] < 0 || o->col[k] >= o->d)
            return archive_read_damaged(h5, r, "col");
    return DKM_LOCAL_OK;
}

static dkm_local read_items(dkm_h5 *h5, hid_t group, const dkm_reading *r, extent *e,
                            dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;

    e->class = H5T_INTEGER;
    if (objs->bytes) {
        e->name = "bytes";
        DKM_STEP(archive_read_read_extent(h5, group, r, e, H5T_NATIVE_UCHAR, objs->bytes));
        goto out;
    }
    e->name = "col";
    DKM_STEP(archive_read_read_extent(h5, group, r, e, H5T_NATIVE_INT64, objs->col));
    DKM_STEP(check_columns(h5, r, objs));
    if (objs->val) {
        e->name = "val";
        e->class = H5T_FLOAT;
        DKM_STEP(archive_read_read_extent(h5, group, r, e, H5T_NATIVE_DOUBLE, objs->val));
    }
out:
    return local;
}

static dkm_local read_lists(dkm_h5 *h5, hid_t group, const dkm_reading *r, dkm_idx first,
                            dkm_idx count, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *start = NULL;
    extent e = {.rank = 1, .dims = {r->items, 0}};

    DKM_STEP(read_start(h5, group, r, first, count, &start));
    e.first = start[0];
    e.count = start[count] - start[0];
    DKM_STEP(dkm_objs_init(objs, h5->ctx, r->type, count, r->d, e.count));
    for (dkm_idx i = 0; i <= count; i++)
        objs->start[i] = start[i] - start[0];
    DKM_STEP(read_items(h5, group, r, &e, objs));
out:
    DKM_FREE(start);
    return local;
}

dkm_local dkm_reading_objects(dkm_h5 *h5, const dkm_reading *r, dkm_idx first, dkm_idx count,
                              dkm_objs *objs)
{
    hid_t group = H5Oopen(h5->file, r->name, H5P_DEFAULT);
    dkm_local local;

    if (group < 0)
        return dkm_h5_damaged(h5, r->name);
    if (dkm_type_storage_form(r->type) == DKM_STORED_VALUES)
        local = read_values(h5, group, r, first, count, objs);
    else
        local = read_lists(h5, group, r, first, count, objs);
    H5Oclose(group);
    return local;
}

/* The arrays of data are there, of the right shape, and all of them in the file: nothing is allocated
 * for what a damaged file promises. */
static dkm_local need_arrays(dkm_h5 *h5, hid_t group, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_storage_form form = dkm_type_storage_form(r->type);
    extent values = {.name = "values", .class = H5T_FLOAT, .rank = 2, .dims = {r->m, r->d}};
    extent start = {.name = "start", .class = H5T_INTEGER, .rank = 1, .dims = {r->m + 1, 0}};
    extent items = {.class = H5T_INTEGER, .rank = 1};

    if (form == DKM_STORED_VALUES)
        return need_extent(h5, group, r, &values);
    items.name = form == DKM_STORED_BYTES ? "bytes" : "col";
    items.dims[0] = r->items = items_in(group, items.name);
    DKM_STEP(need_extent(h5, group, r, &start));
    DKM_STEP(need_extent(h5, group, r, &items));
    if (form != DKM_STORED_LISTS || r->type == DKM_LABEL_SETS)
        goto out;
    items.name = "val";
    items.class = H5T_FLOAT;
    DKM_STEP(need_extent(h5, group, r, &items));
out:
    return local;
}

static dkm_local read_data(dkm_h5 *h5, hid_t group, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;
    int64_t rows = 0, cols = 0;
    char *name = NULL;

    r->kind = DKM_ENTRY_DATA;
    DKM_STEP(dkm_h5_get_text(h5, group, "type", &name));
    DKM_STEP(dkm_h5_get_int(h5, group, "rows", &rows));
    DKM_STEP(dkm_h5_get_int(h5, group, "cols", &cols));
    r->type = dkm_type_from_name(name);
    if (r->type == DKM_TYPE_COUNT || rows < 0 || rows == INT64_MAX || cols < 0 ||
        (r->type == DKM_LABELS && cols != 1))
        DKM_STEP(dkm_h5_damaged(h5, r->name));
    r->m = rows;
    r->d = cols;
    DKM_STEP(need_arrays(h5, group, r));
out:
    DKM_FREE(name);
    return local;
}

static dkm_local read_text(dkm_h5 *h5, hid_t set, hid_t type, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;

    r->kind = DKM_ENTRY_TEXT;
    if (H5Tis_variable_str(type) != 0)
        DKM_STEP(dkm_h5_damaged(h5, r->name));
    DKM_STEP(dkm_h5_check_set(h5, set, r->name));
    DKM_STEP(dkm_calloc(h5->ctx, (dkm_idx)H5Tget_size(type) + 1, &r->text));
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->text) < 0)
        DKM_STEP(dkm_h5_damaged(h5, r->name));
out:
    return local;
}

static dkm_local read_reals(dkm_h5 *h5, hid_t set, dkm_idx count, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;

    r->kind = DKM_ENTRY_REALS;
    r->count = count;
    DKM_STEP(dkm_h5_check_set(h5, set, r->name));
    DKM_STEP(dkm_alloc(h5->ctx, count, &r->reals));
    if (count > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->reals) < 0)
        DKM_STEP(dkm_h5_damaged(h5, r->name));
out:
    return local;
}

/* Whether a dataset, which is smaller than its file, holds rows x cols numbers, or the lower
 * triangle of as many from row @p first on. */
static int is_shape_of(int rank, const hsize_t dims[2], int64_t rows, int64_t cols, int64_t first)
{
    if (rank == 2)
        return dims[0] == (hsize_t)rows && dims[1] == (hsize_t)cols && first == 0;
    return rank == 1 && rows == cols && rows < INT32_MAX && first >= 0 && first <= rows &&
           dims[0] == (hsize_t)(rows * (rows + 1) / 2 - first * (first + 1) / 2);
}

/* Rows stay in the file; where they begin is found out. */
static dkm_local read_place(dkm_h5 *h5, hid_t set, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;
    hid_t type = H5Dget_type(set);
    hsize_t dims[2] = {0, 0};
    int rank = dkm_h5_dims(set, dims);
    int64_t rows = 0, cols = 0, first = 0;

    r->kind = DKM_ENTRY_ROWS;
    DKM_STEP(dkm_h5_check_set(h5, set, r->name));
    DKM_STEP(dkm_h5_get_int(h5, set, "rows", &rows));
    DKM_STEP(dkm_h5_get_int(h5, set, "cols", &cols));
    if (H5Aexists(set, "first") > 0)
        DKM_STEP(dkm_h5_get_int(h5, set, "first", &first));
    r->rows = (dkm_matrix_entry){.m = rows, .n = cols, .lower = rank == 1, .first = first};
    r->rows.precision = H5Tequal(type, H5T_NATIVE_DOUBLE) > 0 ? DKM_F64 : DKM_F32;
    r->rows.path = (char *)(uintptr_t)h5->called;
    r->rows.offset = (int64_t)H5Dget_offset(set);
    if ((r->rows.precision == DKM_F32 && H5Tequal(type, H5T_NATIVE_FLOAT) <= 0) || rows < 0 ||
        cols < 0 || !is_shape_of(rank, dims, rows, cols, first) ||
        (r->rows.offset < 0 && dkm_matrix_entry_before(&r->rows, rows) > 0))
        DKM_STEP(dkm_h5_damaged(h5, r->name));
out:
    H5Tclose(type);
    return local;
}

static dkm_local read_small(dkm_h5 *h5, hid_t set, dkm_reading *r)
{
    hid_t type = H5Dget_type(set);
    H5T_class_t class = H5Tget_class(type);
    hsize_t dims[2] = {0, 0};
    int rank = dkm_h5_dims(set, dims);
    dkm_local local;

    if (H5Aexists(set, "rows") > 0)
        local = read_place(h5, set, r);
    else if (class == H5T_STRING && rank == 0)
        local = read_text(h5, set, type, r);
    else if (class == H5T_FLOAT && rank == 1)
        local = read_reals(h5, set, (dkm_idx)dims[0], r);
    else
        local = dkm_h5_damaged(h5, r->name);
    H5Tclose(type);
    return local;
}

dkm_local dkm_reading_read(dkm_h5 *h5, dkm_reading *r)
{
    hid_t at = dkm_h5_is_inside(h5->file, r->name) ? H5Oopen(h5->file, r->name, H5P_DEFAULT) : -1;
    dkm_local local;

    if (at < 0)
        return dkm_h5_damaged(h5, r->name);
    local = H5Iget_type(at) == H5I_GROUP ? read_data(h5, at, r) : read_small(h5, at, r);
    H5Oclose(at);
    return local;
}

void dkm_reading_clear(dkm_reading *r)
{
    DKM_FREE(r->text);
    DKM_FREE(r->reals);
}
