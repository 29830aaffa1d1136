#include "io/archive/h5file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/hdf5_guard.h"
#include "io/path.h"

static void hush(dkm_h5 *h5, dkm_ctx *ctx, const char *called)
{
    *h5 = (dkm_h5){.ctx = ctx, .called = called, .file = -1};
    H5Eget_auto2(H5E_DEFAULT, &h5->printer, &h5->printer_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Many parallel file systems refuse locks, and we need none. */
static hid_t unlocked_access(void)
{
    hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);

#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    if (access_list >= 0)
        H5Pset_file_locking(access_list, 0, 1);
#endif
    return access_list;
}

dkm_local dkm_h5_create(dkm_h5 *h5, dkm_ctx *ctx, const char *path, const char *called)
{
    hid_t access_list;

    hush(h5, ctx, called);
    access_list = unlocked_access();
    h5->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access_list);
    H5Pclose(access_list);
    return h5->file < 0 ? dkm_h5_unwritten(h5, "the file") : DKM_LOCAL_OK;
}

/* Say why the system will not let us read, which HDF5 does not. */
static dkm_local check_readable(dkm_h5 *h5)
{
    int fd = dkm_path_open(h5->called, O_RDONLY | O_CLOEXEC, 0), error = errno;
    struct stat about;

    if (fd < 0)
        return dkm_fail(h5->ctx, DKM_ERR_IO, "%s: %s", h5->called, strerror(error));
    if (fstat(fd, &about) != 0)
        error = errno;
    else
        error = S_ISDIR(about.st_mode) ? EISDIR : 0;
    h5->length = error ? 0 : about.st_size;
    close(fd);
    if (error)
        return dkm_fail(h5->ctx, DKM_ERR_IO, "%s: %s", h5->called, strerror(error));
    return DKM_LOCAL_OK;
}

dkm_local dkm_h5_open(dkm_h5 *h5, dkm_ctx *ctx, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;
    hid_t access_list;

    hush(h5, ctx, path);
    DKM_STEP(check_readable(h5));
    if (H5Fis_hdf5(path) <= 0)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT, "%s: not an HDF5 file", path));
    access_list = unlocked_access();
    h5->file = H5Fopen(path, H5F_ACC_RDONLY, access_list);
    H5Pclose(access_list);
    if (h5->file < 0)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT,
                          "%s: an HDF5 file that is cut short or damaged: write it again", path));
out:
    return local;
}

int dkm_h5_close(dkm_h5 *h5)
{
    herr_t closed = h5->file < 0 ? 0 : H5Fclose(h5->file);

    h5->file = -1;
    H5Eset_auto2(H5E_DEFAULT, h5->printer, h5->printer_data);
    return closed < 0;
}

dkm_local dkm_h5_unwritten(const dkm_h5 *h5, const char *what)
{
    return dkm_fail(h5->ctx, DKM_ERR_IO,
                    "%s: cannot write %s: is the directory writable and the disk not full?",
                    h5->called, what);
}

dkm_local dkm_h5_damaged(const dkm_h5 *h5, const char *what)
{
    H5L_info_t link;

    if (h5->file >= 0 && H5Lget_info(h5->file, what, &link, H5P_DEFAULT) >= 0 &&
        link.type != H5L_TYPE_HARD)
        return dkm_fail(h5->ctx, DKM_ERR_FORMAT,
                        "%s: damaged model file: '%s' is a link, which is not followed", h5->called,
                        what);
    return dkm_fail(h5->ctx, DKM_ERR_FORMAT, "%s: '%s' is missing or damaged: write the file again",
                    h5->called, what);
}

hid_t dkm_h5_string_type(size_t length)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    if (type < 0 || H5Tset_size(type, length + 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* Write one attribute of a given type and close what was opened; @p type stays open. */
static dkm_local put_attribute(const dkm_h5 *h5, hid_t at, const char *name, hid_t type,
                               const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t written = attribute < 0 ? -1 : H5Awrite(attribute, type, value);

    H5Aclose(attribute);
    H5Sclose(space);
    return written < 0 ? dkm_h5_unwritten(h5, name) : DKM_LOCAL_OK;
}

dkm_local dkm_h5_put_text(const dkm_h5 *h5, hid_t at, const char *name, const char *text)
{
    hid_t type = dkm_h5_string_type(strlen(text));
    dkm_local local = put_attribute(h5, at, name, type, text);

    H5Tclose(type);
    return local;
}

dkm_local dkm_h5_put_int(const dkm_h5 *h5, hid_t at, const char *name, int64_t value)
{
    return put_attribute(h5, at, name, H5T_NATIVE_INT64, &value);
}

/* Open an attribute that holds one value of a class; negative when it is not such. */
static hid_t open_attribute(hid_t at, const char *name, H5T_class_t class, hid_t *type)
{
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), space = H5Aget_space(attribute);
    int fits;

    *type = H5Aget_type(attribute);
    fits = H5Tget_class(*type) == class && H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    if (!fits) {
        H5Aclose(attribute);
        attribute = -1;
    }
    return attribute;
}

dkm_local dkm_h5_get_text(const dkm_h5 *h5, hid_t at, const char *name, char **text)
{
    dkm_local local = DKM_LOCAL_OK;
    hid_t type, attribute = open_attribute(at, name, H5T_STRING, &type);

    *text = NULL;
    if (attribute < 0 || H5Tis_variable_str(type) != 0)
        DKM_STEP(dkm_h5_damaged(h5, name));
    DKM_STEP(dkm_calloc(h5->ctx, (dkm_idx)H5Tget_size(type) + 1, text));
    if (H5Aread(attribute, type, *text) < 0) {
        DKM_FREE(*text);
        DKM_STEP(dkm_h5_damaged(h5, name));
    }
out:
    H5Tclose(type);
    H5Aclose(attribute);
    return local;
}

dkm_local dkm_h5_get_int(const dkm_h5 *h5, hid_t at, const char *name, int64_t *value)
{
    hid_t type, attribute = open_attribute(at, name, H5T_INTEGER, &type);
    herr_t got = attribute < 0 ? -1 : H5Aread(attribute, H5T_NATIVE_INT64, value);

    H5Tclose(type);
    H5Aclose(attribute);
    return got < 0 ? dkm_h5_damaged(h5, name) : DKM_LOCAL_OK;
}

int dkm_h5_dims(hid_t set, hsize_t dims[2])
{
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);

    if (rank < 0 || rank > 2 || H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        rank = -1;
    H5Sclose(space);
    return rank;
}

/* Bytes of a dataset's values; -1 for more than could be in any file. */
static int64_t h5file_bytes_of(hid_t set)
{
    hid_t type = H5Dget_type(set);
    hsize_t dims[2] = {1, 1}, most = INT64_MAX, bytes = H5Tget_size(type);
    int rank = dkm_h5_dims(set, dims);

    H5Tclose(type);
    for (int k = 0; k < rank; k++) {
        if (dims[k] > 0 && bytes > most / dims[k])
            return -1;
        bytes *= dims[k];
    }
    return rank < 0 || bytes > most ? -1 : (int64_t)bytes;
}

dkm_local dkm_h5_check_set(dkm_h5 *h5, hid_t set, const char *what)
{
    const char *outside = dkm_h5_outside(set);
    hid_t list;
    int plain;
    int64_t bytes;

    if (outside)
        return dkm_fail(h5->ctx, DKM_ERR_FORMAT, "%s: damaged model file: '%s': %s", h5->called,
                        what, outside);
    list = H5Dget_create_plist(set);
    plain = H5Pget_layout(list) == H5D_CONTIGUOUS || H5Pget_layout(list) == H5D_COMPACT;
    H5Pclose(list);
    bytes = h5file_bytes_of(set);
    if (!plain || bytes < 0 || bytes > h5->length - h5->claimed)
        return dkm_h5_damaged(h5, what);
    h5->claimed += bytes;
    return DKM_LOCAL_OK;
}
