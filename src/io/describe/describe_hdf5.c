#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/archive/archive_header.h"
#include "io/archive/archive_read.h"
#include "io/describe/describe.h"
#include "io/hdf5_guard.h"

#define TEXT_SHOWN   70 /* characters of a text part */
#define SETS_SHOWN   100
#define SHAPE_LENGTH 128

static void tell_header(const dkm_describe_writer *t, const dkm_h5 *h5,
                        const dkm_archive_header *header)
{
    int state = strcmp(header->method, "checkpoint") == 0;

    dkm_describe_line(t, "%s: %s %s%s of dkmap", h5->called,
                      strchr("aeiou", header->method[0]) ? "an" : "a", header->method,
                      state ? "" : " model");
    dkm_describe_line(t, "  made     %s by dkmap %s on %lld rank%s, seed %llu", header->created,
                      header->program, (long long)header->ranks, header->ranks == 1 ? "" : "s",
                      (unsigned long long)header->seed);
    dkm_describe_line(t, "  command  %s", header->command);
    dkm_describe_line(t, "  format   %lld, %s", (long long)header->version,
                      header->sealed ? "checksum verified"
                                     : "no checksum (written by an older dkmap)");
}

/* Length of one dimension of a dataset in a group; 0 when there is none. */
static long long describe_hdf5_items_of(hid_t group, const char *name)
{
    hid_t set = dkm_h5_is_inside(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    hsize_t dims[2] = {0, 0};

    if (set < 0 || dkm_h5_outside(set))
        dims[0] = 0;
    else
        dkm_h5_dims(set, dims);
    H5Dclose(set);
    return (long long)dims[0];
}

static dkm_local tell_data(const dkm_describe_writer *t, const dkm_h5 *h5, hid_t group,
                           const char *name)
{
    dkm_local local = DKM_LOCAL_OK;
    int64_t rows, cols;
    char *type = NULL;

    DKM_STEP(dkm_h5_get_text(h5, group, "type", &type));
    DKM_STEP(dkm_h5_get_int(h5, group, "rows", &rows));
    DKM_STEP(dkm_h5_get_int(h5, group, "cols", &cols));
    if (dkm_type_from_name(type) == DKM_TYPE_COUNT)
        DKM_STEP(dkm_h5_damaged(h5, name));
    switch (dkm_type_storage_form(dkm_type_from_name(type))) {
    case DKM_STORED_VALUES:
        dkm_describe_line(t, "  %-16s %s, %lld x %lld", name, type, (long long)rows,
                          (long long)cols);
        break;
    case DKM_STORED_LISTS:
        dkm_describe_line(t, "  %-16s %s, %lld x %lld, %lld entries", name, type, (long long)rows,
                          (long long)cols, describe_hdf5_items_of(group, "col"));
        break;
    case DKM_STORED_BYTES:
        dkm_describe_line(t, "  %-16s %s, %lld of them, %lld bytes", name, type, (long long)rows,
                          describe_hdf5_items_of(group, "bytes"));
        break;
    }
out:
    DKM_FREE(type);
    return local;
}

/* The beginning of the first line. */
static void tell_text(const dkm_describe_writer *t, const dkm_reading *r)
{
    size_t line = strcspn(r->text, "\n"), shown = line < TEXT_SHOWN ? line : TEXT_SHOWN;

    dkm_describe_line(t, "  %-16s %.*s%s", r->name, (int)shown, r->text,
                      strlen(r->text) > shown + 1 ? "..." : "");
}

static void tell_small(const dkm_describe_writer *t, const dkm_reading *r)
{
    if (r->kind == DKM_ENTRY_TEXT)
        tell_text(t, r);
    else if (r->kind == DKM_ENTRY_ROWS)
        dkm_describe_line(t, "  %-16s %lld x %lld numbers in %s precision%s", r->name,
                          (long long)r->rows.m, (long long)r->rows.n,
                          r->rows.precision == DKM_F64 ? "double" : "single",
                          r->rows.lower ? ", lower triangle" : "");
    else if (r->count == 1)
        dkm_describe_line(t, "  %-16s %.10g", r->name, r->reals[0]);
    else
        dkm_describe_line(t, "  %-16s %lld numbers", r->name, (long long)r->count);
}

static dkm_local tell_part(const dkm_describe_writer *t, dkm_h5 *h5, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;
    hid_t at = dkm_h5_is_inside(h5->file, r->name) ? H5Oopen(h5->file, r->name, H5P_DEFAULT) : -1;

    if (H5Iget_type(at) == H5I_GROUP) {
        DKM_STEP(tell_data(t, h5, at, r->name));
    } else {
        DKM_STEP(dkm_reading_read(h5, r));
        tell_small(t, r);
    }
out:
    H5Oclose(at);
    dkm_reading_clear(r);
    return local;
}

static dkm_local describe_model(const dkm_describe_writer *t, dkm_h5 *h5, int sealed)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_archive_header header = {.sealed = sealed};
    dkm_reading *readings = NULL;
    char *names = NULL;
    dkm_idx count = 0;

    DKM_STEP(dkm_archive_header_read(h5, &header));
    tell_header(t, h5, &header);
    DKM_STEP(dkm_readings_list(h5, &names, &count, &readings));
    for (dkm_idx k = 0; k < count; k++)
        DKM_STEP(tell_part(t, h5, &readings[k]));
out:
    DKM_FREE(readings);
    DKM_FREE(names);
    dkm_archive_header_clear(&header);
    return local;
}

typedef struct listing {
    const dkm_describe_writer *writer;
    const char *path;
    dkm_idx sets;
    hid_t guard;
    int met; /* an external link, just now */
} listing;

static const char *class_name(hid_t set)
{
    hid_t type = H5Dget_type(set);
    H5T_class_t class = H5Tget_class(type);

    H5Tclose(type);
    return class == H5T_FLOAT     ? "real numbers"
           : class == H5T_INTEGER ? "integers"
           : class == H5T_STRING  ? "strings"
                                  : "neither numbers nor strings";
}

static void shape_text(hid_t set, char shape[SHAPE_LENGTH])
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL), used = 0;

    snprintf(shape, SHAPE_LENGTH, "%s", rank > 0 ? "" : "one value");
    for (int k = 0; k < rank && used < SHAPE_LENGTH; k++)
        used += snprintf(shape + used, (size_t)(SHAPE_LENGTH - used), "%s%llu", k ? " x " : "",
                         (unsigned long long)dims[k]);
    H5Sclose(space);
}

static herr_t tell_set(hid_t root, const char *name, const H5L_info_t *info, void *user)
{
    listing *l = user;
    hid_t at = H5Oopen(root, name, l->guard);
    char shape[SHAPE_LENGTH];

    (void)info;
    if (l->met && l->sets++ < SETS_SHOWN)
        dkm_describe_line(l->writer, "  %s:/%s  a link to another file, not followed", l->path,
                          name);
    l->met = 0;
    if (H5Iget_type(at) == H5I_DATASET && dkm_h5_outside(at)) {
        if (l->sets++ < SETS_SHOWN)
            dkm_describe_line(l->writer, "  %s:/%s  %s", l->path, name, dkm_h5_outside(at));
    } else if (H5Iget_type(at) == H5I_DATASET && l->sets++ < SETS_SHOWN) {
        shape_text(at, shape);
        dkm_describe_line(l->writer, "  %s:/%s  %s, %s", l->path, name, shape, class_name(at));
    }
    H5Oclose(at);
    return 0;
}

static void describe_datasets(const dkm_describe_writer *t, const dkm_h5 *h5)
{
    listing l = {.writer = t, .path = h5->called};

    dkm_describe_line(t, "%s: an HDF5 file, not a model of dkmap", h5->called);
    l.guard = dkm_h5_guard(&l.met);
    H5Lvisit(h5->file, H5_INDEX_NAME, H5_ITER_INC, tell_set, &l);
    H5Pclose(l.guard);
    if (l.sets > SETS_SHOWN)
        dkm_describe_line(t, "  and %lld datasets more", (long long)(l.sets - SETS_SHOWN));
    if (l.sets == 0)
        dkm_describe_line(t, "  no datasets");
}

dkm_local dkm_describe_hdf5(const dkm_describe_writer *writer, const char *path, int sealed)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_h5 h5;
    int ours;

    DKM_STEP(dkm_h5_open(&h5, writer->ctx, path));
    DKM_STEP(dkm_archive_is_dkmap_file(&h5, &ours));
    if (ours)
        DKM_STEP(describe_model(writer, &h5, sealed));
    else
        describe_datasets(writer, &h5);
out:
    dkm_h5_close(&h5);
    return local;
}
