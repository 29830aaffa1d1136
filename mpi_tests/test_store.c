#include <glob.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>

#include <dkmap/grid.h>
#include <dkmap/record.h>
#include <dkmap/store.h>

#include "core/alloc.h"
#include "scratch.h"
#include "store/bundle_file.h"

/* Object ig of every type: what it holds follows from ig alone. */
static double value_of(dkm_idx ig, dkm_idx j)
{
    return (double)ig + 0.125 * (double)j;
}

static dkm_idx items_of(dkm_idx ig)
{
    return ig % 4;
}

static char byte_of(dkm_idx ig, dkm_idx j)
{
    return (char)(unsigned char)((ig * 31 + j * 97 + 200) % 256);
}

static dkm_local fill(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_objs *o)
{
    dkm_local local = DKM_LOCAL_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(m, rank, size), n = dkm_slab_count(m, rank, size), at = 0;

    DKM_STEP(dkm_objs_init(o, ctx, type, n, d, 4 * n));
    for (dkm_idx k = 0; o->values && k < n * d; k++)
        o->values[k] = value_of(first + k / d, k % d);
    for (dkm_idx i = 0; o->start && i < n; i++) {
        for (dkm_idx j = 0; j < items_of(first + i); j++, at++) {
            if (o->bytes)
                o->bytes[at] = byte_of(first + i, j);
            if (o->col)
                o->col[at] = j;
            if (o->val)
                o->val[at] = value_of(first + i, j);
        }
        o->start[i + 1] = at;
    }
out:
    return local;
}

static dkm_status make(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, fill(ctx, type, m, d, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

/* Whether this rank's slab is that of make(). */
static int is_made(dkm_ctx *ctx, const dkm_data *data, dkm_type type, dkm_idx m, dkm_idx d)
{
    dkm_objs o = {0};
    const dkm_objs *got = &data->mine;
    int same = data->m == m && got->type == type && got->d == d;
    size_t items;

    CHECK(fill(ctx, type, m, d, &o).code == DKM_OK);
    same = same && got->n == o.n;
    items = same && o.start ? (size_t)o.start[o.n] : 0;
    if (same && o.values)
        same = memcmp(got->values, o.values, (size_t)(o.n * d) * sizeof *o.values) == 0;
    if (same && o.start)
        same = memcmp(got->start, o.start, (size_t)(o.n + 1) * sizeof *o.start) == 0;
    if (same && o.bytes)
        same = memcmp(got->bytes, o.bytes, items) == 0;
    if (same && o.col)
        same = memcmp(got->col, o.col, items * sizeof *o.col) == 0;
    if (same && o.val)
        same = memcmp(got->val, o.val, items * sizeof *o.val) == 0;
    dkm_objs_clear(&o);
    return same;
}

static dkm_idx width_of(dkm_type type)
{
    dkm_keeping keeping = dkm_type_keeping(type);

    return keeping == DKM_KEEP_BYTES   ? 0
           : keeping == DKM_KEEP_LISTS ? 4
           : type == DKM_LABELS        ? 1
                                       : 3;
}

static const double three[] = {1.5, -2.0, 1e300};

static dkm_local put_small(dkm_bundle *b)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_text(b, "kernel", "rbf(sigma=2)"));
    DKM_STEP(dkm_bundle_put_text(b, "nothing", ""));
    DKM_STEP(dkm_bundle_put_real(b, "gamma", 0.1));
    DKM_STEP(dkm_bundle_put_reals(b, "mean", 3, three));
    DKM_STEP(dkm_bundle_put_reals(b, "none", 0, three));
out:
    return local;
}

/* A bundle with small parts and one data part of each type, m objects each; saved. */
static dkm_status save_all(dkm_ctx *ctx, dkm_idx m, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_bundle b = dkm_bundle_empty(ctx);
    dkm_data *data = NULL;

    DKM_AGREE(ctx, put_small(&b));
    for (int t = 0; t < DKM_TYPE_COUNT; t++) {
        DKM_TRY(make(ctx, (dkm_type)t, m, width_of((dkm_type)t), &data));
        DKM_AGREE(ctx, dkm_bundle_put_data(&b, dkm_type_name((dkm_type)t), &data));
    }
    DKM_TRY(dkm_bundle_save(&b, path, "krr", "dkmap fit krr"));
out:
    dkm_data_destroy(&data);
    dkm_bundle_clear(&b);
    return status;
}

static void check_small(const dkm_bundle *b)
{
    const char *text = NULL;
    const double *reals = NULL;
    double gamma = 0;
    dkm_idx count = 0;

    CHECK(dkm_bundle_text(b, "kernel", &text).code == DKM_OK && strcmp(text, "rbf(sigma=2)") == 0);
    CHECK(dkm_bundle_text(b, "nothing", &text).code == DKM_OK && text[0] == '\0');
    CHECK(dkm_bundle_real(b, "gamma", &gamma).code == DKM_OK && gamma == 0.1);
    CHECK(dkm_bundle_reals(b, "mean", &count, &reals).code == DKM_OK && count == 3);
    CHECK(memcmp(reals, three, sizeof three) == 0);
    CHECK(dkm_bundle_reals(b, "none", &count, &reals).code == DKM_OK && count == 0);
}

static void check_header(const dkm_bundle_header *h, int writers)
{
    CHECK(h->version == DKM_BUNDLE_VERSION && h->ranks == writers);
    CHECK(strcmp(h->method, "krr") == 0 && strcmp(h->command, "dkmap fit krr") == 0);
    CHECK(strcmp(h->program, DKMAP_VERSION) == 0 && strlen(h->created) == 20);
}

/* Load what save_all() wrote on @p writers ranks, and compare. */
static void check_all(dkm_ctx *ctx, dkm_idx m, const char *path, int writers)
{
    dkm_bundle b;
    dkm_bundle_header h;
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_bundle_load(ctx, path, &b, &h));
    if (b.count == 5 + DKM_TYPE_COUNT) {
        check_small(&b);
        check_header(&h, writers);
        for (int t = 0; t < DKM_TYPE_COUNT; t++) {
            dkm_type type = (dkm_type)t;
            CHECK(dkm_bundle_take_data(&b, dkm_type_name(type), &data).code == DKM_OK);
            CHECK(data && is_made(ctx, data, type, m, width_of(type)));
            dkm_data_destroy(&data);
        }
    } else {
        CHECK(b.count == 5 + DKM_TYPE_COUNT);
    }
    dkm_bundle_header_clear(&h);
    dkm_bundle_clear(&b);
}

/* Run @p job on a context of the first @p ranks ranks. */
static void on_ranks(dkm_ctx *ctx, int ranks, void (*job)(dkm_ctx *few, const char *path),
                     const char *path)
{
    int inside = dkm_ctx_rank(ctx) < ranks;
    dkm_ctx *few = NULL;
    MPI_Comm comm;

    MPI_Comm_split(dkm_ctx_comm(ctx), inside ? 0 : MPI_UNDEFINED, 0, &comm);
    if (inside) {
        CHECK(dkm_ctx_create(comm, &few) == DKM_OK);
        job(few, path);
        CHECK(dkm_ctx_live_blocks(few) == 0);
        dkm_ctx_destroy(&few);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

#define ROWS 101

static int writers;

static void load_rows(dkm_ctx *few, const char *path)
{
    check_all(few, ROWS, path, writers);
}

static void save_rows(dkm_ctx *few, const char *path)
{
    CHECK_OK(few, save_all(few, ROWS, path));
}

static void all_types_come_back_on_any_number_of_ranks(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    int size = dkm_ctx_size(ctx);

    scratch_path(ctx, "all.h5", path);
    for (writers = 1; writers <= size; writers++) {
        on_ranks(ctx, writers, save_rows, path);
        for (int readers = 1; readers <= size; readers++)
            on_ranks(ctx, readers, load_rows, path);
    }
    scratch_remove(ctx, path);
}

static void few_objects_and_none_come_back(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "few.h5", path);
    for (dkm_idx m = 0; m <= 3; m++) {
        CHECK_OK(ctx, save_all(ctx, m, path));
        check_all(ctx, m, path, dkm_ctx_size(ctx));
    }
    scratch_remove(ctx, path);
}

static dkm_status load_and_drop(dkm_ctx *ctx, const char *path)
{
    dkm_bundle b;
    dkm_bundle_header h;
    dkm_status status = dkm_bundle_load(ctx, path, &b, &h);

    dkm_bundle_header_clear(&h);
    dkm_bundle_clear(&b);
    return status;
}

/* A file that must not load, with a one-line message that names it and says @p words. */
static void refuse(dkm_ctx *ctx, const char *path, dkm_status code, const char *words)
{
    const char *message = dkm_ctx_message(ctx);

    CHECK(load_and_drop(ctx, path) == code);
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
    CHECK_OK(ctx, save_all(ctx, ROWS, path));
    if (dkm_ctx_rank(ctx) == 0) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        change(file);
        CHECK(H5Fclose(file) >= 0);
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
    refuse(ctx, path, DKM_ERR_FORMAT, "this dkmap " DKMAP_VERSION " reads formats up to 1");
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
        CHECK_OK(ctx, save_all(ctx, ROWS, path));
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

static int temporaries_of(const char *path)
{
    char pattern[SCRATCH_LENGTH + 8];
    glob_t found;
    int count;

    snprintf(pattern, sizeof pattern, "%s.*", path);
    count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void a_path_that_cannot_be_written_is_told(dkm_ctx *ctx)
{
    CHECK(save_all(ctx, 3, "/nonexistent/dir/m.h5") == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "/nonexistent/dir/m.h5") != NULL);
    CHECK(save_all(ctx, 3, "/") == DKM_ERR_IO);
}

/* The system lets no file of this rank grow past a limit, as a full disk would not. */
static void a_full_disk_leaves_the_old_file(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    struct rlimit old, tight;

    scratch_path(ctx, "full.h5", path);
    CHECK_OK(ctx, save_all(ctx, ROWS, path));
    signal(SIGXFSZ, SIG_IGN);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++) {
        getrlimit(RLIMIT_FSIZE, &old);
        tight = old;
        tight.rlim_cur = 4096;
        if (dkm_ctx_rank(ctx) == victim)
            setrlimit(RLIMIT_FSIZE, &tight);
        CHECK(save_all(ctx, 2000, path) == DKM_ERR_IO);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK(strstr(dkm_ctx_message(ctx), path) != NULL);
        MPI_Barrier(dkm_ctx_comm(ctx));
        CHECK(temporaries_of(path) == 0);
    }
    check_all(ctx, ROWS, path, dkm_ctx_size(ctx));
    scratch_remove(ctx, path);
}

static char brutal_path[SCRATCH_LENGTH];

static dkm_status attempt_save(dkm_ctx *ctx)
{
    return save_all(ctx, 5, brutal_path);
}

static dkm_status attempt_load(dkm_ctx *ctx)
{
    return load_and_drop(ctx, brutal_path);
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    const int victims[] = {0, dkm_ctx_size(ctx) - 1};

    scratch_path(ctx, "brutal.h5", brutal_path);
    for (int k = 0; k < 2; k++) {
        check_every_allocation(ctx, victims[k], attempt_save);
        check_every_allocation(ctx, victims[k], attempt_load);
    }
    CHECK(temporaries_of(brutal_path) == 0);
    CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(all_types_come_back_on_any_number_of_ranks),
    CASE(few_objects_and_none_come_back),
    CASE(files_that_are_not_ours_are_told),
    CASE(spoilt_files_are_told),
    CASE(a_file_cut_short_is_told),
    CASE(a_path_that_cannot_be_written_is_told),
    CASE(a_full_disk_leaves_the_old_file),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
