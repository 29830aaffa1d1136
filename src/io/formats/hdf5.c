/* Datasets of HDF5 files. Every rank opens the file for itself and reads its own rows: no rank
 * waits for another, and the library converts the numbers on the way. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "io/formats/dense.h"
#include "io/hdf5_guard.h"
#include "io/path.h"

#define DIMS         16
#define BLOCK_BYTES  (1 << 20)
#define NAMES_LENGTH 480

typedef struct hdf5 {
    hid_t file, set;
    int dims;
    hsize_t shape[DIMS];
} hdf5;

/* Names of the datasets of a file, as far as they fit. */
typedef struct names {
    char text[NAMES_LENGTH], only[NAMES_LENGTH];
    int count;
    hid_t guard;
} names;

/* The library prints its errors on stderr unless stopped; ours are reported by dkm_fail(). */
typedef struct quiet {
    H5E_auto2_t handler;
    void *data;
} quiet;

static quiet begin_quiet(void)
{
    quiet q = {NULL, NULL};

    H5Eget_auto2(H5E_DEFAULT, &q.handler, &q.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return q;
}

static void end_quiet(quiet q)
{
    H5Eset_auto2(H5E_DEFAULT, q.handler, q.data);
}

static herr_t note_name(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    names *list = user;
    size_t used = strlen(list->text);
    hid_t object = H5Oopen(group, name, list->guard);

    (void)info;
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        snprintf(list->only, sizeof list->only, "/%s", name);
        snprintf(list->text + used, sizeof list->text - used, "%s/%s", used ? " " : "", name);
        list->count++;
    }
    if (object >= 0)
        H5Oclose(object);
    return 0;
}

static hid_t open_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

#if H5_VERSION_GE(1, 10, 7)
    /* shared file systems without locks are no reason not to read */
    H5Pset_file_locking(access, 0, 1);
#endif
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

static dkm_local tell_unopened(const dkm_file *file)
{
    if (H5Fis_hdf5(file->path) > 0)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                        "%s is cut short or damaged: get or write it again", file->path);
    return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s is no HDF5 file", file->path);
}

static dkm_local open_set(const dkm_file *file, hdf5 *state)
{
    int linked = 0, followed;
    names list = {.guard = dkm_h5_guard(&linked)};
    const char *wanted = file->dataset, *outside;
    dkm_local local = DKM_LOCAL_OK;

    H5Lvisit(state->file, H5_INDEX_NAME, H5_ITER_INC, note_name, &list);
    followed = linked;
    linked = 0;
    if (!wanted && list.count == 1)
        wanted = list.only;
    if (wanted)
        state->set = H5Dopen2(state->file, wanted, list.guard);
    outside = state->set >= 0 ? dkm_h5_outside(state->set) : NULL;
    if (outside)
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s:%s: %s", file->path, wanted, outside);
    else if (linked || (!wanted && list.count == 0 && followed))
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT,
                         "%s%s%s: a link to another file (external link), which is not followed",
                         file->path, wanted ? ":" : "", wanted ? wanted : "");
    else if (!wanted)
        local = dkm_fail(file->ctx, DKM_ERR_ARG,
                         list.count ? "%s holds %d datasets, name one as in %s:%s: %s"
                                    : "%s holds %d datasets: there is nothing to read",
                         file->path, list.count, file->path, list.only, list.text);
    else if (state->set < 0)
        local = dkm_fail(file->ctx, DKM_ERR_ARG, "%s has no dataset %s; it has: %s", file->path,
                         wanted, list.text);
    H5Pclose(list.guard);
    return local;
}

static dkm_local read_type(const dkm_file *file, const hdf5 *state, int *integer, size_t *bytes)
{
    hid_t type = H5Dget_type(state->set);
    H5T_class_t kind = H5Tget_class(type);

    *bytes = H5Tget_size(type);
    H5Tclose(type);
    *integer = kind == H5T_INTEGER || kind == H5T_ENUM;
    if (!*integer && kind != H5T_FLOAT)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s:%s does not hold plain numbers", file->path,
                        file->dataset ? file->dataset : "");
    return DKM_LOCAL_OK;
}

/* Columns of all dimensions after the first together; all numbers together must be countable. */
static dkm_local hdf5_measure(const dkm_file *file, const hdf5 *state, dkm_idx *m, dkm_idx *d)
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < state->dims; k++)
        if (state->shape[k] > (hsize_t)INT64_MAX)
            DKM_STEP(dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s:%s: dimension %d has %llu items",
                              file->path, file->dataset ? file->dataset : "", k,
                              (unsigned long long)state->shape[k]));
    *m = (dkm_idx)state->shape[0];
    *d = 1;
    for (int k = 1; k < state->dims; k++)
        DKM_STEP(dkm_checked_mul(file->ctx, *d, (dkm_idx)state->shape[k], file->path, d));
    DKM_STEP(dkm_dense_plausible(file, *m, *d, (dkm_idx)H5Dget_storage_size(state->set)));
out:
    return local;
}

static dkm_local hdf5_read_shape(const dkm_file *file, hdf5 *state, dkm_idx *m, dkm_idx *d)
{
    hid_t space = H5Dget_space(state->set);

    state->dims = H5Sget_simple_extent_ndims(space);
    if (state->dims >= 1 && state->dims <= DIMS)
        H5Sget_simple_extent_dims(space, state->shape, NULL);
    H5Sclose(space);
    if (state->dims < 1 || state->dims > DIMS)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s:%s has %d dimensions: rows need 1 to %d",
                        file->path, file->dataset ? file->dataset : "", state->dims, DIMS);
    return hdf5_measure(file, state, m, d);
}

static dkm_local hdf5_open_mine(dkm_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = 0, d = 0;
    size_t bytes = 0;
    int integer = 0;
    hdf5 *state;

    DKM_STEP(dkm_path_readable(file->ctx, file->path, NULL));
    DKM_STEP(dkm_alloc(file->ctx, 1, &state));
    *state = (hdf5){.file = -1, .set = -1};
    file->state = state;
    state->file = open_file(file->path);
    if (state->file < 0) {
        local = tell_unopened(file);
        goto out;
    }
    DKM_STEP(open_set(file, state));
    DKM_STEP(read_type(file, state, &integer, &bytes));
    DKM_STEP(hdf5_read_shape(file, state, &m, &d));
    DKM_STEP(dkm_dense_resolve_type(file, m, d, state->dims == 1 && integer));
    snprintf(file->about, sizeof file->about, "HDF5, %s of %zu bytes, %d dimension%s",
             integer ? "integers" : "floating point", bytes, state->dims,
             state->dims == 1 ? "" : "s");
out:
    return local;
}

static dkm_status hdf5_open(dkm_file *file)
{
    quiet q = begin_quiet();
    dkm_local local = hdf5_open_mine(file);

    end_quiet(q);
    return dkm_agree(file->ctx, local);
}

/* Read rows into @p values: all columns, or columns [c0, c1) of a two-dimensional dataset. */
static dkm_local hdf5_read_rows(const dkm_file *file, const hsize_t rows[3], dkm_idx c0, dkm_idx c1,
                                double *values)
{
    const hdf5 *state = file->state;
    hsize_t start[DIMS] = {rows[0]}, stride[DIMS] = {rows[1]}, count[DIMS] = {rows[2]};
    hid_t there = H5Dget_space(state->set), here;
    herr_t got;

    for (int k = 1; k < state->dims; k++) {
        stride[k] = 1;
        count[k] = state->shape[k];
    }
    if (state->dims == 2) {
        start[1] = (hsize_t)c0;
        count[1] = (hsize_t)(c1 - c0);
    }
    here = H5Screate_simple(state->dims, count, NULL);
    got = H5Sselect_hyperslab(there, H5S_SELECT_SET, start, stride, count, NULL);
    if (got >= 0)
        got = H5Dread(state->set, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values);
    H5Sclose(here);
    H5Sclose(there);
    if (got < 0)
        return dkm_fail(file->ctx, DKM_ERR_IO, "%s: cannot read rows %lld to %lld: is it damaged?",
                        file->path, (long long)rows[0],
                        (long long)(rows[0] + (rows[2] - 1) * rows[1]));
    return DKM_LOCAL_OK;
}

/* Columns cut out of rows of several dimensions: all columns are read, a few rows at a time. */
static dkm_local read_cut_rows(const dkm_file *file, const hsize_t rows[3], dkm_idx c0, dkm_idx c1,
                               double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = file->d, width = c1 - c0, total = (dkm_idx)rows[2];
    dkm_idx fit = BLOCK_BYTES / (d * (dkm_idx)sizeof(double)), most = fit > 1 ? fit : 1;
    double *block = NULL;

    DKM_STEP(dkm_alloc(file->ctx, most * d, &block));
    for (dkm_idx i = 0; i < total; i += most) {
        dkm_idx part = total - i < most ? total - i : most;
        hsize_t some[3] = {rows[0] + (hsize_t)i * rows[1], rows[1], (hsize_t)part};
        DKM_STEP(hdf5_read_rows(file, some, 0, d, block));
        for (dkm_idx k = 0; k < part; k++)
            memcpy(values + (i + k) * width, block + k * d + c0, (size_t)width * sizeof *values);
    }
out:
    DKM_FREE(block);
    return local;
}

static dkm_local hdf5_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                           dkm_idx c1, dkm_objs *objs)
{
    const hdf5 *state = file->state;
    hsize_t rows[3] = {(hsize_t)first, (hsize_t)step, (hsize_t)count};
    int cut = state->dims > 2 && c1 - c0 != file->d;
    dkm_local local = DKM_LOCAL_OK;
    quiet q = begin_quiet();

    DKM_STEP(dkm_objs_init(objs, file->ctx, file->type, count, c1 - c0, 0));
    if (count > 0 && c1 > c0)
        DKM_STEP(cut ? read_cut_rows(file, rows, c0, c1, objs->values)
                     : hdf5_read_rows(file, rows, c0, c1, objs->values));
    DKM_STEP(dkm_dense_check(file, first, step, c0, objs));
out:
    end_quiet(q);
    return local;
}

static void hdf5_close(dkm_file *file)
{
    hdf5 *state = file->state;

    if (state && state->set >= 0)
        H5Dclose(state->set);
    if (state && state->file >= 0)
        H5Fclose(state->file);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_hdf5 = {
    .name = "HDF5",
    .endings = ".h5 .hdf5",
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
};
