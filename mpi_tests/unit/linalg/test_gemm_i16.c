/* Inner products of small whole numbers, and Gram matrices made of them: exact to the last bit. */
#include <math.h>

#include "core/alloc.h"
#include "linalg/kernels/gemm_i16.h"
#include "support/check.h"
#include "support/fixture_objects.h"

#include <dkmap/kernel.h>

enum { D = 21, M = 45 };

static double byte(dkm_idx i, dkm_idx k)
{
    return (double)((i * 37 + k * 101 + i * k) % 256);
}

static double signed_byte(dkm_idx i, dkm_idx k)
{
    return byte(i, k) - 128.0;
}

/* Squares of these add up to more than 32 bits hold. */
static double large(dkm_idx i, dkm_idx k)
{
    return 32767.0 - (double)((i + k) % 3);
}

/* Whole, one number apart. */
static double nearly(dkm_idx i, dkm_idx k)
{
    return byte(i, k) + (i == M / 2 && k == D - 1 ? 0.5 : 0.0);
}

/* Whole, and too large for 16 bits. */
static double too_large(dkm_idx i, dkm_idx k)
{
    return byte(i, k) * 1000.0;
}

static double dot(object_value value, dkm_idx i, dkm_idx j, dkm_idx d)
{
    double sum = 0; /* of numbers with few digits: nothing is rounded */

    for (dkm_idx k = 0; k < d; k++)
        sum += value(i, k) * value(j, k);
    return sum;
}

static int16_t *take(dkm_ctx *ctx, dkm_idx first, dkm_idx n, dkm_idx d, object_value value)
{
    double *rows = NULL;
    int16_t *kept = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * d, &rows)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * dkm_gemm_i16_ld(d), &kept)));
    for (dkm_idx k = 0; k < n * d; k++)
        rows[k] = value(first + k / d, k % d);
    CHECK(dkm_gemm_i16_pack(n, d, rows, kept) >= 0);
    DKM_FREE(rows);
    return kept;
}

static void compare_dots(dkm_ctx *ctx, dkm_idx na, dkm_idx nb, dkm_idx d)
{
    dkm_idx width = dkm_gemm_i16_ld(d), ld = na + 3;
    int16_t *a = take(ctx, 0, na, d, signed_byte), *b = take(ctx, 7, nb, d, signed_byte);
    int16_t *room = NULL;
    double *C = NULL;
    float *F = NULL;
    dkm_i16_rows A = {na, width, a}, B = {nb, width, b};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, dkm_gemm_i16_workspace(width), &room)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_calloc(ctx, ld * nb, &C)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_calloc(ctx, ld * nb, &F)));
    dkm_gemm_i16(&A, &B, DKM_F64, C, ld, room);
    dkm_gemm_i16(&A, &B, DKM_F32, F, ld, room);
    for (dkm_idx j = 0; j < nb; j++)
        for (dkm_idx i = 0; i < ld; i++) {
            double want = i < na ? dot(signed_byte, i, 7 + j, d) : 0.0;
            CHECK(C[i + j * ld] == want);
            CHECK(F[i + j * ld] == (float)want);
        }
    DKM_FREE(F);
    DKM_FREE(C);
    DKM_FREE(room);
    DKM_FREE(b);
    DKM_FREE(a);
}

static void products_are_exact_at_every_size(dkm_ctx *ctx)
{
    const dkm_idx tall[] = {1, 15, 16, 17, 300}, wide[] = {1, 5, 6, 7, 100}, deep[] = {1, 2, 17};

    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 3; k++)
                compare_dots(ctx, tall[i], wide[j], deep[k]);
}

static void other_numbers_are_told(dkm_ctx *ctx)
{
    const double bad[] = {0.5, 32768, -32768, 1e300, INFINITY, NAN};
    int16_t kept[4];

    (void)ctx;
    for (int k = 0; k < 6; k++) {
        double rows[] = {1, -2, 3, 4, bad[k], 5};
        CHECK(dkm_gemm_i16_pack(2, 3, rows, (int16_t[8]){0}) < 0);
    }
    CHECK(dkm_gemm_i16_pack(1, 3, (double[]){-32767, 2, -0.0}, kept) == 32767.0);
    CHECK(kept[0] == -32767 && kept[1] == 2 && kept[2] == 0 && kept[3] == 0);
    CHECK(dkm_gemm_i16_pack(0, 3, NULL, kept) == 0.0);
}

static dkm_status linear_gram(dkm_ctx *ctx, object_value value, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, value);

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &k));
    DKM_TRY(dkm_kernel_prepare(k, X, &P));
    DKM_TRY(dkm_gram(grid, k, P, 4, DKM_F64, K));
    for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(*K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(*K); il++) {
            dkm_idx ig = dkm_dmat_global_row(*K, il), jg = dkm_dmat_global_col(*K, jl);
            if (ig >= jg)
                CHECK(dkm_dmat_f64(*K)[il + jl * dkm_dmat_ld(*K)] == dot(value, ig, jg, D));
        }
out:
    dkm_dmat_destroy(K);
    dkm_prepared_destroy(&P);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    return status;
}

/* Bytes take the short way; the others must not, and none of them is rounded either way. */
static void gram_matrices_of_whole_numbers_are_exact(dkm_ctx *ctx)
{
    const object_value values[] = {byte, signed_byte, large, nearly, too_large};
    dkm_dmat *K = NULL;

    for (int k = 0; k < 5; k++)
        CHECK_OK(ctx, linear_gram(ctx, values[k], &K));
}

static const check_case cases[] = {
    CASE(products_are_exact_at_every_size),
    CASE(other_numbers_are_told),
    CASE(gram_matrices_of_whole_numbers_are_exact),
};

CHECK_MAIN(cases)
