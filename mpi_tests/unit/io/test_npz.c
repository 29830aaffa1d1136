/* Arrays in zip archives, as numpy.savez and savez_compressed write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <dkmap/data.h>

#include "io/formats/npy_header.h"
#include "support/check.h"
#include "support/scratch.h"

enum { ROWS = 700, COLS = 5, ROOM = 1 << 17 };

typedef struct archive {
    unsigned char bytes[ROOM], directory[4096];
    size_t count, directory_count;
    int entries;
} archive;

static size_t put(unsigned char *to, size_t at, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++)
        to[at + (size_t)k] = (unsigned char)(value >> 8 * k);
    return at + (size_t)bytes;
}

static double element(dkm_idx i, dkm_idx k)
{
    return (double)(i % 50) + 0.25 * (double)k;
}

/* An npy file of m x COLS numbers. @return its bytes */
static size_t make_npy(dkm_idx m, char bytes[ROOM])
{
    dkm_idx at = dkm_npy_header_write(DKM_NUMBER_F64, m, COLS, bytes);

    for (dkm_idx i = 0; i < m; i++)
        for (dkm_idx k = 0; k < COLS; k++, at += 8) {
            double x = element(i, k);
            memcpy(bytes + at, &x, 8);
        }
    return (size_t)at;
}

static size_t deflate_bytes(const char *bytes, size_t count, unsigned char *out)
{
    z_stream z = {0};

    CHECK(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)count;
    z.next_out = out;
    z.avail_out = ROOM;
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* Sizes of an entry, in 32 bits, or in 64 bits in an extra field. */
static size_t put_entry(unsigned char *b, size_t at, const char *name, int method, size_t packed,
                        size_t count, int wide, size_t header)
{
    at = put(b, at, 0x02014b50, 4);
    at = put(b, at, 20 | (uint64_t)20 << 16, 6);
    at = put(b, at, (uint64_t)method, 2);
    at = put(b, at, 0, 8); /* time, date and check sum */
    at = put(b, at, wide ? 0xffffffff : packed, 4);
    at = put(b, at, wide ? 0xffffffff : count, 4);
    at = put(b, at, strlen(name), 2);
    at = put(b, at, wide ? 20 : 0, 2);
    at = put(b, at, 0, 10);
    at = put(b, at, header, 4);
    memcpy(b + at, name, strlen(name));
    at += strlen(name);
    if (wide) {
        at = put(b, at, 1 | 16 << 16, 4);
        at = put(b, at, count, 8);
        at = put(b, at, packed, 8);
    }
    return at;
}

static void add_member(archive *a, const char *name, const char *bytes, size_t count, int deflated,
                       int wide)
{
    static unsigned char packed[ROOM];
    size_t size = deflated ? deflate_bytes(bytes, count, packed) : count, header = a->count;

    if (!deflated)
        memcpy(packed, bytes, count);
    a->count = put(a->bytes, a->count, 0x04034b50, 4);
    a->count = put(a->bytes, a->count, 0, 22);
    a->count = put(a->bytes, a->count, strlen(name) | 3 << 16, 4);
    memcpy(a->bytes + a->count, name, strlen(name));
    a->count += strlen(name) + 3; /* an extra field that nobody reads */
    memcpy(a->bytes + a->count, packed, size);
    a->count += size;
    a->directory_count = put_entry(a->directory, a->directory_count, name, deflated ? 8 : 0, size,
                                   count, wide, header);
    a->entries++;
}

static void end_archive(archive *a)
{
    size_t start = a->count;

    memcpy(a->bytes + a->count, a->directory, a->directory_count);
    a->count = put(a->bytes, a->count + a->directory_count, 0x06054b50, 4);
    a->count = put(a->bytes, a->count, 0, 4);
    a->count = put(a->bytes, a->count, (uint64_t)a->entries | (uint64_t)a->entries << 16, 4);
    a->count = put(a->bytes, a->count, a->directory_count, 4);
    a->count = put(a->bytes, a->count, start, 4);
    a->count = put(a->bytes, a->count, 0, 2);
}

static archive *make_archive(int deflated, int wide, dkm_idx m)
{
    archive *a = calloc(1, sizeof *a);
    char *npy = calloc(1, ROOM);
    size_t count = make_npy(m, npy);

    add_member(a, "x.npy", npy, count, deflated, wide);
    add_member(a, "notes.txt", "hello", 5, 0, 0);
    add_member(a, "other.npy", npy, make_npy(2, npy), deflated, wide);
    end_archive(a);
    free(npy);
    return a;
}

static void check_rows(dkm_ctx *ctx, const char *where, dkm_idx first, dkm_idx step, dkm_idx m)
{
    dkm_data *X = NULL;

    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, NULL, &X));
    CHECK(X && dkm_data_rows(X) == m && dkm_data_cols(X) == COLS);
    for (dkm_idx i = 0; X && i < dkm_data_local_rows(X); i++)
        for (dkm_idx k = 0; k < COLS; k++)
            CHECK(dkm_data_values(X)[i * COLS + k] ==
                  element(first + (dkm_data_local_first(X) + i) * step, k));
    dkm_data_destroy(&X);
}

static void refused(dkm_ctx *ctx, const char *where, const char *words)
{
    dkm_data *X = NULL;

    CHECK(dkm_data_read(ctx, where, DKM_INPUTS, NULL, &X) != DKM_OK && !X);
    CHECK(strstr(dkm_ctx_message(ctx), words) != NULL);
}

static void arrays_are_read_by_name(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH], where[SCRATCH_LENGTH + 40];

    scratch_path(ctx, "a.npz", path);
    for (int kind = 0; kind < 4; kind++) {
        archive *a = make_archive(kind & 1, kind >> 1, ROWS);
        scratch_bytes(ctx, path, a->bytes, a->count);
        snprintf(where, sizeof where, "%s:x", path);
        check_rows(ctx, where, 0, 1, ROWS);
        snprintf(where, sizeof where, "%s:x[7:690:3]", path);
        check_rows(ctx, where, 7, 3, 228);
        snprintf(where, sizeof where, "%s:other", path);
        check_rows(ctx, where, 0, 1, 2);
        refused(ctx, path, "holds several arrays");
        snprintf(where, sizeof where, "%s:y", path);
        refused(ctx, where, "holds no array 'y': it has x, other");
        scratch_remove(ctx, path);
        free(a);
    }
}

/* Read it, whatever comes of it. */
static dkm_status try_bytes(dkm_ctx *ctx, const char *path, const unsigned char *bytes,
                            size_t count)
{
    char where[SCRATCH_LENGTH + 8];
    dkm_data *X = NULL;
    dkm_status status;

    scratch_bytes(ctx, path, bytes, count);
    snprintf(where, sizeof where, "%s:x", path);
    status = dkm_data_read(ctx, where, DKM_INPUTS, NULL, &X);
    dkm_data_destroy(&X);
    return status;
}

static void archives_that_are_cut_short_or_lie_are_refused(dkm_ctx *ctx)
{
    archive *a = make_archive(1, 1, 3);
    char path[SCRATCH_LENGTH];
    size_t start = a->count - 22 - a->directory_count;

    scratch_path(ctx, "cut.npz", path);
    for (size_t count = 1; count < a->count; count += 41)
        CHECK(try_bytes(ctx, path, a->bytes, count) != DKM_OK);
    for (size_t at = start; at < a->count; at += 4) { /* bytes of the directory are others */
        a->bytes[at] ^= 0x55;
        CHECK(try_bytes(ctx, path, a->bytes, a->count) != DKM_ERR_INTERNAL);
        a->bytes[at] ^= 0x55;
    }
    a->bytes[60] ^= 0xff; /* in the packed array */
    CHECK(try_bytes(ctx, path, a->bytes, a->count) == DKM_ERR_FORMAT);
    scratch_remove(ctx, path);
    free(a);
}

static const check_case cases[] = {
    CASE(arrays_are_read_by_name),
    CASE(archives_that_are_cut_short_or_lie_are_refused),
};

CHECK_MAIN(cases)
