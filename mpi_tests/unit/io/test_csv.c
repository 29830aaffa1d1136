#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_table.h"

/* The table as text: numbers between @p separator. */
static char *put_table(dkm_ctx *ctx, const char *dir, const char *name, const char *separator,
                       const char *end, dkm_idx m, dkm_idx d, char path[FILES_PATH])
{
    char *text = malloc((size_t)(m * d) * 8 + 1024);
    size_t used = 0;

    for (dkm_idx i = 0; i < m; i++)
        for (dkm_idx j = 0; j < d; j++)
            used += (size_t)snprintf(text + used, 32, "%g%s", table_value(i, j),
                                     j + 1 < d ? separator : end);
    files_put(ctx, dir, name, text, used, path);
    free(text);
    return path;
}

static char *put_text(dkm_ctx *ctx, const char *dir, const char *name, const char *text,
                      char path[FILES_PATH])
{
    return files_put(ctx, dir, name, text, strlen(text), path);
}

static void tables_are_read_whatever_separates_them(dkm_ctx *ctx)
{
    static const char *const ways[][3] = {{"a.csv", ",", "\n"},    {"b.csv", ";", "\r\n"},
                                          {"c.tsv", "\t", "\n"},   {"d.csv", " , ", "\n"},
                                          {"e.CSV", "\t", "\n\n"}, {"f.csv.gz", ",", "\n"},
                                          {"g.dat", " ", "\n"},    {"h.txt", "  \t", " \r\n"}};
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int k = 0; k < 8; k++) {
        put_table(ctx, dir, ways[k][0], ways[k][1], ways[k][2], 37, 6, path);
        table_check(ctx, path, "dense", DKM_DENSE, (table_part){0, 1, 37, 0, 6});
        snprintf(where, sizeof where, "%s[-30::3, 1:4]", path);
        table_check(ctx, where, "distance", DKM_DISTANCE, (table_part){7, 3, 10, 1, 3});
    }
    files_close(ctx, dir);
}

static void large_tables_are_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    put_table(ctx, dir, "large.csv", ",", "\n", 6000, 60, path);
    table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 6000, 0, 60});
    snprintf(where, sizeof where, "%s[5:5990:700, 59:60]", path);
    table_check(ctx, where, "labels", DKM_LABELS, (table_part){5, 700, 9, 59, 1});
    put_table(ctx, dir, "wide.csv", ",", "\n", 3, 150000, path);
    table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 3, 0, 150000});
    files_close(ctx, dir);
}

static const double small[3][2] = {{1.5, -2.0}, {0.25, 3e-300}, {123456789.123456789, 1e22}};

static void check_small(dkm_ctx *ctx, const char *dir, const char *text)
{
    char path[FILES_PATH];
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_data_read(ctx, put_text(ctx, dir, "small.csv", text, path), DKM_INPUTS, NULL,
                                &data));
    if (!data)
        return;
    CHECK(dkm_data_rows(data) == 3 && dkm_data_cols(data) == 2);
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
        for (dkm_idx j = 0; j < 2; j++)
            CHECK_CLOSE(dkm_data_values(data)[2 * i + j], small[dkm_data_local_first(data) + i][j],
                        0.0);
    dkm_data_destroy(&data);
}

static void names_quotes_comments_and_blank_lines_are_understood(dkm_ctx *ctx)
{
    char dir[FILES_PATH];

    files_open(ctx, dir);
    check_small(ctx, dir, "1.5,-2\n.25,3e-300\n123456789.123456789,1e22\n");
    check_small(ctx, dir, "1.5,-2\n.25,3e-300\n123456789.123456789,1e22");
    check_small(ctx, dir, "x,y\r\n+1.5,-2.\r\n0.25,3E-300\r\n123456789.123456789,1e22\r\n\r\n");
    check_small(ctx, dir,
                "\"a, b\",\"c\"\n\"1.5\",\"-2\"\n0.25,3e-300\n123456789.123456789,1e22\n");
    check_small(ctx, dir,
                "# made by hand\n\n1.5,-2\n#\n 0.25 , 3e-300 \n123456789.123456789,1e22\n");
    check_small(ctx, dir,
                "\xef\xbb\xbf"
                "1.5;-2\n0.25;3e-300\n123456789.123456789;1e22\n");
    files_close(ctx, dir);
}

static void a_table_of_names_only_has_no_rows(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_text(ctx, dir, "names.csv", "a,b,c\n", path);
    table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 0, 0, 3});
    files_close(ctx, dir);
}

static int warnings;

static void count_warning(void *user, dkm_level level, const char *text)
{
    (void)user;
    warnings += level == DKM_WARN && strstr(text, ":1 is taken as names") != NULL;
}

static void a_first_line_of_words_and_numbers_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_data *data = NULL;

    files_open(ctx, dir);
    put_text(ctx, dir, "years.csv", "name,1999,2000\n1,2,3\n", path);
    warnings = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = count_warning});
    CHECK_OK(ctx, dkm_data_read(ctx, path, DKM_INPUTS, NULL, &data));
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    CHECK(warnings == (dkm_ctx_rank(ctx) == 0) && dkm_data_rows(data) == 1);
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

static void refuse(dkm_ctx *ctx, const char *dir, const char *text, const char *place,
                   const char *reason)
{
    char path[FILES_PATH];

    table_refused(ctx, put_text(ctx, dir, "bad.csv", text, path), NULL, DKM_ERR_FORMAT, place,
                  reason);
}

static void a_bad_line_is_told_with_its_place(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    refuse(ctx, dir, "a,b\n1,2\n3,4\n5,6,7\n", "bad.csv:4:", "3 fields where the first row has 2");
    refuse(ctx, dir, "1,2\n3\n", "bad.csv:2:", "1 fields where the first row has 2");
    refuse(ctx, dir, "1,2\n3,\n", "bad.csv:2: column 2", "is empty");
    refuse(ctx, dir, "1,,2\n3,4,5\n", "bad.csv:1: column 2", "is empty");
    refuse(ctx, dir, "1,2\n\n3,4\n5,six\n", "bad.csv:4: column 2", "'six'");
    refuse(ctx, dir, "1,2\n3 4,5\n", "bad.csv:2: column 1", "'3 4'");
    refuse(ctx, dir, "1,2\n\"3,5\n", "bad.csv:2:", "1 fields");
    refuse(ctx, dir, "1,2\n3,nan\n", "bad.csv:2: column 2", "NaN");
    refuse(ctx, dir, "1,2\n-inf,3\n", "bad.csv:2: column 1", "Inf");
    refuse(ctx, dir, "1,2\n1e999,3\n", "bad.csv:2: column 1", "Inf");
    refuse(ctx, dir, "\n# nothing\n", "bad.csv", "no rows");
    put_text(ctx, dir, "half.csv", "1\n2\n2.5\n", path);
    table_refused(ctx, path, "labels", DKM_ERR_FORMAT, "half.csv:3:", "class label");
    files_close(ctx, dir);
}

static void columns_not_asked_for_may_hold_words(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];
    dkm_data *data = NULL;

    files_open(ctx, dir);
    put_text(ctx, dir, "mixed.csv", "who,x,y\nann,1,nan\n\"b, c\",2,\n", path);
    snprintf(where, sizeof where, "%s[:, 1]", path);
    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, NULL, &data));
    CHECK(data && dkm_data_rows(data) == 2 && dkm_data_cols(data) == 1);
    for (dkm_idx i = 0; data && i < dkm_data_local_rows(data); i++)
        CHECK(dkm_data_values(data)[i] == (double)(1 + i + dkm_data_local_first(data)));
    dkm_data_destroy(&data);
    files_close(ctx, dir);
}

static void every_allocation_of_a_read_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_table(ctx, dir, "table.csv", ",", "\n", 20, 4, path);
    files_read_allocations(ctx, path);
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(tables_are_read_whatever_separates_them),
    CASE(large_tables_are_read),
    CASE(names_quotes_comments_and_blank_lines_are_understood),
    CASE(a_table_of_names_only_has_no_rows),
    CASE(a_first_line_of_words_and_numbers_is_told),
    CASE(a_bad_line_is_told_with_its_place),
    CASE(columns_not_asked_for_may_hold_words),
    CASE(every_allocation_of_a_read_may_fail),
};

CHECK_MAIN(cases)
