#include <hdf5.h>

#include <dkmap/runlog.h>
#include <dkmap/store.h>

#include "io/archive/archive_file.h"
#include "support/scratch.h"

#define ROOM 8192

/* All lines told, each with its end. */
typedef struct told {
    char text[ROOM];
    int lines;
} told;

static void hear(void *user, const char *line)
{
    told *t = user;
    size_t used = strlen(t->text);

    CHECK(!strchr(line, '\n'));
    snprintf(t->text + used, ROOM - used, "%s\n", line);
    t->lines++;
}

/* Describe a file; rank 0 must hear every one of @p words (up to a NULL), the others nothing. */
static void describe(dkm_ctx *ctx, const char *path, const char *type, const char *const *words)
{
    told t = {.lines = 0};

    CHECK_OK(ctx, dkm_describe(ctx, path, type, hear, &t));
    CHECK((t.lines > 0) == (dkm_ctx_rank(ctx) == 0));
    for (; dkm_ctx_rank(ctx) == 0 && *words; words++)
        if (!strstr(t.text, *words))
            check_failed(__FILE__, __LINE__, "no '%s' in: %s", *words, t.text);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void data_files_are_summed_up(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "d.csv", path);
    scratch_text(ctx, path, "1,2\n3,4.5\n-5,0\n");
    describe(ctx, path, NULL,
             WORDS("a data file", "dense, 3 x 2", "from -5 to 4.5, mean 0.916667"));
    scratch_remove(ctx, path);
    scratch_path(ctx, "d.txt", path);
    scratch_text(ctx, path, "a\nbcd\n\n");
    describe(ctx, path, NULL,
             WORDS("one string a line", "strings, 3 of them", "from 0 to 3, mean 1.33333"));
    describe(ctx, path, "sets", WORDS("sets, 3 of them"));
    scratch_remove(ctx, path);
}

static void both_sides_of_an_svmlight_file_are_told(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "d.svm", path);
    scratch_text(ctx, path, "1,3 1:2 4:3\n0 2:1\n");
    describe(
        ctx, path, NULL,
        WORDS("sparse, 2 x 4", "values   from 1 to 3, mean 2", "as outputs:", "label-sets, 2 x 4"));
    scratch_remove(ctx, path);
}

static dkm_local put_parts(dkm_archive *b, dkm_data **data)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(b, "kernel", "rbf(sigma=2)"));
    DKM_STEP(dkm_archive_put_real(b, "gamma", 0.5));
    DKM_STEP(dkm_archive_put_reals(b, "mean", 2, (double[]){1, 2}));
    DKM_STEP(dkm_archive_put_data(b, "x", data));
out:
    return local;
}

static dkm_status save(dkm_ctx *ctx, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_archive b = dkm_archive_empty(ctx);
    dkm_data *data = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, 7, 3, &data));
    DKM_AGREE(ctx, put_parts(&b, &data));
    DKM_TRY(dkm_archive_save(&b, path, "krr", "dkmap fit krr --gamma 0.5"));
out:
    dkm_data_destroy(&data);
    dkm_archive_clear(&b);
    return status;
}

static void models_are_told_part_by_part(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "m.h5", path);
    CHECK_OK(ctx, save(ctx, path));
    describe(ctx, path, NULL,
             WORDS("a krr model of dkmap", "dkmap fit krr --gamma 0.5", "rbf(sigma=2)",
                   "gamma            0.5", "mean             2 numbers",
                   "x                dense, 7 x 3", "by dkmap " DKMAP_VERSION));
    scratch_remove(ctx, path);
}

static void other_hdf5_files_list_their_datasets(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "o.h5", path);
    if (dkm_ctx_rank(ctx) == 0) {
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(2, (hsize_t[]){4, 5}, NULL);
        H5Dclose(
            H5Dcreate2(group, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
        H5Gclose(group);
        H5Fclose(file);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    describe(ctx, path, NULL, WORDS("not a model of dkmap", "o.h5:/g/x  4 x 5, real numbers"));
    scratch_remove(ctx, path);
}

static void records_are_a_table(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH], ranks[32];
    dkm_runlog *record = NULL;

    scratch_path(ctx, "runs", path);
    for (int k = 0; k < 25; k++) {
        CHECK_OK(ctx, dkm_runlog_create(ctx, k < 24 ? "dkmap early" : "dkmap last", &record));
        CHECK_OK(ctx, dkm_runlog_append(record, path));
        dkm_runlog_destroy(&record);
    }
    snprintf(ranks, sizeof ranks, "Z  %5d  ", dkm_ctx_size(ctx));
    describe(ctx, path, NULL, WORDS("25 runs", "the latest 20", "dkmap last", ranks));
    if (dkm_ctx_rank(ctx) == 0) {
        FILE *f = fopen(path, "a");
        CHECK(f && fputs("{torn", f) >= 0 && fclose(f) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    describe(ctx, path, NULL, WORDS("25 runs", "1 lines are no records"));
    scratch_remove(ctx, path);
}

static void what_is_nothing_of_these_is_told(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    told t = {.lines = 0};

    scratch_path(ctx, "what", path);
    scratch_text(ctx, path, "{\"program\": \"another\"}\n");
    CHECK(dkm_describe(ctx, path, NULL, hear, &t) != DKM_OK);
    CHECK(strstr(dkm_ctx_message(ctx), path) != NULL);
    scratch_bytes(ctx, path, "\x89HDF\r\n\x1a\n and no more", 20);
    CHECK(dkm_describe(ctx, path, NULL, hear, &t) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), "cut short or damaged") != NULL);
    CHECK(dkm_describe(ctx, "/nonexistent/f.npy", NULL, hear, &t) == DKM_ERR_IO);
    CHECK(dkm_describe(ctx, "/", NULL, hear, &t) != DKM_OK);
    CHECK(t.lines == 0);
    scratch_remove(ctx, path);
}

static char brutal_path[SCRATCH_LENGTH];

static void ignore(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static dkm_status attempt(dkm_ctx *ctx)
{
    return dkm_describe(ctx, brutal_path, NULL, ignore, NULL);
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    dkm_runlog *record = NULL;

    scratch_path(ctx, "brutal.svm", brutal_path);
    scratch_text(ctx, brutal_path, "1,3 1:2 4:3\n0 2:1\n");
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
    scratch_remove(ctx, brutal_path);
    CHECK_OK(ctx, save(ctx, brutal_path));
    check_every_allocation(ctx, 0, attempt);
    scratch_remove(ctx, brutal_path);
    CHECK_OK(ctx, dkm_runlog_create(ctx, "test", &record));
    CHECK_OK(ctx, dkm_runlog_append(record, brutal_path));
    dkm_runlog_destroy(&record);
    check_every_allocation(ctx, 0, attempt);
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(data_files_are_summed_up),     CASE(both_sides_of_an_svmlight_file_are_told),
    CASE(models_are_told_part_by_part), CASE(other_hdf5_files_list_their_datasets),
    CASE(records_are_a_table),          CASE(what_is_nothing_of_these_is_told),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
