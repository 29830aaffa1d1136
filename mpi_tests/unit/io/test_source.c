#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ctx_private.h"
#include "data/objects.h"
#include "io/readers.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_table.h"

/* The table, 10 x 3, as csv. */
static char *put_table(dkm_ctx *ctx, const char *dir, const char *name, char path[FILES_PATH])
{
    char text[1024];
    size_t used = 0;

    for (dkm_idx k = 0; k < 30; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%g%c", table_value(k / 3, k % 3),
                                 k % 3 == 2 ? '\n' : ',');
    return files_put(ctx, dir, name, text, used, path);
}

static void slices_follow_numpy(dkm_ctx *ctx)
{
    static const struct {
        const char *slice;
        table_part part;
    } ways[] = {
        {"", {0, 1, 10, 0, 3}},
        {"[:]", {0, 1, 10, 0, 3}},
        {"[2:5]", {2, 1, 3, 0, 3}},
        {"[:5]", {0, 1, 5, 0, 3}},
        {"[5:]", {5, 1, 5, 0, 3}},
        {"[-3:]", {7, 1, 3, 0, 3}},
        {"[:-3]", {0, 1, 7, 0, 3}},
        {"[::4]", {0, 4, 3, 0, 3}},
        {"[1:10:3]", {1, 3, 3, 0, 3}},
        {"[4]", {4, 1, 1, 0, 3}},
        {"[-1]", {9, 1, 1, 0, 3}},
        {"[:, 1:3]", {0, 1, 10, 1, 2}},
        {"[:,1]", {0, 1, 10, 1, 1}},
        {"[3:4, -1:]", {3, 1, 1, 2, 1}},
        {"[5:5]", {5, 1, 0, 0, 3}},
        {"[10:]", {10, 1, 0, 0, 3}},
        {"[ 0 : 2 , : ]", {0, 1, 2, 0, 3}},
        {"[0:10:100]", {0, 100, 1, 0, 3}},
        {"[0:10:9223372036854775807]", {0, 1, 1, 0, 3}},
        {"[9:10:9223372036854775807]", {9, 1, 1, 0, 3}},
        {"[2::4611686018427387904]", {2, 1, 1, 0, 3}},
        {"[5:5:9223372036854775807]", {5, 1, 0, 0, 3}},
        {"[:, 2:2]", {0, 1, 10, 2, 0}},
    };
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    put_table(ctx, dir, "table.csv", path);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        snprintf(where, sizeof where, "%s%s", path, ways[k].slice);
        table_check(ctx, where, NULL, DKM_DENSE, ways[k].part);
    }
    files_close(ctx, dir);
}

static void slices_that_do_not_fit_are_told(dkm_ctx *ctx)
{
    static const char *const outside[][2] = {
        {"[0:11]", "10 rows"},
        {"[11:]", "10 rows"},
        {"[-11:]", "10 rows"},
        {"[10]", "10 rows"},
        {"[5:2]", "10 rows"},
        {"[:, 0:4]", "3 columns"},
        {"[:, 3]", "3 columns"},
        {"[9223372036854775807]", "10 rows"},
        {"[-9223372036854775808]", "10 rows"},
        {"[-9223372036854775808:]", "10 rows"},
        {"[:-9223372036854775808]", "10 rows"},
        {"[:9223372036854775807]", "10 rows"},
        {"[:, 9223372036854775807]", "3 columns"},
        {"[1,2,3]", "no column '3': it has 3"},
        {"[:, 0:3:2]", "no column '0:3:2'"},
        {"[:, 0,width]", "no column 'width'"},
        {"[:, !0:3]", "no columns are left"},
    };
    static const char *const odd[] = {"[]",      "[a:b]",     "[1:2:0]",
                                      "[::-1]",  "[1:2:3:4]", "[1:99999999999999999999]",
                                      "[1.5:2]", "[0:9",      "[0:9, 2"};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    put_table(ctx, dir, "table.csv", path);
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++) {
        snprintf(where, sizeof where, "%s%s", path, outside[k][0]);
        table_refused(ctx, where, NULL, DKM_ERR_ARG, where, outside[k][1]);
    }
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        snprintf(where, sizeof where, "%s%s", path, odd[k]);
        table_refused(ctx, where, NULL, DKM_ERR_ARG, where, "cannot read the slice");
    }
    files_close(ctx, dir);
}

static void a_file_whose_name_has_brackets_is_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    put_table(ctx, dir, "odd[2:3]", path);
    table_check(ctx, path, "dense", DKM_DENSE, (table_part){0, 1, 10, 0, 3});
    snprintf(where, sizeof where, "%s[2:3]", path);
    table_check(ctx, where, "dense", DKM_DENSE, (table_part){2, 1, 1, 0, 3});
    files_close(ctx, dir);
}

static void bad_names_and_types_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    snprintf(where, sizeof where, "%s[0:3]", files_name(dir, "none.npy", path));
    table_refused(ctx, where, NULL, DKM_ERR_IO, "none.npy: No such file", "check the name");
    table_refused(ctx, dir, NULL, DKM_ERR_IO, "is a directory", dir);
    table_refused(ctx, "", NULL, DKM_ERR_IO, "No such file", "");
    files_put(ctx, dir, "empty.npy", "", 0, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "empty.npy is empty", "");
    put_table(ctx, dir, "table.xyz", path);
    table_refused(ctx, path, NULL, DKM_ERR_ARG, "table.xyz", ".npy");
    table_refused(ctx, path, "dance", DKM_ERR_ARG, "'dance'", "label-sets");
    files_close(ctx, dir);
}

static void a_file_closed_to_us_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_table(ctx, dir, "closed.csv", path);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(chmod(path, 0) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    if (geteuid() != 0)
        table_refused(ctx, path, NULL, DKM_ERR_IO, "closed.csv", "Permission denied");
    files_close(ctx, dir);
}

static void stretches_outside_are_refused(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_source *source = NULL;
    dkm_data *data = NULL;

    files_open(ctx, dir);
    put_table(ctx, dir, "table.csv", path);
    CHECK_OK(ctx, dkm_source_open(ctx, path, DKM_INPUTS, NULL, &source));
    CHECK(dkm_source_read(source, 8, 3, &data) == DKM_ERR_ARG && data == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "it has 10") != NULL);
    CHECK(dkm_source_read(source, -1, 3, &data) == DKM_ERR_ARG && data == NULL);
    CHECK_OK(ctx, dkm_source_read(source, 10, 0, &data));
    CHECK(dkm_data_rows(data) == 0 && dkm_data_cols(data) == 3);
    dkm_data_destroy(&data);
    dkm_source_close(&source);
    files_close(ctx, dir);
}

/* Sum of all labels of all sets, and how many there are, over the ranks. */
static void sum_labels(const dkm_data *data, dkm_idx sums[2])
{
    dkm_idx mine[2] = {0, data->mine.start[data->mine.n]};

    for (dkm_idx k = 0; k < mine[1]; k++)
        mine[0] += data->mine.col[k];
    MPI_Allreduce(mine, sums, 2, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(dkm_data_ctx(data)));
}

static void check_sets(dkm_ctx *ctx, const char *where, dkm_idx rows, dkm_idx cols, dkm_idx sum,
                       dkm_idx count)
{
    dkm_idx sums[2] = {-1, -1};
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_OUTPUTS, "label-sets", &data));
    if (!data)
        return;
    sum_labels(data, sums);
    CHECK(dkm_data_type(data) == DKM_LABEL_SETS && dkm_data_rows(data) == rows);
    CHECK(dkm_data_cols(data) == cols && sums[0] == sum && sums[1] == count);
    dkm_data_destroy(&data);
}

static void label_sets_are_read_from_text(dkm_ctx *ctx)
{
    static const char text[] = "1,3 2\n\n7, 7 1\n0\n";
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    files_put(ctx, dir, "sets.csv", text, sizeof text - 1, path);
    check_sets(ctx, path, 4, 8, 14, 6);
    snprintf(where, sizeof where, "%s[::2, 1:4]", path);
    check_sets(ctx, where, 2, 3, 0 + 1 + 2 + 0, 4);
    files_put(ctx, dir, "bad.txt", "1 2\n3 4x\n", 10, path);
    table_refused(ctx, path, "label-sets", DKM_ERR_FORMAT, "bad.txt:2:", "'4x'");
    files_put(ctx, dir, "bad.txt", "1 2\n-3\n", 7, path);
    table_refused(ctx, path, "label-sets", DKM_ERR_FORMAT, "bad.txt:2:", "from 0");
    files_close(ctx, dir);
}

static void a_type_says_what_text_is(dkm_ctx *ctx)
{
    static const char *const types[] = {"strings", "sets", "label-sets"};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    put_table(ctx, dir, "table.txt", path);
    table_check(ctx, path, "dense", DKM_DENSE, (table_part){0, 1, 10, 0, 3});
    snprintf(where, sizeof where, "%s[:, 1]", path);
    table_check(ctx, where, "labels", DKM_LABELS, (table_part){0, 1, 10, 1, 1});
    put_table(ctx, dir, "table.csv", path);
    for (int k = 0; k < 3; k++) {
        dkm_data *data = NULL;
        CHECK_OK(ctx, dkm_data_read(ctx, path, DKM_INPUTS, types[k], &data));
        CHECK(data && dkm_data_type(data) == dkm_type_from_name(types[k]));
        CHECK(data && dkm_data_rows(data) == 10);
        dkm_data_destroy(&data);
    }
    snprintf(where, sizeof where, "%s[:, 0:1]", path);
    table_refused(ctx, where, "strings", DKM_ERR_ARG, "strings", "no columns");
    files_close(ctx, dir);
}

/* Rows that are their own numbers. */
static dkm_local count_rows(void *user, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    dkm_local local = dkm_objs_init(objs, user, DKM_DENSE, count, 1, 0);

    for (dkm_idx i = 0; local.code == DKM_OK && i < count; i++)
        objs->values[i] = (double)(first + i);
    return local;
}

/* However many ranks of a node could read. */
static void a_bounded_number_of_ranks_reads_for_all(dkm_ctx *ctx)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    for (int most = 1; most <= size; most++) {
        dkm_readers r;
        dkm_objs objs = {0};
        int reading;

        CHECK_OK(ctx, dkm_readers_open(&r, ctx, size, most));
        reading = r.readers != NULL;
        CHECK(rank != 0 || reading);
        MPI_Allreduce(MPI_IN_PLACE, &reading, 1, MPI_INT, MPI_SUM, dkm_ctx_comm(ctx));
        CHECK(reading == most);
        CHECK_OK(ctx, dkm_agree(ctx, dkm_readers_read(&r, count_rows, ctx, DKM_DENSE, 10 * rank,
                                                      rank, &objs)));
        CHECK(objs.n == rank);
        for (dkm_idx i = 0; i < objs.n; i++)
            CHECK(objs.values[i] == (double)(10 * rank + i));
        dkm_objs_clear(&objs);
        dkm_readers_close(&r);
    }
}

static const check_case cases[] = {
    CASE(a_bounded_number_of_ranks_reads_for_all),
    CASE(label_sets_are_read_from_text),
    CASE(a_type_says_what_text_is),
    CASE(slices_follow_numpy),
    CASE(slices_that_do_not_fit_are_told),
    CASE(bad_names_and_types_are_told),
    CASE(a_file_whose_name_has_brackets_is_read),
    CASE(a_file_closed_to_us_is_told),
    CASE(stretches_outside_are_refused),
};

CHECK_MAIN(cases)
