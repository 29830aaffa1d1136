#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "io/archive/checksum.h"
#include "support/check.h"
#include "support/fixture_files.h"
#include "support/fixture_matrices.h"

static void checksums_of_parts_add_up(dkm_ctx *ctx)
{
    unsigned char bytes[1000];
    uint64_t whole;

    (void)ctx;
    for (int k = 0; k < 1000; k++)
        bytes[k] = (unsigned char)(k * 37 % 251);
    whole = dkm_filesum(0, bytes, 1000);
    for (dkm_idx cut = 0; cut <= 1000; cut += 13)
        CHECK(dkm_filesum(0, bytes, cut) + dkm_filesum(cut, bytes + cut, 1000 - cut) == whole);
    for (int k = 0; k < 1000; k += 7) {
        bytes[k] ^= 0x10;
        CHECK(dkm_filesum(0, bytes, 1000) != whole);
        bytes[k] ^= 0x10;
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

static const check_case cases[] = {
    CASE(checksums_of_parts_add_up),
    CASE(rows_come_back_on_another_grid),
    CASE(a_seal_tells_any_damage),
};

CHECK_MAIN(cases)
