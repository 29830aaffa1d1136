#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/formats/numbers.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_table.h"

/* An npy file in memory, made the obvious way. */
typedef struct image {
    char *bytes;
    size_t count;
} image;

static image begin_image(int version, const char *dictionary)
{
    size_t length = strlen(dictionary), start = version == 1 ? 10 : 12;
    image made = {calloc(1, 1 << 23), start + length};
    unsigned char *b = (unsigned char *)made.bytes;

    memcpy(b, "\x93NUMPY", 6);
    b[6] = (unsigned char)version;
    b[8] = (unsigned char)(length & 0xff);
    b[9] = (unsigned char)(length >> 8);
    memcpy(b + start, dictionary, length);
    return made;
}

static void add_number(image *made, dkm_number number, int reversed, double value)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        char bytes[8];
    } raw;
    int width = (int)dkm_number_bytes(number);

    switch (number) {
    case DKM_NUMBER_I8:
        raw.i8 = (int8_t)value;
        break;
    case DKM_NUMBER_U8:
        raw.u8 = (uint8_t)value;
        break;
    case DKM_NUMBER_I16:
        raw.i16 = (int16_t)value;
        break;
    case DKM_NUMBER_U16:
        raw.u16 = (uint16_t)value;
        break;
    case DKM_NUMBER_I32:
        raw.i32 = (int32_t)value;
        break;
    case DKM_NUMBER_U32:
        raw.u32 = (uint32_t)value;
        break;
    case DKM_NUMBER_I64:
        raw.i64 = (int64_t)value;
        break;
    case DKM_NUMBER_U64:
        raw.u64 = (uint64_t)value;
        break;
    case DKM_NUMBER_F32:
        raw.f32 = (float)value;
        break;
    default:
        raw.f64 = value;
        break;
    }
    for (int k = 0; k < width; k++)
        made->bytes[made->count++] = raw.bytes[reversed ? width - 1 - k : k];
}

static char *put_image(dkm_ctx *ctx, const char *dir, const char *name, image *made,
                       char path[FILES_PATH])
{
    files_put(ctx, dir, name, made->bytes, made->count, path);
    free(made->bytes);
    return path;
}

/* A table of m x d in a file of any number type, order and byte order. */
static char *put_table(dkm_ctx *ctx, const char *dir, const char *descr, dkm_number number,
                       int fortran, dkm_idx m, dkm_idx d, char path[FILES_PATH])
{
    char dictionary[128];
    image made;

    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': %s, 'shape': (%lld, %lld), }  \n", descr,
             fortran ? "True" : "False", (long long)m, (long long)d);
    made = begin_image(1, dictionary);
    for (dkm_idx k = 0; k < m * d; k++)
        add_number(&made, number, (descr[0] == '>') == dkm_number_low_first() && descr[0] != '|',
                   fortran ? table_value(k % m, k / m) : table_value(k / d, k % d));
    return put_image(ctx, dir, "table.npy", &made, path);
}

static const struct {
    const char *descr;
    dkm_number number;
} kinds[] = {
    {"<f8", DKM_NUMBER_F64}, {">f8", DKM_NUMBER_F64}, {"<f4", DKM_NUMBER_F32},
    {">f4", DKM_NUMBER_F32}, {"<i8", DKM_NUMBER_I64}, {">i8", DKM_NUMBER_I64},
    {"<u8", DKM_NUMBER_U64}, {">u8", DKM_NUMBER_U64}, {"<i4", DKM_NUMBER_I32},
    {">i4", DKM_NUMBER_I32}, {"<u4", DKM_NUMBER_U32}, {">u4", DKM_NUMBER_U32},
    {"<i2", DKM_NUMBER_I16}, {">i2", DKM_NUMBER_I16}, {"<u2", DKM_NUMBER_U16},
    {">u2", DKM_NUMBER_U16}, {"|i1", DKM_NUMBER_I8},  {"|u1", DKM_NUMBER_U8},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void every_number_type_and_order_is_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int k = 0; k < KINDS; k++)
        for (int fortran = 0; fortran < 2; fortran++) {
            put_table(ctx, dir, kinds[k].descr, kinds[k].number, fortran, 29, 7, path);
            table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 29, 0, 7});
            snprintf(where, sizeof where, "%s[3:-2:4, 2:5]", path);
            table_check(ctx, where, NULL, DKM_DENSE, (table_part){3, 4, 6, 2, 3});
        }
    files_close(ctx, dir);
}

/* Rows far apart, rows longer than the buffer and strips longer than theirs. */
static void large_files_are_read_in_pieces(dkm_ctx *ctx)
{
    static const dkm_idx sizes[][2] = {{3, 140000}, {20000, 20}, {90, 2500}, {1, 1}};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int k = 0; k < 4; k++)
        for (int fortran = 0; fortran < 2; fortran++) {
            dkm_idx m = sizes[k][0], d = sizes[k][1];
            put_table(ctx, dir, ">f8", DKM_NUMBER_F64, fortran, m, d, path);
            table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, m, 0, d});
            snprintf(where, sizeof where, "%s[::2, %lld:]", path, (long long)d / 3);
            table_check(ctx, where, "gram", DKM_GRAM,
                        (table_part){0, 2, (m + 1) / 2, d / 3, d - d / 3});
        }
    files_close(ctx, dir);
}

static void tables_of_no_rows_or_columns_are_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    for (int fortran = 0; fortran < 2; fortran++) {
        put_table(ctx, dir, "<f4", DKM_NUMBER_F32, fortran, 0, 7, path);
        table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 0, 0, 7});
        put_table(ctx, dir, "<f8", DKM_NUMBER_F64, fortran, 7, 0, path);
        table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 7, 0, 0});
        put_table(ctx, dir, "<f4", DKM_NUMBER_F32, fortran, 5, 0, path);
        table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 5, 0, 0});
    }
    files_close(ctx, dir);
}

static void one_dimension_is_labels_or_a_column(dkm_ctx *ctx)
{
    static const char *const descrs[] = {"|b1", "<i8", "<f4"};
    static const dkm_number numbers[] = {DKM_NUMBER_U8, DKM_NUMBER_I64, DKM_NUMBER_F32};
    char dir[FILES_PATH], path[FILES_PATH], dictionary[128];

    files_open(ctx, dir);
    for (int k = 0; k < 3; k++) {
        image made;
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (13,), }\n", descrs[k]);
        made = begin_image(1 + k, dictionary);
        for (dkm_idx i = 0; i < 13; i++)
            add_number(&made, numbers[k], 0, table_value(i, 0));
        put_image(ctx, dir, "line.npy", &made, path);
        table_check(ctx, path, NULL, k < 2 ? DKM_LABELS : DKM_DENSE, (table_part){0, 1, 13, 0, 1});
        table_check(ctx, path, "dense", DKM_DENSE, (table_part){0, 1, 13, 0, 1});
        table_check(ctx, path, "labels", DKM_LABELS, (table_part){0, 1, 13, 0, 1});
    }
    files_close(ctx, dir);
}

/* Entry (i, j, k) of 6 x 3 x 4 numbers is entry (i, 4 j + k) of the table, in either order. */
static void three_dimensions_are_rows(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], dictionary[128];

    files_open(ctx, dir);
    for (int fortran = 0; fortran < 2; fortran++) {
        image made;
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '<f8', 'fortran_order': %s, 'shape': (6, 3, 4), }\n",
                 fortran ? "True" : "False");
        made = begin_image(2, dictionary);
        for (dkm_idx k = 0; k < 72; k++)
            add_number(&made, DKM_NUMBER_F64, 0,
                       fortran ? table_value(k % 6, k / 6 % 3 * 4 + k / 18)
                               : table_value(k / 12, k % 12));
        put_image(ctx, dir, "cube.npy", &made, path);
        table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 6, 0, 12});
    }
    files_close(ctx, dir);
}

static void refuse_header(dkm_ctx *ctx, const char *dir, const char *dictionary, const char *word)
{
    char path[FILES_PATH];
    image made = begin_image(1, dictionary);

    for (int k = 0; k < 100; k++)
        add_number(&made, DKM_NUMBER_F64, 0, 1.0);
    put_image(ctx, dir, "bad.npy", &made, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "bad.npy", word);
}

static void a_header_that_cannot_be_read_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    refuse_header(ctx, dir, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", "'<f2'");
    refuse_header(ctx, dir, "{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }",
                  "astype(float)");
    refuse_header(ctx, dir, "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "'|O'");
    refuse_header(ctx, dir, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
                  "several fields");
    refuse_header(ctx, dir, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                  "a single number");
    refuse_header(ctx, dir, "{'descr': '<f8', 'fortran_order': False, }", "no shape");
    refuse_header(ctx, dir, "{'descr': '<f8', 'shape': (3,), }", "no fortran_order");
    refuse_header(ctx, dir, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, x), }",
                  "integers");
    files_put(ctx, dir, "words.npy", "these are not the rows you look for", 35, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "words.npy", "is no npy file");
    files_put(ctx, dir, "torn.npy", "\x93NUMPY\x01\x00\x76\x00{'descr'", 18, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "torn.npy", "cut short");
    files_put(ctx, dir, "new.npy", "\x93NUMPY\x09\x00\x76\x00{'descr'", 18, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "new.npy", "version 9");
    files_close(ctx, dir);
}

static void a_file_cut_short_is_told(dkm_ctx *ctx)
{
    static const char dictionary[] =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9, 4), }\n";
    char dir[FILES_PATH], path[FILES_PATH];
    image made = begin_image(1, dictionary);

    files_open(ctx, dir);
    for (int k = 0; k < 35; k++)
        add_number(&made, DKM_NUMBER_F64, 0, 1.0);
    put_image(ctx, dir, "short.npy", &made, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "short.npy is cut short", "it has 350");
    files_close(ctx, dir);
}

static void put_value(dkm_ctx *ctx, const char *dir, double value, char path[FILES_PATH])
{
    static const char dictionary[] =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9, 4), }\n";
    image made = begin_image(1, dictionary);

    for (int k = 0; k < 36; k++)
        add_number(&made, DKM_NUMBER_F64, 0, k == 30 ? value : 1.0);
    put_image(ctx, dir, "odd.npy", &made, path);
}

static void numbers_that_are_none_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];
    dkm_data *data = NULL;

    files_open(ctx, dir);
    put_value(ctx, dir, NAN, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "odd.npy: row 7, column 2", "NaN");
    snprintf(where, sizeof where, "%s[1::2, 1:]", path);
    table_refused(ctx, where, NULL, DKM_ERR_FORMAT, "odd.npy: row 7, column 2", "NaN");
    snprintf(where, sizeof where, "%s[:, 0:2]", path);
    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, NULL, &data));
    dkm_data_destroy(&data);
    put_value(ctx, dir, -INFINITY, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "odd.npy: row 7, column 2", "Inf");
    put_value(ctx, dir, 0.5, path);
    snprintf(where, sizeof where, "%s[:, 2]", path);
    table_refused(ctx, where, "labels", DKM_ERR_FORMAT, "row 7, column 2 is 0.5", "class label");
    table_refused(ctx, path, "labels", DKM_ERR_ARG, "4 columns", "labels");
    table_refused(ctx, path, "strings", DKM_ERR_ARG, "odd.npy holds numbers", "strings");
    files_close(ctx, dir);
}

static void every_allocation_of_a_read_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_table(ctx, dir, "<f4", DKM_NUMBER_F32, 1, 20, 4, path);
    files_read_allocations(ctx, path);
    files_close(ctx, dir);
}

/* First of the cases, as the peak is that of the context's whole life: a rank that reads holds its
 * share of the file, the buffer of 1 MiB and little else. */
static void a_rank_holds_its_share_and_a_buffer(dkm_ctx *ctx)
{
    enum { M = 7000, D = 60 };
    static const char *const descrs[] = {"<f8", ">i4"};
    static const dkm_number numbers[] = {DKM_NUMBER_F64, DKM_NUMBER_I32};
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < 4; k++) {
        int64_t share = (M / dkm_ctx_size(ctx) + 1) * D * (int64_t)sizeof(double);
        dkm_data *data = NULL;
        put_table(ctx, dir, descrs[k / 2], numbers[k / 2], k % 2, M, D, path);
        CHECK_OK(ctx, dkm_data_read(ctx, path, DKM_INPUTS, NULL, &data));
        CHECK(dkm_ctx_live_bytes(ctx) <= share + 4096);
        CHECK(dkm_ctx_peak_bytes(ctx) <= share + (1 << 20) + 8192);
        dkm_data_destroy(&data);
    }
    files_close(ctx, dir);
}

/* Steps whose product with the bytes of a row leaves 64 bits, or comes out as zero in them. */
static void steps_past_the_end_give_one_row(dkm_ctx *ctx)
{
    static const char *const slices[] = {"[0:41:1152921504606846976]", "[0:41:2305843009213693952]",
                                         "[0:41:576460752303423488]", "[0:41:9223372036854775807]"};
    static const char *const descrs[] = {"<f8", "<f4"};
    static const dkm_number numbers[] = {DKM_NUMBER_F64, DKM_NUMBER_F32};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 64];

    files_open(ctx, dir);
    for (int k = 0; k < 16; k++) {
        put_table(ctx, dir, descrs[k % 2], numbers[k % 2], k / 2 % 2, 41, 2, path);
        snprintf(where, sizeof where, "%s%s", path, slices[k / 4]);
        table_check(ctx, where, NULL, DKM_DENSE, (table_part){0, 1, 1, 0, 2});
    }
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(a_rank_holds_its_share_and_a_buffer),  CASE(every_number_type_and_order_is_read),
    CASE(large_files_are_read_in_pieces),       CASE(tables_of_no_rows_or_columns_are_read),
    CASE(one_dimension_is_labels_or_a_column),  CASE(three_dimensions_are_rows),
    CASE(a_header_that_cannot_be_read_is_told), CASE(a_file_cut_short_is_told),
    CASE(numbers_that_are_none_are_told),       CASE(every_allocation_of_a_read_may_fail),
    CASE(steps_past_the_end_give_one_row),
};

CHECK_MAIN(cases)
