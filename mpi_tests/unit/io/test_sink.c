#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "data/builder.h"
#include "io/writers/sink.h"
#include "support/check.h"
#include "support/fixture_files.h"

enum { COLS = 4 };

/* What object g of each type is: numbers with all their digits, sets and strings some of them
 * empty, sparse rows that use their last column. */
static double real_of(dkm_idx g, dkm_idx k)
{
    return dkm_random_normal(1, 2, (uint64_t)g, (uint64_t)k) * (k % 2 ? 1e-7 : 1e12);
}

static dkm_idx length_of(dkm_idx g)
{
    return g % 5 == 2 ? 0 : 1 + g % 3;
}

static dkm_local grow_object(dkm_builder *g, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;
    char word[32];

    for (dkm_idx k = 0; k < length_of(i); k++) {
        snprintf(word, sizeof word, "%sw%lld", k ? " " : "", (long long)(i % 4 + k));
        if (g->objs->bytes)
            DKM_STEP(dkm_builder_bytes(g, word, (dkm_idx)strlen(word)));
        else
            DKM_STEP(dkm_builder_entry(g, k == 0 ? 0 : COLS - length_of(i) + k, real_of(i, k)));
    }
    dkm_builder_next(g);
out:
    return local;
}

static dkm_local make_values(dkm_ctx *ctx, dkm_type type, dkm_idx first, dkm_idx n, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = type == DKM_LABELS ? 1 : COLS;

    DKM_STEP(dkm_objs_init(objs, ctx, type, n, d, 0));
    for (dkm_idx k = 0; k < n * d; k++)
        objs->values[k] = type == DKM_LABELS ? (double)((first + k) * 1234567 - 99)
                                             : real_of(first + k / d, k % d);
out:
    return local;
}

/* Objects [first, first + n) of the world. */
static dkm_local make_objects(dkm_ctx *ctx, dkm_type type, dkm_idx first, dkm_idx n, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_builder g;

    if (dkm_type_storage_form(type) == DKM_STORED_VALUES) {
        DKM_STEP(make_values(ctx, type, first, n, objs));
        goto out;
    }
    DKM_STEP(dkm_builder_begin(&g, objs, ctx, type, n,
                               dkm_type_storage_form(type) == DKM_STORED_LISTS ? COLS : 0));
    for (dkm_idx i = 0; i < n; i++)
        DKM_STEP(grow_object(&g, first + i));
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

static dkm_status make_data(dkm_ctx *ctx, dkm_type type, dkm_idx first, dkm_idx m, dkm_data **data)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, make_objects(ctx, type, first + dkm_slab_first(m, rank, size),
                                dkm_slab_count(m, rank, size), &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

static int same_array(const void *a, const void *b, dkm_idx n, size_t size)
{
    return !a == !b && (!a || memcmp(a, b, (size_t)n * size) == 0);
}

static int same_objects(const dkm_objs *a, const dkm_objs *b)
{
    dkm_idx items = a->start ? a->start[a->n] : 0;

    return a->type == b->type && a->n == b->n && a->d == b->d &&
           same_array(a->start, b->start, a->n + 1, sizeof *a->start) &&
           same_array(a->values, b->values, a->n * a->d, sizeof *a->values) &&
           same_array(a->col, b->col, items, sizeof *a->col) &&
           same_array(a->val, b->val, items, sizeof *a->val) &&
           same_array(a->bytes, b->bytes, items, 1);
}

/* Read a file and compare it with the first m objects of the world. */
static void check_file(dkm_ctx *ctx, const char *where, dkm_type type, dkm_idx m)
{
    dkm_data *want = NULL, *got = NULL;

    CHECK_OK(ctx, make_data(ctx, type, 0, m, &want));
    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, dkm_type_name(type), &got));
    if (!got || dkm_data_rows(got) != m || !same_objects(&want->mine, &got->mine))
        check_failed(__FILE__, __LINE__, "%s: %lld %s do not read back", where, (long long)m,
                     dkm_type_name(type));
    dkm_data_destroy(&got);
    dkm_data_destroy(&want);
}

static const struct {
    const char *name;
    dkm_type type;
} ways[] = {
    {"out.npy", DKM_DENSE},  {"out.npy", DKM_LABELS},     {"out.npy", DKM_GRAM},
    {"out.h5", DKM_DENSE},   {"out.h5", DKM_LABELS},      {"out.hdf5:/a/b", DKM_DISTANCE},
    {"out.csv", DKM_DENSE},  {"out.csv", DKM_LABELS},     {"out.csv", DKM_LABEL_SETS},
    {"out.tsv", DKM_DENSE},  {"out.tsv", DKM_LABEL_SETS}, {"out.txt", DKM_DENSE},
    {"out.txt", DKM_LABELS}, {"out.txt", DKM_LABEL_SETS}, {"out.txt", DKM_STRINGS},
    {"out.txt", DKM_SETS},   {"out.sets", DKM_SETS},      {"out.svm", DKM_SPARSE},
};

enum { WAYS = sizeof ways / sizeof *ways };

static void whatever_is_written_reads_back(dkm_ctx *ctx)
{
    char dir[FILES_PATH], where[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < WAYS; k++)
        for (dkm_idx m = 61; m > 0; m /= 3) {
            dkm_data *data = NULL;
            if (m == 20 || (m == 2 && k % 2))
                continue;
            files_name(dir, ways[k].name, where);
            CHECK_OK(ctx, make_data(ctx, ways[k].type, 0, m, &data));
            CHECK_OK(ctx, dkm_data_write(data, where));
            dkm_data_destroy(&data);
            check_file(ctx, where, ways[k].type, m);
        }
    CHECK(files_count(ctx, dir) == 8);
    files_close(ctx, dir);
}

static void stretches_follow_each_other(dkm_ctx *ctx)
{
    enum { M = 47 };
    char dir[FILES_PATH], where[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < WAYS; k++) {
        dkm_idx d = ways[k].type == DKM_LABELS ? 1 : COLS, count = 0;
        dkm_sink *sink = NULL;
        files_name(dir, ways[k].name, where);
        CHECK_OK(ctx, dkm_sink_open(ctx, where, ways[k].type, M, d, &sink));
        for (dkm_idx first = 0; first < M; first += count, count += 3) {
            dkm_data *data = NULL;
            count = M - first < count ? M - first : count;
            CHECK_OK(ctx, make_data(ctx, ways[k].type, first, count, &data));
            CHECK_OK(ctx, dkm_sink_write(sink, data));
            dkm_data_destroy(&data);
        }
        CHECK_OK(ctx, dkm_sink_commit(sink));
        dkm_sink_close(&sink);
        check_file(ctx, where, ways[k].type, M);
    }
    files_close(ctx, dir);
}

static void nothing_can_be_written(dkm_ctx *ctx)
{
    static const int binary[] = {0, 1, 3, 4};
    char dir[FILES_PATH], where[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < WAYS; k++) {
        dkm_data *data = NULL;
        CHECK_OK(ctx, make_data(ctx, ways[k].type, 0, 0, &data));
        CHECK_OK(ctx, dkm_data_write(data, files_name(dir, ways[k].name, where)));
        dkm_data_destroy(&data);
    }
    for (int k = 0; k < 4; k++) {
        dkm_data *data = NULL;
        CHECK_OK(ctx, make_data(ctx, ways[binary[k]].type, 0, 0, &data));
        files_name(dir, ways[binary[k]].name, where);
        CHECK_OK(ctx, dkm_data_write(data, where));
        dkm_data_destroy(&data);
        check_file(ctx, where, ways[binary[k]].type, 0);
    }
    files_close(ctx, dir);
}

static void numbers_are_written_in_few_digits(dkm_ctx *ctx)
{
    static const char want[] = "0.1,-3\n1e+300,0.30000000000000004\n-0,1e+15\n";
    static const double values[] = {0.1, -3.0, 1e300, 0.1 + 0.2, -0.0, 1e15};
    char dir[FILES_PATH], where[FILES_PATH], got[64] = "";
    dkm_data *data = NULL;
    FILE *file;

    files_open(ctx, dir);
    files_name(dir, "few.csv", where);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 3, 2, &data));
    for (dkm_idx k = 0; k < 2 * dkm_data_local_rows(data); k++)
        dkm_data_values(data)[k] = values[2 * dkm_data_local_first(data) + k];
    CHECK_OK(ctx, dkm_data_write(data, where));
    file = fopen(where, "r");
    CHECK(file && fread(got, 1, sizeof got - 1, file) == strlen(want) && strcmp(got, want) == 0);
    fclose(file);
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

/* More text than the buffer holds, and strings longer than it. */
static void long_texts_are_written(dkm_ctx *ctx)
{
    enum { M = 7, LENGTH = 1500000 };
    char dir[FILES_PATH], where[FILES_PATH];
    dkm_data *data = NULL, *got = NULL;
    dkm_objs objs = {0};
    dkm_idx n = dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    files_open(ctx, dir);
    CHECK(dkm_objs_init(&objs, ctx, DKM_STRINGS, n, 0, n * LENGTH).code == DKM_OK);
    for (dkm_idx i = 0; i < n; i++) {
        objs.start[i + 1] = objs.start[i] + LENGTH;
        memset(objs.bytes + objs.start[i], 'a' + (int)i, LENGTH);
    }
    CHECK_OK(ctx, dkm_data_wrap(ctx, M, &objs, &data));
    CHECK_OK(ctx, dkm_data_write(data, files_name(dir, "long.txt", where)));
    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, NULL, &got));
    CHECK(got && same_objects(&got->mine, &data->mine));
    dkm_data_destroy(&got);
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

static void refuse(dkm_ctx *ctx, const char *where, dkm_type type, dkm_status status,
                   const char *word)
{
    dkm_data *data = NULL;

    CHECK_OK(ctx, make_data(ctx, type, 0, 5, &data));
    CHECK(dkm_data_write(data, where) == status);
    if (!strstr(dkm_ctx_message(ctx), word))
        check_failed(__FILE__, __LINE__, "no '%s' in: %s", word, dkm_ctx_message(ctx));
    dkm_data_destroy(&data);
}

static void what_a_file_cannot_hold_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], where[FILES_PATH];

    files_open(ctx, dir);
    refuse(ctx, files_name(dir, "out.npy", where), DKM_STRINGS, DKM_ERR_UNSUPPORTED,
           "out.npy cannot hold strings: give a name that ends in .csv .tsv .txt");
    refuse(ctx, files_name(dir, "out.h5", where), DKM_LABEL_SETS, DKM_ERR_UNSUPPORTED,
           ".csv .tsv .txt");
    refuse(ctx, files_name(dir, "out.csv", where), DKM_GRAPH, DKM_ERR_UNSUPPORTED, "graph");
    refuse(ctx, files_name(dir, "out.xyz", where), DKM_DENSE, DKM_ERR_ARG, "known are .npy");
    refuse(ctx, files_name(dir, "no/out.npy", where), DKM_DENSE, DKM_ERR_IO, "make its directory");
    refuse(ctx, files_name(dir, "no/out.h5:/x", where), DKM_DENSE, DKM_ERR_IO, "no/out.h5");
    CHECK(files_count(ctx, dir) == 0);
    files_close(ctx, dir);
}

static void a_line_break_in_a_string_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], where[FILES_PATH];
    dkm_data *data = NULL;
    dkm_idx *start;

    files_open(ctx, dir);
    CHECK_OK(ctx, make_data(ctx, DKM_STRINGS, 0, 6, &data));
    start = data->mine.start;
    if (dkm_data_local_first(data) == 0 && dkm_data_local_rows(data) > 0 && start[1] > 0)
        data->mine.bytes[0] = '\n';
    CHECK(dkm_data_write(data, files_name(dir, "out.txt", where)) == DKM_ERR_UNSUPPORTED);
    CHECK(strstr(dkm_ctx_message(ctx), "line break") && files_count(ctx, dir) == 0);
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

static void a_sink_takes_what_it_was_opened_for(dkm_ctx *ctx)
{
    char dir[FILES_PATH], where[FILES_PATH];
    dkm_data *data = NULL, *other = NULL;
    dkm_sink *sink = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, make_data(ctx, DKM_DENSE, 0, 6, &data));
    CHECK_OK(ctx, make_data(ctx, DKM_LABELS, 0, 6, &other));
    files_name(dir, "out.npy", where);
    CHECK_OK(ctx, dkm_sink_open(ctx, where, DKM_DENSE, 10, COLS, &sink));
    CHECK(dkm_sink_write(sink, other) == DKM_ERR_ARG);
    CHECK_OK(ctx, dkm_sink_write(sink, data));
    CHECK(dkm_sink_write(sink, data) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "10 objects, not 12") != NULL);
    CHECK(dkm_sink_commit(sink) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "6 of 10") != NULL && !files_exist(ctx, where));
    dkm_sink_close(&sink);
    CHECK(files_count(ctx, dir) == 0);
    dkm_data_destroy(&other);
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

/* One rank alone meets a full disk, at every kind of file. */
static void a_full_disk_leaves_nothing(dkm_ctx *ctx)
{
    static const int some[] = {0, 1, 3, 6, 14};
    char dir[FILES_PATH], where[FILES_PATH];
    int full = open("/dev/full", O_WRONLY);

    files_open(ctx, dir);
    for (int k = 0; k < 5; k++) {
        dkm_data *data = NULL;
        dkm_sink *sink = NULL;
        CHECK_OK(ctx, make_data(ctx, ways[some[k]].type, 0, 20, &data));
        CHECK_OK(ctx, dkm_sink_open(ctx, files_name(dir, ways[some[k]].name, where),
                                    ways[some[k]].type, 20, dkm_data_cols(data), &sink));
        if (sink && dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) / 2)
            CHECK(dup2(full, sink->out.fd) >= 0);
        CHECK(dkm_sink_write(sink, data) == DKM_ERR_IO);
        CHECK(strstr(dkm_ctx_message(ctx), "No space left") != NULL);
        dkm_sink_close(&sink);
        dkm_data_destroy(&data);
        CHECK(files_count(ctx, dir) == 0);
    }
    close(full);
    files_close(ctx, dir);
}

/* HDF5 1.10 crashes when the program ends after it has failed to write: it must not come to that.
 */
static void a_full_disk_before_the_first_byte_of_hdf5_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], where[FILES_PATH];
    struct rlimit usual, tight;
    dkm_sink *sink = NULL;

    files_open(ctx, dir);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &usual);
    tight = usual;
    tight.rlim_cur = 512;
    if (dkm_ctx_rank(ctx) == 0)
        setrlimit(RLIMIT_FSIZE, &tight);
    CHECK(dkm_sink_open(ctx, files_name(dir, "x.h5", where), DKM_DENSE, 100, 3, &sink) ==
          DKM_ERR_IO);
    setrlimit(RLIMIT_FSIZE, &usual);
    CHECK(strstr(dkm_ctx_message(ctx), where) != NULL);
    CHECK(sink == NULL && files_count(ctx, dir) == 0);
    files_close(ctx, dir);
}

static char brutal_where[FILES_PATH];
static dkm_type brutal_type;

static dkm_status write_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_data *data = NULL;

    DKM_TRY(make_data(ctx, brutal_type, 0, 9, &data));
    DKM_TRY(dkm_data_write(data, brutal_where));
out:
    dkm_data_destroy(&data);
    return status;
}

static void every_allocation_of_a_write_may_fail(dkm_ctx *ctx)
{
    static const int some[] = {1, 5, 8};
    char dir[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < 3; k++) {
        files_name(dir, ways[some[k]].name, brutal_where);
        brutal_type = ways[some[k]].type;
        for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
            check_every_allocation(ctx, victim, write_under_pressure);
        check_file(ctx, brutal_where, brutal_type, 9);
    }
    CHECK(files_count(ctx, dir) == 3);
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(whatever_is_written_reads_back),
    CASE(stretches_follow_each_other),
    CASE(nothing_can_be_written),
    CASE(numbers_are_written_in_few_digits),
    CASE(long_texts_are_written),
    CASE(what_a_file_cannot_hold_is_told),
    CASE(a_line_break_in_a_string_is_told),
    CASE(a_sink_takes_what_it_was_opened_for),
    CASE(a_full_disk_before_the_first_byte_of_hdf5_is_told),
    CASE(a_full_disk_leaves_nothing),
    CASE(every_allocation_of_a_write_may_fail),
};

CHECK_MAIN(cases)
