/* Slices of small files of every format. The first byte chooses the file, the rest is what stands
 * between the brackets. Row i of each file of numbers is 2 i, 2 i + 1. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <hdf5.h>

#include "fuzz/fuzz.h"

enum { M = 5, D = 2, FILES = 14, TEXTS = 9 };

static void make_npy(uint8_t *bytes, const char *order)
{
    char head[128];

    memset(bytes, ' ', 128);
    memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }", order,
             M, D);
    memcpy(bytes + 10, head, strlen(head));
    bytes[127] = '\n';
    for (int k = 0; k < M * D; k++) {
        double value = order[0] == 'F' ? k : k % M * D + k / M;
        memcpy(bytes + 128 + 8 * k, &value, 8);
    }
}

static const char *make_hdf5(void)
{
    const char *path = fuzz_file(".s.h5", "", 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space, set;
    hsize_t shape[2] = {M, D};
    double values[M * D];

    for (int k = 0; k < M * D; k++)
        values[k] = k;
    space = H5Screate_simple(2, shape, NULL);
    set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    return path;
}

static const char *make_gzip(const char *text)
{
    const char *path = fuzz_file(".s.csv.gz", "", 0);
    gzFile file = gzopen(path, "wb");

    gzputs(file, text);
    gzclose(file);
    return path;
}

static void make_files(const char *paths[FILES])
{
    static const char table[] = "0,1\n2,3\n4,5\n6,7\n8,9\n";
    uint8_t npy[128 + 8 * M * D];
    static const uint8_t idx[] = {0, 0, 8, 2, 0, 0, 0, M, 0, 0, 0, D, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const char *const texts[][2] = {
        {".s.csv", table},
        {".s.svm", "1 1:0 2:1\n1 1:2 2:3\n1 1:4 2:5\n1 1:6 2:7\n1 1:8 2:9\n"},
        {".s.txt", "a\nb\nc\nd\ne\n"},
        {".s.fasta", ">\na\n>\nb\n>\nc\n>\nd\n>\ne\n"},
        {".s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 2\n2 1 1\n5 4 1\n"},
        {".n.csv", "a,b c\n0,1\n2,3\n4,5\n6,7\n8,9\n"},
        {".n.arff", "@relation r\n@attribute a numeric\n@attribute 'b c' numeric\n@data\n0,1\n2,3\n"
                    "4,5\n6,7\n8,9\n"},
        {".s.sets", "a b\nb\n\nc\nd\n"},
        {".s.graphs", "a b | 0-1\nb\n|\nc\nd\n"},
    };

    for (int k = 0; k < TEXTS; k++)
        paths[k < 5 ? k : k + 5] = fuzz_file(texts[k][0], texts[k][1], strlen(texts[k][1]));
    make_npy(npy, "False");
    paths[5] = fuzz_file(".s.npy", npy, sizeof npy);
    make_npy(npy, "True ");
    paths[6] = fuzz_file(".f.npy", npy, sizeof npy);
    paths[7] = fuzz_file(".s.idx", idx, sizeof idx);
    paths[8] = make_hdf5();
    paths[9] = make_gzip(table);
}

/* Numbers that a slice of the table cannot have were never in the file. */
static void check_values(const char *where)
{
    dkm_data *data = NULL;

    if (dkm_data_read(fuzz_ctx(), where, DKM_INPUTS, NULL, &data) == DKM_OK &&
        dkm_data_type(data) == DKM_DENSE) {
        const double *values = dkm_data_values_const(data);
        dkm_idx count = dkm_data_rows(data) * dkm_data_cols(data), cols = dkm_data_cols(data);
        if (dkm_data_rows(data) > M || (cols > D && !strchr(strrchr(where, '['), ',')))
            fuzz_broken("more than there is", where);
        for (dkm_idx k = 0; k < count; k++)
            if (values[k] != (double)(int)values[k] || values[k] < 0 || values[k] >= M * D ||
                (k % cols > 0 && (int)values[k] / D != (int)values[k - 1] / D) ||
                (k >= cols && values[k] <= values[k - cols]))
                fuzz_broken("numbers that are not in the file", where);
    }
    dkm_data_destroy(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *paths[FILES];
    char where[512];

    if (size < 1 || size > 128)
        return 0;
    if (!paths[0])
        make_files(paths);
    fuzz_begin();
    snprintf(where, sizeof where, "%s[%.*s]", paths[data[0] % FILES], (int)(size - 1),
             (const char *)data + 1);
    (void)fuzz_read(where, DKM_INPUTS, NULL);
    check_values(where);
    fuzz_end(size, 8);
    return 0;
}
