#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <dkmap/random.h>

#include "io/text/records.h"
#include "support/check.h"
#include "support/fixture_files.h"

/* What a test file holds, line by line, as plain C sees it. */
typedef struct expected {
    dkm_idx count;
    const char *line[64]; /* first of each record */
    dkm_idx number[64];
} expected;

static void walk_all(dkm_ctx *ctx, const char *path, dkm_records_kind kind, const expected *want)
{
    dkm_records records = {0};
    dkm_text text = {0};
    dkm_idx length;
    char *line;

    CHECK_OK(ctx, dkm_records_index(&records, ctx, path, kind, 0, 1));
    CHECK(records.count == want->count);
    CHECK(dkm_text_open(&text, ctx, path).code == DKM_OK);
    for (dkm_idx k = want->count - 1; k >= 0; k--) {
        CHECK(dkm_records_seek(&records, &text, -1, k).code == DKM_OK);
        CHECK(dkm_text_next(&text, &line, &length).code == DKM_OK);
        if (strcmp(line, want->line[k]) != 0 || (size_t)length != strlen(line) ||
            text.number != want->number[k])
            check_failed(__FILE__, __LINE__, "%s: record %lld is '%s' at line %lld", path,
                         (long long)k, line, (long long)text.number);
    }
    dkm_text_close(&text);
    dkm_records_clear(&records);
}

static const expected all_lines = {
    7, {"one", "", "# two", "\t", ">three", "four", "five"}, {1, 2, 3, 4, 5, 6, 7}};
static const expected filled_lines = {4, {"one", ">three", "four", "five"}, {1, 5, 6, 7}};
static const expected headed_lines = {1, {">three"}, {5}};

static void walk_every_way(dkm_ctx *ctx, const char *path)
{
    walk_all(ctx, path, DKM_RECORDS_LINES, &all_lines);
    walk_all(ctx, path, DKM_RECORDS_FILLED, &filled_lines);
    walk_all(ctx, path, DKM_RECORDS_HEADED, &headed_lines);
}

static void records_are_found_whatever_the_line_ends(dkm_ctx *ctx)
{
    static const char *const texts[] = {"one\n\n# two\n\t\n>three\nfour\nfive\n",
                                        "one\n\n# two\n\t\n>three\nfour\nfive",
                                        "one\r\n\r\n# two\r\n\t\r\n>three\r\nfour\r\nfive\r\n",
                                        "\xef\xbb\xbfone\n\n# two\n\t\n>three\nfour\nfive\n"};
    static const char *const names[] = {"plain", "packed.gz"};
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    for (int k = 0; k < 4; k++)
        for (int z = 0; z < 2; z++)
            walk_every_way(ctx, files_put(ctx, dir, names[z], texts[k], strlen(texts[k]), path));
    files_close(ctx, dir);
}

/* Line k of the long file: its number, then up to 3000 letters. */
static size_t long_line(dkm_idx k, char *out)
{
    dkm_idx letters = k == 700 ? 600000 : dkm_random_below(3, 0, (uint64_t)k, 3000);
    int head = snprintf(out, 32, "%lld ", (long long)k);

    memset(out + head, 'a' + (int)(k % 26), (size_t)letters);
    return (size_t)(head + letters);
}

enum { LONG_LINES = 1500 };

static char *put_long_file(dkm_ctx *ctx, const char *dir, const char *name, char path[FILES_PATH])
{
    char *bytes = malloc(LONG_LINES * 3100 + 700000);
    size_t used = 0;

    for (dkm_idx k = 0; k < LONG_LINES; k++) {
        used += long_line(k, bytes + used);
        bytes[used++] = '\n';
    }
    files_put(ctx, dir, name, bytes, used, path);
    free(bytes);
    return path;
}

/* Read records first, first + step, ... and compare them with what was written. */
static int long_lines_match(dkm_ctx *ctx, const dkm_records *records, const char *path,
                            dkm_idx first, dkm_idx step)
{
    char *want = malloc(700000), *line;
    dkm_text text = {0};
    dkm_idx length, next = -1;
    int same = dkm_text_open(&text, ctx, path).code == DKM_OK;

    for (dkm_idx k = first; same && k < records->count; k += step) {
        same &= dkm_records_seek(records, &text, next, k).code == DKM_OK;
        same &= dkm_text_next(&text, &line, &length).code == DKM_OK;
        same &= (size_t)length == long_line(k, want) && !memcmp(line, want, (size_t)length);
        same &= text.number == k + 1;
        next = k + 1;
    }
    if (same && step == 1) {
        same &= dkm_text_next(&text, &line, &length).code == DKM_OK && line == NULL;
    }
    dkm_text_close(&text);
    free(want);
    return same;
}

static void any_record_of_a_large_file_is_found(dkm_ctx *ctx)
{
    static const char *const names[] = {"large", "large.gz"};
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_records records = {0};

    files_open(ctx, dir);
    for (int z = 0; z < 2; z++) {
        put_long_file(ctx, dir, names[z], path);
        CHECK_OK(ctx, dkm_records_index(&records, ctx, path, DKM_RECORDS_LINES, 0, 1));
        CHECK(records.count == LONG_LINES && records.marked > 5 && records.marked < 40);
        CHECK(long_lines_match(ctx, &records, path, 0, 1));
        CHECK(long_lines_match(ctx, &records, path, 100 * dkm_ctx_rank(ctx), 3));
        CHECK(long_lines_match(ctx, &records, path, 37, 400));
        dkm_records_clear(&records);
    }
    files_close(ctx, dir);
}

static void an_index_may_start_after_a_header(dkm_ctx *ctx)
{
    static const char text[] = "header\nfirst\nsecond\n";
    static const expected want = {2, {"first", "second"}, {2, 3}};
    char dir[FILES_PATH], path[FILES_PATH], *line;
    dkm_records records = {0};
    dkm_text walker = {0};
    dkm_idx length;

    files_open(ctx, dir);
    files_put(ctx, dir, "headed", text, sizeof text - 1, path);
    CHECK_OK(ctx, dkm_records_index(&records, ctx, path, DKM_RECORDS_FILLED, 7, 2));
    CHECK(records.count == want.count);
    CHECK(dkm_text_open(&walker, ctx, path).code == DKM_OK);
    for (dkm_idx k = 0; k < want.count; k++) {
        CHECK(dkm_records_seek(&records, &walker, -1, k).code == DKM_OK);
        CHECK(dkm_text_next(&walker, &line, &length).code == DKM_OK);
        CHECK(strcmp(line, want.line[k]) == 0 && walker.number == want.number[k]);
    }
    dkm_text_close(&walker);
    dkm_records_clear(&records);
    files_close(ctx, dir);
}

static void a_bad_file_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_records records = {0};

    files_open(ctx, dir);
    files_name(dir, "nowhere", path);
    CHECK(dkm_records_index(&records, ctx, path, DKM_RECORDS_LINES, 0, 1) == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "nowhere") && strstr(dkm_ctx_message(ctx), "No such file"));
    CHECK(dkm_records_index(&records, ctx, dir, DKM_RECORDS_LINES, 0, 1) == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "is a directory") != NULL);
    files_put(ctx, dir, "empty", "", 0, path);
    CHECK(dkm_records_index(&records, ctx, path, DKM_RECORDS_LINES, 0, 1) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), "is empty") != NULL);
    files_close(ctx, dir);
}

static void a_torn_gzip_file_is_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    dkm_records records = {0};

    files_open(ctx, dir);
    put_long_file(ctx, dir, "torn.gz", path);
    if (dkm_ctx_rank(ctx) == 0) {
        static char bytes[4000];
        FILE *file = fopen(path, "rb");
        CHECK(file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes);
        fclose(file);
        file = fopen(path, "wb");
        CHECK(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes);
        fclose(file);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK(dkm_records_index(&records, ctx, path, DKM_RECORDS_LINES, 0, 1) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), "torn.gz is cut short") != NULL);
    files_close(ctx, dir);
}

/* 80 MB of one line in 80 kB: neither the index nor a reader may hold it. */
static void a_line_that_a_gzip_file_makes_of_nothing_is_refused(dkm_ctx *ctx)
{
    enum { CHUNKS = 80, CHUNK = 1 << 20 };
    char dir[FILES_PATH], path[FILES_PATH], *line;
    dkm_records records = {0};
    dkm_text text = {0};
    struct stat about;
    dkm_idx length;

    files_open(ctx, dir);
    files_name(dir, "bomb.gz", path);
    if (dkm_ctx_rank(ctx) == 0) {
        char *zeros = malloc(CHUNK);
        gzFile f = gzopen(path, "wb1");
        memset(zeros, '0', CHUNK);
        gzputs(f, "1 2\n");
        for (int k = 0; k < CHUNKS; k++)
            CHECK(gzwrite(f, zeros, CHUNK) == CHUNK);
        CHECK(gzclose(f) == Z_OK);
        free(zeros);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK(dkm_records_index(&records, ctx, path, DKM_RECORDS_LINES, 0, 1) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), "bomb.gz:2: a line of more than ") != NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "gunzip") != NULL);
    dkm_records_clear(&records);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_text_open(&text, ctx, path)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_text_next(&text, &line, &length)));
    CHECK(dkm_agree(ctx, dkm_text_next(&text, &line, &length)) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), "bomb.gz:2: a line of more than ") != NULL);
    CHECK(stat(path, &about) == 0 && about.st_size < 1 << 20);
    CHECK(dkm_ctx_peak_bytes(ctx) < (64 << 20) + 8 * (int64_t)about.st_size);
    dkm_text_close(&text);
    files_close(ctx, dir);
}

static char brutal_path[FILES_PATH];

static dkm_status index_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_records records = {0};

    DKM_TRY(dkm_records_index(&records, ctx, brutal_path, DKM_RECORDS_LINES, 0, 1));
out:
    dkm_records_clear(&records);
    return status;
}

static void every_allocation_of_an_index_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH];

    files_open(ctx, dir);
    put_long_file(ctx, dir, "large", brutal_path);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, index_under_pressure);
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(records_are_found_whatever_the_line_ends),
    CASE(any_record_of_a_large_file_is_found),
    CASE(an_index_may_start_after_a_header),
    CASE(a_bad_file_is_told),
    CASE(a_torn_gzip_file_is_told),
    CASE(a_line_that_a_gzip_file_makes_of_nothing_is_refused),
    CASE(every_allocation_of_an_index_may_fail),
};

CHECK_MAIN(cases)
