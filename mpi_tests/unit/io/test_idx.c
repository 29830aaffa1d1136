#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/formats/numbers.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_table.h"

static size_t put_size(unsigned char *at, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        at[k] = (unsigned char)(value >> (24 - 8 * k) & 0xff);
    return 4;
}

/* A number of the table, high byte first. */
static size_t put_number(unsigned char *at, unsigned char code, double value)
{
    union {
        uint8_t u8;
        int16_t i16;
        int32_t i32;
        float f32;
        double f64;
        unsigned char bytes[8];
    } raw;
    size_t width = code == 0x0e ? 8 : code >= 0x0c ? 4 : code == 0x0b ? 2 : 1;

    if (code == 0x0e)
        raw.f64 = value;
    else if (code == 0x0d)
        raw.f32 = (float)value;
    else if (code == 0x0c)
        raw.i32 = (int32_t)value;
    else if (code == 0x0b)
        raw.i16 = (int16_t)value;
    else
        raw.u8 = (uint8_t)value;
    for (size_t k = 0; k < width; k++)
        at[k] = raw.bytes[dkm_number_low_first() ? width - 1 - k : k];
    return width;
}

/* Images of h x w, or labels where h = 0. */
static char *put_images(dkm_ctx *ctx, const char *dir, const char *name, unsigned char code,
                        dkm_idx n, dkm_idx h, dkm_idx w, char path[FILES_PATH])
{
    dkm_idx d = h > 0 ? h * w : 1;
    unsigned char *bytes = malloc((size_t)(n * d) * 8 + 64);
    size_t used = 4;

    memcpy(bytes, (unsigned char[]){0, 0, code, h > 0 ? 3 : 1}, 4);
    used += put_size(bytes + used, (uint32_t)n);
    if (h > 0) {
        used += put_size(bytes + used, (uint32_t)h);
        used += put_size(bytes + used, (uint32_t)w);
    }
    for (dkm_idx k = 0; k < n * d; k++)
        used += put_number(bytes + used, code, table_value(k / d, k % d));
    files_put(ctx, dir, name, bytes, used, path);
    free(bytes);
    return path;
}

static const unsigned char codes[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
static const char *const names[] = {"digits.idx", "digits-idx3-ubyte", "digits.idx.gz",
                                    "digits-idx3-ubyte.gz"};

static void images_of_every_number_type_are_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int k = 0; k < 6; k++)
        for (int z = 0; z < 4; z++) {
            put_images(ctx, dir, names[z], codes[k], 31, 4, 5, path);
            table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 31, 0, 20});
            snprintf(where, sizeof where, "%s[30:31, 3:8]", path);
            table_check(ctx, where, NULL, DKM_DENSE, (table_part){30, 1, 1, 3, 5});
        }
    files_close(ctx, dir);
}

static void labels_are_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int z = 0; z < 4; z++) {
        put_images(ctx, dir, names[z], 0x08, 50, 0, 0, path);
        table_check(ctx, path, NULL, DKM_LABELS, (table_part){0, 1, 50, 0, 1});
        snprintf(where, sizeof where, "%s[1::7]", path);
        table_check(ctx, where, "dense", DKM_DENSE, (table_part){1, 7, 7, 0, 1});
    }
    put_images(ctx, dir, "column.idx", 0x0d, 50, 0, 0, path);
    table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 50, 0, 1});
    files_close(ctx, dir);
}

static void files_longer_than_the_buffer_are_read(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH], where[FILES_PATH + 32];

    files_open(ctx, dir);
    for (int z = 1; z < 4; z += 2) {
        put_images(ctx, dir, names[z], 0x0e, 300, 20, 30, path);
        table_check(ctx, path, NULL, DKM_DENSE, (table_part){0, 1, 300, 0, 600});
        snprintf(where, sizeof where, "%s[::-1]", path);
        table_refused(ctx, where, NULL, DKM_ERR_ARG, "[::-1]", "step of 1 or more");
        snprintf(where, sizeof where, "%s[::50, 599]", path);
        table_check(ctx, where, "labels", DKM_LABELS, (table_part){0, 50, 6, 599, 1});
    }
    files_close(ctx, dir);
}

static void damaged_files_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_images(ctx, dir, "torn.idx", 0x08, 300, 20, 30, path);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(truncate(path, 180015) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "torn.idx is cut short", "it has 180015");
    put_images(ctx, dir, "torn.idx.gz", 0x0e, 300, 20, 30, path);
    if (dkm_ctx_rank(ctx) == 0)
        CHECK(truncate(path, 5000) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "torn.idx.gz is cut short", "get it again");
    files_put(ctx, dir, "words.idx", "not at all", 10, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "words.idx", "no idx file");
    files_put(ctx, dir, "tiny.idx", "\0\0\x08", 3, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "tiny.idx", "cut short");
    files_put(ctx, dir, "boast.idx.gz", "\0\0\x08\x02\0\1\x86\xa0\0\0\x75\x30", 12, path);
    table_refused(ctx, path, NULL, DKM_ERR_FORMAT, "boast.idx.gz: 100000 x 30000",
                  "numbers out of");
    files_close(ctx, dir);
}

static void every_allocation_of_a_read_may_fail(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    put_images(ctx, dir, names[3], 0x08, 20, 2, 3, path);
    files_read_allocations(ctx, path);
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(images_of_every_number_type_are_read),  CASE(labels_are_read),
    CASE(files_longer_than_the_buffer_are_read), CASE(damaged_files_are_told),
    CASE(every_allocation_of_a_read_may_fail),
};

CHECK_MAIN(cases)
