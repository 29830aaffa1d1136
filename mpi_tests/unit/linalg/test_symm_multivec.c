#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "linalg/symm/symm_multivec.h"
#include "support/check.h"

/* A symmetric matrix whose other triangle is poison: NaN wherever it is looked at by mistake. */
static double symmetric(dkm_idx i, dkm_idx j)
{
    return i > j ? symmetric(j, i)
                 : 1.0 / (1.0 + (double)(j - i)) + dkm_random_uniform(3, 0, (uint64_t)i, 0);
}

static double with_poison(void *user, dkm_idx ig, dkm_idx jg)
{
    char uplo = *(char *)user;

    return (uplo == 'L' ? ig < jg : ig > jg) ? NAN : symmetric(ig, jg);
}

static double input(dkm_idx i, dkm_idx k)
{
    return cos(0.1 * (double)i * (double)(k + 1));
}

static double product(dkm_idx m, dkm_idx i, dkm_idx k)
{
    double sum = 0;

    for (dkm_idx j = 0; j < m; j++)
        sum += symmetric(i, j) * input(j, k);
    return sum;
}

/* The sum has m terms up to 2, each rounded once or so. */
static double tolerance(dkm_idx m, dkm_precision precision)
{
    return 4.0 * (double)(m + 1) * (precision == DKM_F64 ? 2.2e-16 : 1.2e-7);
}

typedef struct layout {
    int P;
    dkm_idx m, nb;
    dkm_precision precision;
} layout;

static void compare(dkm_ctx *ctx, const layout *l, char uplo, dkm_idx p)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(l->m, rank, size), n = dkm_slab_count(l->m, rank, size);
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    double *rows = NULL, gap = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, l->P, l->P ? size / l->P : 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, l->m, l->m, l->nb, l->nb, l->precision, &K));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * p, &rows)));
    dkm_dmat_fill(K, with_poison, &uplo);
    for (dkm_idx k = 0; k < n * p; k++)
        rows[k] = input(first + k / p, k % p);
    CHECK_OK(ctx, dkm_symm_multivec(uplo, K, p, rows));
    for (dkm_idx k = 0; k < n * p; k++) {
        double off = fabs(rows[k] - product(l->m, first + k / p, k % p));
        gap = gap >= off ? gap : off; /* a NaN stays */
    }
    CHECK_CLOSE(gap, 0.0, tolerance(l->m, l->precision));
    DKM_FREE(rows);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static void either_triangle_gives_the_product(dkm_ctx *ctx)
{
    const char triangles[] = {'L', 'U'};

    for (int P = 1; P <= dkm_ctx_size(ctx); P++)
        for (dkm_idx nb = 3; nb <= 99; nb += 48)
            for (int k = 0; k < 8; k++) {
                layout l = {P, k & 4 ? 1 : 85, nb, k & 1 ? DKM_F32 : DKM_F64};
                compare(ctx, &l, triangles[k / 2 % 2], 3);
                compare(ctx, &l, triangles[k / 2 % 2], 1);
            }
}

static void a_matrix_of_several_tiles_is_swept(dkm_ctx *ctx)
{
    layout l = {0, 2300, 128, DKM_F64};

    if (dkm_ctx_size(ctx) > 2)
        return; /* no rank would hold more than a tile */
    compare(ctx, &l, 'L', 1);
    compare(ctx, &l, 'U', 1);
}

/* Up to so many columns there are products of their own, beyond them gemm's. */
static void any_number_of_columns_may_be_taken(dkm_ctx *ctx)
{
    const dkm_idx columns[] = {2, 8, 9, 16, 17, 24, 25};

    for (int k = 0; k < 14; k++) {
        layout l = {0, 301, 16, k & 1 ? DKM_F32 : DKM_F64};
        compare(ctx, &l, k & 4 ? 'U' : 'L', columns[k / 2]);
    }
}

/* W = K V of p columns in a row, by as many threads. */
static void multiply_by_threads(dkm_ctx *ctx, dkm_dmat *K, int threads, dkm_idx p, double *rows)
{
    dkm_idx m = dkm_dmat_rows(K), first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    for (dkm_idx k = 0; k < n * p; k++)
        rows[k] = input(first + k / p, k % p);
    dkm_ctx_set_threads(ctx, threads);
    CHECK_OK(ctx, dkm_symm_multivec('L', K, p, rows));
    dkm_ctx_set_threads(ctx, 1);
}

static void threads_change_nothing(dkm_ctx *ctx)
{
    const dkm_idx columns[] = {1, 16, 30};
    dkm_idx m = 1500, n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    char lower = 'L';
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    double *one = NULL, *three = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, m, m, 40, 40, DKM_F64, &K));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * 30, &one)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * 30, &three)));
    dkm_dmat_fill(K, with_poison, &lower);
    for (int c = 0; c < 3; c++) {
        multiply_by_threads(ctx, K, 1, columns[c], one);
        multiply_by_threads(ctx, K, 3, columns[c], three);
        CHECK(memcmp(one, three, (size_t)(n * columns[c]) * sizeof *one) == 0);
    }
    DKM_FREE(three);
    DKM_FREE(one);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

/* Memory that an earlier product left is used again, and made anew for other widths. */
static void a_product_may_follow_another(dkm_ctx *ctx)
{
    const dkm_idx columns[] = {3, 3, 2, 3};
    dkm_idx m = 85, first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    char lower = 'L';
    dkm_symm s = {0};
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    double rows[85 * 3];

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, m, m, 8, 8, DKM_F64, &K));
    dkm_dmat_fill(K, with_poison, &lower);
    for (int c = 0; c < 4; c++) {
        dkm_multivec V = dkm_multivec_view(ctx, m, columns[c], rows);
        double gap = 0;
        for (dkm_idx k = 0; k < n * V.cols; k++)
            rows[k] = input(first + k / V.cols, k % V.cols);
        CHECK_OK(ctx, dkm_symm_apply_again(&s, 'L', K, &V, &V));
        for (dkm_idx k = 0; k < n * V.cols; k++)
            gap = fmax(gap, fabs(rows[k] - product(m, first + k / V.cols, k % V.cols)));
        CHECK_CLOSE(gap, 0.0, tolerance(m, DKM_F64));
    }
    dkm_symm_free(&s);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static void nothing_times_nothing_is_nothing(dkm_ctx *ctx)
{
    layout l = {0, 0, 4, DKM_F64};

    compare(ctx, &l, 'L', 2);
    l.m = 5;
    compare(ctx, &l, 'U', 0);
}

static dkm_status sweep_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    char uplo = 'L';
    double rows[40] = {0};
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 20, 20, 4, 4, DKM_F64, &K));
    dkm_dmat_fill(K, with_poison, &uplo);
    DKM_TRY(dkm_symm_multivec(uplo, K, 2, rows));
out:
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, sweep_once);
}

static const check_case cases[] = {
    CASE(either_triangle_gives_the_product),  CASE(a_matrix_of_several_tiles_is_swept),
    CASE(any_number_of_columns_may_be_taken), CASE(threads_change_nothing),
    CASE(a_product_may_follow_another),       CASE(nothing_times_nothing_is_nothing),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
