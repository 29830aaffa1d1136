/* Datasets of HDF5 files. Bytes are no good here: libhdf5 falls over damaged files by itself. So an
 * input describes a file that libhdf5 writes: number type, dimensions, layout, filter, how much of
 * it is written, then a slice. */
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "fuzz/fuzz.h"

typedef struct feed {
    const uint8_t *at;
    size_t left;
} feed;

static unsigned next(feed *f)
{
    unsigned value = f->left > 0 ? *f->at : 0;

    f->at += f->left > 0;
    f->left -= f->left > 0;
    return value;
}

/* Small ones, and powers of two with something more or less: mostly such that are read in no time, or
 * are too many. Those between cost as much as a thousand other inputs. */
static hsize_t next_size(feed *f)
{
    unsigned way = next(f), value = next(f);

    if (way < 192)
        return value % 9;
    if (way < 224 && value % 64 >= 12 && value % 64 < 24 && way % 16 != 0)
        value += 24;
    if (way < 224)
        return ((hsize_t)1 << value % 64) + (way % 3) - 1;
    return (hsize_t)6148914691236517206u - value;
}

static hid_t number_type(unsigned choice)
{
    hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_STD_I8BE, H5T_STD_U64LE,
                     H5T_STD_I16LE,     H5T_IEEE_F64BE,   H5T_C_S1,     H5T_NATIVE_B8};

    return types[choice % (sizeof types / sizeof *types)];
}

static hid_t make_plan(feed *f, int dims)
{
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[20];
    unsigned how = next(f);

    for (int k = 0; k < dims; k++)
        chunk[k] = how % 5 + 1;
    if (how % 2 && dims > 0)
        H5Pset_chunk(plan, dims, chunk);
    if (how % 4 == 3)
        H5Pset_deflate(plan, 1);
    return plan;
}

/* Write the first few rows where they are small. */
static void fill(feed *f, hid_t set, int dims, const hsize_t *shape)
{
    double values[4096];
    double count = 1;

    for (int k = 0; k < dims; k++)
        count *= (double)shape[k];
    if (count > 4096 || next(f) % 8 == 0)
        return;
    for (int k = 0; k < 4096; k++)
        values[k] = k % 16;
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

static void make_file(feed *f, const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    int sets = (int)(next(f) % 3);

    for (int s = 0; s <= sets; s++) {
        hsize_t shape[20] = {0};
        hid_t type = number_type(next(f)), space, plan, set;
        int dims = (int)(next(f) % 8);
        char name[16];
        dims = dims == 7 ? 17 : dims;
        for (int k = 0; k < dims; k++)
            shape[k] = next_size(f);
        snprintf(name, sizeof name, "x%d", s);
        space = dims > 0 ? H5Screate_simple(dims, shape, NULL) : H5Screate(H5S_SCALAR);
        plan = make_plan(f, dims);
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
        if (set >= 0) {
            fill(f, set, dims, shape);
            H5Dclose(set);
        }
        H5Pclose(plan);
        if (space >= 0)
            H5Sclose(space);
    }
    H5Fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed f = {data, size};
    uint8_t choice = (uint8_t)next(&f);
    char where[512];
    const char *path;

    if (size < 2 || size > 256)
        return 0;
    path = fuzz_file(".made.h5", "", 0);
    fuzz_begin();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    make_file(&f, path);
    if (f.left == 0)
        snprintf(where, sizeof where, "%s:/x0", path);
    else
        snprintf(where, sizeof where, "%s:/x0[%.*s]", path, (int)f.left, (const char *)f.at);
    (void)fuzz_read(where, fuzz_role(choice), fuzz_type(choice));
    fuzz_end(1 << 14, 8);
    return 0;
}
