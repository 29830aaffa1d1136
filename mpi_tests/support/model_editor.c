/* Change one thing in a model file and seal it again, for tests of what must be refused:
 *   model_editor FILE real NAME VALUE        the part is this one number
 *   model_editor FILE fill PATH VALUE        all numbers of the dataset are this one
 *   model_editor FILE text NAME TEXT         the part is this text
 *   model_editor FILE attribute PATH NAME TEXT
 *   model_editor FILE drop PATH
 *   model_editor FILE shape PATH ROWS COLS   the dataset (of zeros) and its group say so
 *   model_editor FILE soft PATH TARGET       a soft link in its place
 *   model_editor FILE external PATH OTHER    a link to the same path of another file
 *   model_editor FILE storage PATH OTHER     its values are the bytes of another file
 *   model_editor FILE virtual PATH OTHER     its values are those of the same path elsewhere
 *   model_editor FILE unseal                 as older versions wrote it */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/reference_seal.h"

static herr_t put_set(hid_t file, const char *path, hid_t type, hid_t space, hid_t list,
                      const void *values)
{
    hid_t set;
    herr_t done = 0;

    if (H5Lexists(file, path, H5P_DEFAULT) > 0)
        done = H5Ldelete(file, path, H5P_DEFAULT);
    set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (set < 0 || (values && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
        done = -1;
    return H5Dclose(set) < 0 ? -1 : done;
}

static herr_t put_real(hid_t file, const char *path, const char *value)
{
    double number = strtod(value, NULL);
    hsize_t one = 1;

    return put_set(file, path, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &one, NULL), H5P_DEFAULT,
                   &number);
}

static herr_t fill(hid_t file, const char *path, const char *value)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    double *numbers = malloc((count + 1) * sizeof *numbers);
    herr_t done;

    for (size_t k = 0; k < count; k++)
        numbers[k] = strtod(value, NULL);
    done = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    free(numbers);
    H5Sclose(space);
    return H5Dclose(set) < 0 ? -1 : done;
}

static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static herr_t put_attribute(hid_t file, const char *path, const char *name, const char *text)
{
    hid_t at = H5Oopen(file, path, H5P_DEFAULT), type = text_type(text), attribute;
    herr_t done;

    H5Adelete(at, name);
    attribute = H5Acreate2(at, name, type, H5Screate(H5S_SCALAR), H5P_DEFAULT, H5P_DEFAULT);
    done = H5Awrite(attribute, type, text);
    H5Aclose(attribute);
    return H5Oclose(at) < 0 ? -1 : done;
}

static herr_t put_shape(hid_t file, const char *path, const char *rows, const char *cols)
{
    hsize_t dims[2] = {strtoull(rows, NULL, 10), strtoull(cols, NULL, 10)};
    double *zeros = calloc(dims[0] * dims[1] + 1, sizeof *zeros);
    char group[256];
    hid_t at;
    herr_t done =
        put_set(file, path, H5T_NATIVE_DOUBLE, H5Screate_simple(2, dims, NULL), H5P_DEFAULT, zeros);

    free(zeros);
    snprintf(group, sizeof group, "%s", path);
    *strrchr(group, '/') = '\0';
    at = H5Gopen2(file, group, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        hid_t attribute = H5Aopen(at, k ? "cols" : "rows", H5P_DEFAULT);
        if (H5Awrite(attribute, H5T_NATIVE_HSIZE, &dims[k]) < 0)
            done = -1;
        H5Aclose(attribute);
    }
    return H5Gclose(at) < 0 ? -1 : done;
}

/* The dataset again, with the same type and shape and no values of its own. */
static herr_t point_elsewhere(hid_t file, const char *path, const char *other, int virtual)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    hid_t type = H5Dget_type(set), list = H5Pcreate(H5P_DATASET_CREATE);

    H5Dclose(set);
    if (virtual)
        H5Pset_virtual(list, space, other, path, space);
    else
        H5Pset_external(list, other, 0, H5F_UNLIMITED);
    return put_set(file, path, type, space, list, NULL);
}

static herr_t change(hid_t file, char **a)
{
    if (strcmp(a[0], "real") == 0)
        return put_real(file, a[1], a[2]);
    if (strcmp(a[0], "fill") == 0)
        return fill(file, a[1], a[2]);
    if (strcmp(a[0], "text") == 0)
        return put_set(file, a[1], text_type(a[2]), H5Screate(H5S_SCALAR), H5P_DEFAULT, a[2]);
    if (strcmp(a[0], "attribute") == 0)
        return put_attribute(file, a[1], a[2], a[3]);
    if (strcmp(a[0], "drop") == 0)
        return H5Ldelete(file, a[1], H5P_DEFAULT);
    if (strcmp(a[0], "shape") == 0)
        return put_shape(file, a[1], a[2], a[3]);
    if (strcmp(a[0], "storage") == 0 || strcmp(a[0], "virtual") == 0)
        return point_elsewhere(file, a[1], a[2], a[0][0] == 'v');
    if (strcmp(a[0], "unseal") == 0)
        return H5Adelete(file, "sealed");
    if (H5Ldelete(file, a[1], H5P_DEFAULT) < 0)
        return -1;
    if (strcmp(a[0], "soft") == 0)
        return H5Lcreate_soft(a[2], file, a[1], H5P_DEFAULT, H5P_DEFAULT);
    return H5Lcreate_external(a[2], a[1], file, a[1], H5P_DEFAULT, H5P_DEFAULT);
}

int main(int count, char **given)
{
    hid_t file = count > 2 ? H5Fopen(given[1], H5F_ACC_RDWR, H5P_DEFAULT) : -1;
    herr_t done = file < 0 ? -1 : change(file, given + 2);

    if (file < 0 || H5Fclose(file) < 0 || done < 0)
        return EXIT_FAILURE;
    return strcmp(given[2], "unseal") == 0 || reference_seal(given[1]) == 0 ? EXIT_SUCCESS
                                                                            : EXIT_FAILURE;
}
