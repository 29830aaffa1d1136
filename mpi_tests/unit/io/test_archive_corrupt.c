#include <hdf5.h>

#include "io/archive/archive_file.h"
#include "reference/reference_seal.h"
#include "support/fixture_archive.h"
#include "support/scratch.h"

#define ROWS 101

/* A file that must not load, with a one-line message that names it and says @p words. */
static void refuse(dkm_ctx *ctx, const char *path, dkm_status code, const char *words)
{
    const char *message = dkm_ctx_message(ctx);

    CHECK(fixture_store_load(ctx, path) == code);
    CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
    if (!strstr(message, words) || !strstr(message, path) || strchr(message, '\n'))
        check_failed(__FILE__, __LINE__, "'%s' does not say '%s'", message, words);
}

static void files_that_are_not_ours_are_told(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "other.h5", path);
    refuse(ctx, path, DKM_ERR_IO, "No such file");
    refuse(ctx, "/", DKM_ERR_IO, "directory");
    scratch_text(ctx, path, "");
    refuse(ctx, path, DKM_ERR_FORMAT, "not an HDF5 file");
    scratch_text(ctx, path, "just some text that is longer than a signature\n");
    refuse(ctx, path, DKM_ERR_FORMAT, "not an HDF5 file");
    if (dkm_ctx_rank(ctx) == 0)
        H5Fclose(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    MPI_Barrier(dkm_ctx_comm(ctx));
    refuse(ctx, path, DKM_ERR_FORMAT, "not a model of dkmap");
    scratch_remove(ctx, path);
}

/* Change one thing in a good file, on rank 0. */
static void spoil(dkm_ctx *ctx, const char *path, void (*change)(hid_t file))
{
    CHECK_OK(ctx, fixture_store_save(ctx, ROWS, path));
    if (dkm_ctx_rank(ctx) == 0) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        change(file);
        CHECK(H5Fclose(file) >= 0); /* which cuts off what is behind HDF5's own end */
        CHECK(reference_seal(path) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static void set_int(hid_t at, const char *name, int64_t value)
{
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);

    CHECK(H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
}

static void set_index(hid_t file, const char *name, hsize_t at, int64_t value)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hid_t one = H5Screate(H5S_SCALAR);

    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    CHECK(H5Dwrite(set, H5T_NATIVE_INT64, one, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
}

static void raise_version(hid_t file)
{
    set_int(file, "format_version", DKM_BUNDLE_VERSION + 1);
}

static void drop_part(hid_t file)
{
    H5Ldelete(file, "kernel", H5P_DEFAULT);
}

static void drop_array(hid_t file)
{
    H5Ldelete(file, "sparse/val", H5P_DEFAULT);
}

static void drop_method(hid_t file)
{
    H5Adelete(file, "method");
}

static void lie_about_rows(hid_t file)
{
    hid_t group = H5Gopen2(file, "dense", H5P_DEFAULT);

    set_int(group, "rows", 1000000000000);
    H5Gclose(group);
}

static void bend_start(hid_t file)
{
    set_index(file, "strings/start", 50, 1000000);
}

static void bend_column(hid_t file)
{
    set_index(file, "graph/col", 7, 4);
}

static void spoilt_files_are_told(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH], version[32];

    scratch_path(ctx, "spoilt.h5", path);
    spoil(ctx, path, raise_version);
    snprintf(version, sizeof version, "format %d ", DKM_BUNDLE_VERSION + 1);
    refuse(ctx, path, DKM_ERR_FORMAT, version);
    refuse(ctx, path, DKM_ERR_FORMAT, "this dkmap " DKMAP_VERSION " reads formats up to 3");
    spoil(ctx, path, drop_part);
    refuse(ctx, path, DKM_ERR_FORMAT, "'kernel' is missing");
    spoil(ctx, path, drop_array);
    refuse(ctx, path, DKM_ERR_FORMAT, "'sparse/val' is missing");
    spoil(ctx, path, drop_method);
    refuse(ctx, path, DKM_ERR_FORMAT, "'method' is missing");
    spoil(ctx, path, lie_about_rows);
    refuse(ctx, path, DKM_ERR_FORMAT, "'dense/values' is missing or damaged");
    spoil(ctx, path, bend_start);
    refuse(ctx, path, DKM_ERR_FORMAT, "'strings/");
    spoil(ctx, path, bend_column);
    refuse(ctx, path, DKM_ERR_FORMAT, "'graph/col' is missing or damaged");
    scratch_remove(ctx, path);
}

static void a_file_cut_short_is_told(dkm_ctx *ctx)
{
    static const int tenths[] = {1, 3, 5, 9};
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "cut.h5", path);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(ctx, fixture_store_save(ctx, ROWS, path));
        if (dkm_ctx_rank(ctx) == 0) {
            FILE *f = fopen(path, "rb");
            long length;
            CHECK(f && fseek(f, 0, SEEK_END) == 0);
            length = ftell(f);
            fclose(f);
            CHECK(truncate(path, length * tenths[k] / 10) == 0);
        }
        MPI_Barrier(dkm_ctx_comm(ctx));
        refuse(ctx, path, DKM_ERR_FORMAT, "cut short or damaged");
    }
    scratch_remove(ctx, path);
}

static long length_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    long length;

    CHECK(f && fseek(f, 0, SEEK_END) == 0);
    length = ftell(f);
    fclose(f);
    return length;
}

/* HDF5 would not notice either of them. */
static void a_flipped_bit_or_a_lost_seal_is_told(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "flipped.h5", path);
    for (int k = 0; k < 6; k++) {
        CHECK_OK(ctx, fixture_store_save(ctx, ROWS, path));
        if (dkm_ctx_rank(ctx) == 0) {
            long at = length_of(path) * k / 6;
            FILE *f = fopen(path, "r+b");
            int byte;
            CHECK(f && fseek(f, at, SEEK_SET) == 0);
            byte = fgetc(f);
            CHECK(fseek(f, at, SEEK_SET) == 0 && fputc(byte ^ 4, f) != EOF && fclose(f) == 0);
        }
        MPI_Barrier(dkm_ctx_comm(ctx));
        refuse(ctx, path, DKM_ERR_FORMAT, "checksum");
    }
    for (int k = 1; k <= 24; k += 23) {
        CHECK_OK(ctx, fixture_store_save(ctx, ROWS, path));
        if (dkm_ctx_rank(ctx) == 0)
            CHECK(truncate(path, length_of(path) - k) == 0);
        MPI_Barrier(dkm_ctx_comm(ctx));
        refuse(ctx, path, DKM_ERR_FORMAT, "cut short or damaged");
    }
    scratch_remove(ctx, path);
}

static void forget_seal(hid_t file)
{
    H5Adelete(file, "sealed");
}

static void files_from_before_the_seal_load(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "old.h5", path);
    spoil(ctx, path, forget_seal);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(truncate(path, length_of(path) - 24) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK_OK(ctx, fixture_store_load(ctx, path));
    scratch_remove(ctx, path);
}

static const check_case cases[] = {
    CASE(files_that_are_not_ours_are_told), CASE(spoilt_files_are_told),
    CASE(a_file_cut_short_is_told),         CASE(a_flipped_bit_or_a_lost_seal_is_told),
    CASE(files_from_before_the_seal_load),
};

CHECK_MAIN(cases)
