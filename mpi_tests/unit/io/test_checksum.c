#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/simd.h"
#include "io/archive/archive_file.h"
#include "io/archive/checksum.h"
#include "io/filesum.h"
#include "reference/reference_seal.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_matrices.h"

enum { BYTES = 2300 }; /* more than two blocks of vectors */

static void some_bytes(unsigned char bytes[BYTES])
{
    for (int k = 0; k < BYTES; k++)
        bytes[k] = (unsigned char)(k * 37 % 251);
}

static void checksums_of_parts_add_up(dkm_ctx *ctx)
{
    const dkm_idx far = 123456789012345;
    unsigned char bytes[BYTES];
    uint64_t whole;

    (void)ctx;
    some_bytes(bytes);
    for (dkm_idx from = 0; from <= far + 3; from = from < 7     ? from + 1
                                                   : from < far ? far
                                                                : from + 1) {
        whole = dkm_filesum(from, bytes, BYTES);
        for (dkm_idx cut = 0; cut <= BYTES; cut += 13)
            CHECK(dkm_filesum_combine(dkm_filesum(from, bytes, cut),
                                      dkm_filesum(from + cut, bytes + cut, BYTES - cut)) == whole);
    }
    memset(bytes + 100, 0, 300); /* bytes of zero add nothing */
    CHECK(dkm_filesum_combine(dkm_filesum(0, bytes, 100),
                              dkm_filesum(400, bytes + 400, BYTES - 400)) ==
          dkm_filesum(0, bytes, BYTES));
}

/* Parts of fewer bytes than a block are summed up one halfword after the other. */
static void instruction_sets_agree_on_checksums(dkm_ctx *ctx)
{
    unsigned char bytes[BYTES];
    dkm_simd_level before = dkm_simd_current();
    uint64_t want = 0;

    (void)ctx;
    for (int k = 0; k < BYTES; k++)
        bytes[k] = (unsigned char)(k % 3 ? 255 : k * 37 % 251);
    for (dkm_idx at = 0; at < BYTES; at += 100)
        want = dkm_filesum_combine(want, dkm_filesum(at + 7, bytes + at, 100));
    for (int level = 0; level <= (int)dkm_simd_best(); level++) {
        dkm_simd_use((dkm_simd_level)level);
        CHECK(dkm_filesum(7, bytes, BYTES) == want);
    }
    dkm_simd_use(before);
}

static void checksums_of_many_ranks_do_not_overflow(dkm_ctx *ctx)
{
    const uint64_t p = (UINT64_C(1) << 61) - 1;

    CHECK(dkm_filesum_combine_ranks(ctx, p - 1) == p - (uint64_t)dkm_ctx_size(ctx));
    CHECK(dkm_filesum_combine_ranks(ctx, 0) == 0);
}

static void any_two_flipped_bits_change_the_checksum(dkm_ctx *ctx)
{
    unsigned char bytes[BYTES];
    uint64_t whole;
    int bits[] = {0, 7, 31, 32, 63, 64, 127, 1000, 1023, 4096 + 63, 7935, 7999};
    const int count = sizeof bits / sizeof *bits;

    (void)ctx;
    some_bytes(bytes);
    whole = dkm_filesum(0, bytes, BYTES);
    for (int i = 0; i < count; i++) {
        bytes[bits[i] / 8] ^= (unsigned char)(1 << bits[i] % 8);
        CHECK(dkm_filesum(0, bytes, BYTES) != whole);
        for (int bit = 0; bit < 8 * BYTES; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            CHECK((dkm_filesum(0, bytes, BYTES) == whole) == (bit == bits[i]));
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        bytes[bits[i] / 8] ^= (unsigned char)(1 << bits[i] % 8);
    }
}

/* Write a matrix and a slab, and read them on a grid of another shape. */
static dkm_status travel(dkm_ctx *ctx, const char *path, dkm_idx m, dkm_idx n, int lower,
                         dkm_precision precision, double *worst)
{
    dkm_status status = DKM_OK;
    dkm_archive out = dkm_archive_empty(ctx), in = dkm_archive_empty(ctx);
    dkm_archive_header header = {0};
    dkm_grid *wide = NULL, *tall = NULL;
    dkm_dmat *A = NULL, *B = NULL, *C = NULL;
    dkm_matrix_entry part = {.m = m, .n = n, .precision = precision, .lower = lower};
    const dkm_matrix_entry *rows;

    DKM_TRY(dkm_grid_create(ctx, 1, dkm_ctx_size(ctx), &wide));
    DKM_TRY(dkm_grid_create(ctx, dkm_ctx_size(ctx), 1, &tall));
    DKM_TRY(matrix_make(wide, m, n, precision, matrix_noise, &A));
    DKM_TRY(matrix_make(tall, m, n, precision, matrix_noise, &B));
    DKM_TRY(matrix_make(tall, m, n, precision, NULL, &C));
    part.matrix = A;
    DKM_AGREE(ctx, dkm_archive_put_text(&out, "odd", "bytes"));
    DKM_AGREE(ctx, dkm_archive_put_rows(&out, "A", &part));
    DKM_TRY(dkm_archive_save(&out, path, "checkpoint", "test"));
    DKM_TRY(dkm_checksum_verify(ctx, path));
    DKM_TRY(dkm_archive_load(ctx, path, &in, &header));
    DKM_AGREE(ctx, dkm_archive_rows(&in, "A", &rows));
    DKM_TRY(dkm_matrix_entry_read_matrix(rows, C));
    *worst = matrix_gap(B, C, lower);
    for (dkm_idx jl = 0; lower && jl < C->n_loc; jl++) /* what was not kept is not touched */
        for (dkm_idx il = 0; il < C->m_loc; il++)
            if (dkm_dmat_global_col(C, jl) > dkm_dmat_global_row(C, il))
                *worst = fmax(*worst, fabs(dkm_dmat_at(C, il, jl)));
out:
    dkm_archive_header_clear(&header);
    dkm_archive_clear(&out);
    dkm_archive_clear(&in);
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&C);
    dkm_grid_destroy(&wide);
    dkm_grid_destroy(&tall);
    return status;
}

static void rows_come_back_on_another_grid(dkm_ctx *ctx)
{
    const dkm_idx sizes[] = {0, 1, 5, 37};
    char dir[FILES_PATH], path[FILES_PATH];

    files_open(ctx, dir);
    files_name(dir, "rows.h5", path);
    for (int k = 0; k < 4; k++)
        for (int single = 0; single < 2; single++) {
            double worst = 1;
            CHECK_OK(ctx, travel(ctx, path, sizes[k], sizes[k], 1, (dkm_precision)single, &worst));
            CHECK(worst == 0);
            CHECK_OK(ctx, travel(ctx, path, sizes[k], 11, 0, (dkm_precision)single, &worst));
            CHECK(worst == 0);
        }
    files_close(ctx, dir);
}

static void a_seal_tells_any_damage(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    double worst;
    struct stat about;

    files_open(ctx, dir);
    files_name(dir, "sealed.h5", path);
    CHECK_OK(ctx, travel(ctx, path, 20, 20, 1, DKM_F64, &worst));
    CHECK(stat(path, &about) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    for (off_t at = 3; at < about.st_size; at += about.st_size / 9) {
        files_hurt(ctx, path, at, 0);
        CHECK(dkm_checksum_verify(ctx, path) == DKM_ERR_FORMAT);
        files_hurt(ctx, path, at, 0);
    }
    CHECK_OK(ctx, dkm_checksum_verify(ctx, path));
    files_hurt(ctx, path, about.st_size - 5, 1);
    CHECK(dkm_checksum_verify(ctx, path) == DKM_ERR_FORMAT);
    files_hurt(ctx, path, 0, 1);
    CHECK(dkm_checksum_verify(ctx, path) == DKM_ERR_FORMAT);
    CHECK(dkm_checksum_verify(ctx, dir) == DKM_ERR_FORMAT);
    files_close(ctx, dir);
}

/* Turn over the topmost bit of a byte, on rank 0. */
static void flip_top(dkm_ctx *ctx, const char *path, off_t at)
{
    unsigned char byte = 0;
    int fd;

    if (dkm_ctx_rank(ctx) == 0) {
        fd = open(path, O_RDWR);
        CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
        byte ^= 0x80;
        CHECK(pwrite(fd, &byte, 1, at) == 1 && close(fd) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

/* In sums of weighted words modulo 2^64 two such flips cancel. */
static void two_signs_that_flip_are_told(dkm_ctx *ctx)
{
    char dir[FILES_PATH], path[FILES_PATH];
    double worst;
    struct stat about;

    files_open(ctx, dir);
    files_name(dir, "signs.h5", path);
    CHECK_OK(ctx, travel(ctx, path, 20, 20, 0, DKM_F64, &worst));
    CHECK(stat(path, &about) == 0);
    MPI_Barrier(dkm_ctx_comm(ctx));
    for (off_t apart = 8; apart < about.st_size / 2; apart *= 3) {
        flip_top(ctx, path, 807);
        flip_top(ctx, path, 807 + apart);
        CHECK(dkm_checksum_verify(ctx, path) == DKM_ERR_FORMAT);
        flip_top(ctx, path, 807);
        flip_top(ctx, path, 807 + apart);
    }
    CHECK_OK(ctx, dkm_checksum_verify(ctx, path));
    files_close(ctx, dir);
}

/* Exchange the seal for another. */
static void seal_anew(dkm_ctx *ctx, const char *path, int (*seal)(const char *path))
{
    struct stat about;

    if (dkm_ctx_rank(ctx) == 0) {
        CHECK(stat(path, &about) == 0 && truncate(path, about.st_size - 24) == 0);
        CHECK(seal(path) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static void seals_are_those_of_the_definition_and_old_ones_hold(dkm_ctx *ctx)
{
    int (*const seals[])(const char *) = {reference_seal, reference_seal_format_2};
    char dir[FILES_PATH], path[FILES_PATH];
    double worst;

    files_open(ctx, dir);
    files_name(dir, "old.h5", path);
    CHECK_OK(ctx, travel(ctx, path, 20, 11, 0, DKM_F64, &worst));
    for (int k = 0; k < 2; k++) {
        seal_anew(ctx, path, seals[k]);
        CHECK_OK(ctx, dkm_checksum_verify(ctx, path));
        files_hurt(ctx, path, 1001, 0);
        CHECK(dkm_checksum_verify(ctx, path) == DKM_ERR_FORMAT);
        files_hurt(ctx, path, 1001, 0);
    }
    files_close(ctx, dir);
}

static const check_case cases[] = {
    CASE(checksums_of_parts_add_up),
    CASE(instruction_sets_agree_on_checksums),
    CASE(checksums_of_many_ranks_do_not_overflow),
    CASE(any_two_flipped_bits_change_the_checksum),
    CASE(rows_come_back_on_another_grid),
    CASE(a_seal_tells_any_damage),
    CASE(two_signs_that_flip_are_told),
    CASE(seals_are_those_of_the_definition_and_old_ones_hold),
};

CHECK_MAIN(cases)
