#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_table.h"

enum { M = 41, D = 12 };

/* The table as M x D, M x 3 x 4 or M numbers of a type. */
static void add_set(hid_t file, const char *name, hid_t type, int dims, hid_t how)
{
    hsize_t shape[3] = {M, dims == 2 ? D : 3, 4};
    hid_t space = H5Screate_simple(dims, shape, NULL), set;
    double values[M * D];
    dkm_idx d = dims == 1 ? 1 : D;

    for (dkm_idx k = 0; k < M * d; k++)
        values[k] = table_value(k / d, k % d);
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    CHECK(set >= 0);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void add_chunked_set(hid_t file, const char *name, hid_t type)
{
    hsize_t chunk[2] = {7, 5};
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_chunk(how, 2, chunk);
    H5Pset_shuffle(how);
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE))
        H5Pset_deflate(how, 4);
    add_set(file, name, type, 2, how);
    H5Pclose(how);
}

static void add_flags(hid_t file)
{
    hsize_t count = 4;
    int8_t values[] = {1, 0, 0, 1}, yes = 1, no = 0;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8), space = H5Screate_simple(1, &count, NULL), set;

    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    set = H5Dcreate2(file, "flags", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void add_words(hid_t file)
{
    hsize_t count = 2;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL), set;

    H5Tset_size(type, 8);
    set = H5Dcreate2(file, "words", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void make_file(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group, scalar, set;

    CHECK(file >= 0);
    group = H5Gcreate2(file, "deep", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add_set(file, "double", H5T_NATIVE_DOUBLE, 2, H5P_DEFAULT);
    add_set(file, "float_high_first", H5T_IEEE_F32BE, 2, H5P_DEFAULT);
    add_set(group, "bytes", H5T_NATIVE_UCHAR, 2, H5P_DEFAULT);
    add_set(group, "cube", H5T_STD_I16BE, 3, H5P_DEFAULT);
    add_set(file, "labels", H5T_NATIVE_INT64, 1, H5P_DEFAULT);
    add_set(file, "column", H5T_NATIVE_FLOAT, 1, H5P_DEFAULT);
    add_chunked_set(file, "chunked", H5T_NATIVE_INT);
    add_flags(file);
    add_words(file);
    scalar = H5Screate(H5S_SCALAR);
    set = H5Dcreate2(file, "one", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(scalar);
    H5Gclose(group);
    CHECK(H5Fclose(file) >= 0);
}

static void make_on_rank_zero(dkm_ctx *ctx, const char *path, void (*make)(const char *path))
{
    if (dkm_ctx_rank(ctx) == 0)
        make(path);
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static void datasets_of_every_kind_are_read(dkm_ctx *ctx)
{
    static const char *const tables[] = {"double", "/float_high_first", "/deep/bytes", "/deep/cube",
                                         "chunked"};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "some.h5", path), make_file);
    for (int k = 0; k < 5; k++) {
        snprintf(where, sizeof where, "%s:%s", path, tables[k]);
        table_check(ctx, where, NULL, DKM_DENSE, (table_part){0, 1, M, 0, D});
        snprintf(where, sizeof where, "%s:%s[4:40:5, 3:11]", path, tables[k]);
        table_check(ctx, where, "gram", DKM_GRAM, (table_part){4, 5, 8, 3, 8});
    }
    snprintf(where, sizeof where, "%s:/labels", path);
    table_check(ctx, where, NULL, DKM_LABELS, (table_part){0, 1, M, 0, 1});
    snprintf(where, sizeof where, "%s:/column[2:3]", path);
    table_check(ctx, where, NULL, DKM_DENSE, (table_part){2, 1, 1, 0, 1});
    files_close(ctx, dir);
}

static void flags_are_labels(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];
    dkm_data *data = NULL;

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "some.h5", path), make_file);
    snprintf(where, sizeof where, "%s:flags", path);
    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_OUTPUTS, NULL, &data));
    CHECK(data && dkm_data_type(data) == DKM_LABELS && dkm_data_rows(data) == 4);
    for (dkm_idx i = 0; data && i < dkm_data_local_rows(data); i++)
        CHECK(dkm_data_values(data)[i] == ((dkm_data_local_first(data) + i) % 3 == 0));
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

static void make_lone(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

    add_set(file, "lone", H5T_NATIVE_DOUBLE, 2, H5P_DEFAULT);
    H5Fclose(file);
}

static void make_barren(const char *path)
{
    H5Fclose(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

static void a_lone_dataset_needs_no_name(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "lone.hdf5", path), make_lone);
    table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, M, 0, D});
    make_on_rank_zero(ctx, files_name(dir, "barren.hdf5", path), make_barren);
    table_refused(ctx, path, NULL, DKM_ERR_ARG, "barren.hdf5", "nothing to read");
    files_close(ctx, dir);
}

static void a_wrong_dataset_is_told_with_those_there(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "some.h5", path), make_file);
    table_refused(ctx, path, NULL, DKM_ERR_ARG, "10 datasets", "/deep/cube");
    snprintf(where, sizeof where, "%s:/deep/none", path);
    table_refused(ctx, where, NULL, DKM_ERR_ARG, "no dataset /deep/none", "/deep/bytes");
    snprintf(where, sizeof where, "%s:/words", path);
    table_refused(ctx, where, NULL, DKM_ERR_FORMAT, "some.h5:/words", "numbers");
    snprintf(where, sizeof where, "%s:/one", path);
    table_refused(ctx, where, NULL, DKM_ERR_FORMAT, "some.h5:/one", "0 dimensions");
    snprintf(where, sizeof where, "%s:/double[0:42]", path);
    table_refused(ctx, where, NULL, DKM_ERR_ARG, "[0:42]", "41 rows");
    files_close(ctx, dir);
}

static void damaged_files_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "torn.h5", path), make_lone);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(truncate(path, 1500) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "torn.h5", "cut short");
    files_put(ctx, dir, "words.h5", "not at all", 10, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "words.h5", "no HDF5 file");
    files_close(ctx, dir);
}

static void make_odd(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space, set;
    hsize_t shape[2] = {5, 3};
    double values[15] = {0};

    values[10] = NAN;
    space = H5Screate_simple(2, shape, NULL);
    set = H5Dcreate2(file, "odd", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
}

static void numbers_that_are_none_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "odd.h5", path), make_odd);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "odd.h5: row 3, column 1", "NaN");
    files_close(ctx, dir);
}

/* 3 x 6148914691236517206 columns are 2 in 64 bits. */
static void make_huge(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t wraps[3] = {1, 3, 6148914691236517206}, bare[2] = {100000, 30000},
            chunk[3] = {1, 1, 1024};
    hid_t space = H5Screate_simple(3, wraps, NULL), set;

    H5Pset_chunk(plan, 3, chunk);
    set = H5Dcreate2(file, "wraps", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    space = H5Screate_simple(2, bare, NULL);
    H5Pset_chunk(plan, 2, chunk);
    set = H5Dcreate2(file, "bare", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(plan);
    H5Fclose(file);
}

static void shapes_that_no_file_holds_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "huge.h5", path), make_huge);
    snprintf(where, sizeof where, "%s:/wraps", path);
    table_refused(ctx, where, NULL, DKM_ERR_SIZE, "huge.h5", "does not fit in 64 bits");
    snprintf(where, sizeof where, "%s:/bare[0:1]", path);
    table_refused(ctx, where, NULL, DKM_ERR_FORMAT, "huge.h5", "100000 x 30000 numbers out of 0");
    files_close(ctx, dir);
}

static void huge_steps_give_one_row(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "some.h5", path), make_file);
    snprintf(where, sizeof where, "%s:/double[2:41:9223372036854775807]", path);
    table_check(ctx, where, NULL, DKM_DENSE, (table_part){2, 1, 1, 0, D});
    snprintf(where, sizeof where, "%s:/double[9223372036854775807]", path);
    table_refused(ctx, where, NULL, DKM_ERR_ARG, "does not fit", "41 rows");
    files_close(ctx, dir);
}

/* Beside the file, one that has what is asked for: nothing of it may be read. */
static void make_outward(const char *path)
{
    char other[FILES_PATH + 8];
    hid_t file, group, how = H5Pcreate(H5P_DATASET_CREATE), space, set;
    hsize_t shape[2] = {M, D}, chunk[2] = {M, D};
    const unsigned numbers[2] = {1, 2};

    snprintf(other, sizeof other, "%s.other", path);
    file = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    group = H5Gcreate2(file, "deep", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add_set(group, "table", H5T_NATIVE_DOUBLE, 2, H5P_DEFAULT);
    H5Gclose(group);
    H5Fclose(file);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    space = H5Screate_simple(2, shape, NULL);
    CHECK(H5Lcreate_external(other, "/deep/table", file, "link", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Lcreate_external(other, "/deep", file, "group", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Lcreate_soft("/link", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Pset_external(how, other, 0, H5F_UNLIMITED);
    set = H5Dcreate2(file, "storage", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    CHECK(set >= 0 && H5Dclose(set) >= 0);
    H5Pclose(how);
    how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(how, space, other, "/deep/table", space);
    set = H5Dcreate2(file, "virtual", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    CHECK(set >= 0 && H5Dclose(set) >= 0);
    H5Pclose(how);
    how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 2, chunk);
    H5Pset_filter(how, 32013, H5Z_FLAG_OPTIONAL, 2, numbers); /* a number of a plugin */
    add_set(file, "plugin", H5T_NATIVE_DOUBLE, 2, how);
    H5Pclose(how);
    H5Sclose(space);
    H5Fclose(file);
}

static void no_other_file_is_read(dkm_ctx *ctx)
{
    static const char *const sets[][2] = {
        {"link", "external link"},      {"group/table", "external link"},
        {"soft", "external link"},      {"storage", "external storage"},
        {"virtual", "virtual dataset"}, {"plugin", "not part of HDF5"},
    };
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];
    dkm_data *data = NULL;

    files_open(ctx, dir);
    files_name(dir, "outward.h5", path);
    make_on_rank_zero(ctx, path, make_outward);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        snprintf(where, sizeof where, "%s:/%s", path, sets[k][0]);
        CHECK(dkm_data_read(ctx, where, DKM_INPUTS, NULL, &data) == DKM_ERR_FORMAT);
        CHECK(strstr(dkm_ctx_message(ctx), sets[k][1]) != NULL);
        dkm_data_destroy(&data);
    }
    files_close(ctx, dir);
}

static void every_allocation_of_a_read_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    make_on_rank_zero(ctx, files_name(dir, "some.h5", path), make_file);
    snprintf(where, sizeof where, "%s:/deep/cube[:, 1:3]", path);
    files_read_allocations(ctx, where);
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(datasets_of_every_kind_are_read),
    CASE(flags_are_labels),
    CASE(a_lone_dataset_needs_no_name),
    CASE(a_wrong_dataset_is_told_with_those_there),
    CASE(damaged_files_are_told),
    CASE(numbers_that_are_none_are_told),
    CASE(shapes_that_no_file_holds_are_told),
    CASE(huge_steps_give_one_row),
    CASE(no_other_file_is_read),
    CASE(every_allocation_of_a_read_may_fail),
};

CHECK_MAIN(cases)
