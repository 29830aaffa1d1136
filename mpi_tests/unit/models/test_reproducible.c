/* Products that do not depend on which rows and columns are multiplied together, nor on threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "models/common/reproducible.h"
#include "support/check.h"

#include <dkmap/random.h>

typedef enum form { PLAIN, B_TURNED, A_TURNED, FORMS } form;

typedef struct problem {
    dkm_idx m, n, k;
    double *A, *B; /* m x k or k x m, k x n or n x k */
} problem;

static void fill(uint64_t stream, dkm_idx count, double *a)
{
    for (dkm_idx i = 0; i < count; i++)
        a[i] = dkm_random_normal(1, stream, (uint64_t)i, 0);
}

/* Rows [i, i + m) and columns [j, j + n) of the product, into C of m x n. */
static void multiply(const problem *p, form f, dkm_idx i, dkm_idx m, dkm_idx j, dkm_idx n,
                     double *C)
{
    dkm_row_block rows = {p->A + i * p->k, p->k}, columns = {p->A + i, p->m};
    dkm_row_block by_row = {p->B + j * p->k, p->k}, by_column = {p->B + j, p->n};

    memset(C, 0, (size_t)(m * n) * sizeof *C);
    if (f == PLAIN)
        dkm_repro_gemm(m, n, p->k, 1.0, rows, by_column, 0.0, C);
    else if (f == B_TURNED)
        dkm_repro_gemm_nt(m, n, p->k, 1.0, rows, by_row, 0.0, C);
    else
        dkm_repro_gemm_tn(m, n, p->k, 1.0, columns, by_column, C);
}

static double element(const problem *p, form f, dkm_idx i, dkm_idx j)
{
    double sum = 0;

    for (dkm_idx l = 0; l < p->k; l++)
        sum += p->A[f == A_TURNED ? l * p->m + i : i * p->k + l] *
               p->B[f == B_TURNED ? j * p->k + l : l * p->n + j];
    return sum;
}

/* Pieces of all sizes from 1 on, as slabs of ranks would have them. */
static dkm_idx count_differences(const problem *p, form f, const double *all, double *piece)
{
    dkm_idx different = 0, height = 1, width = 3;

    for (dkm_idx i = 0; i < p->m; i += height, height = height * 2 + 1)
        for (dkm_idx j = 0; j < p->n; j += width) {
            dkm_idx m = p->m - i < height ? p->m - i : height;
            dkm_idx n = p->n - j < width ? p->n - j : width;
            multiply(p, f, i, m, j, n, piece);
            for (dkm_idx a = 0; a < m; a++)
                for (dkm_idx b = 0; b < n; b++)
                    different += piece[a * n + b] != all[(i + a) * p->n + j + b];
            width = width * 3 / 2 + 1;
        }
    return different;
}

static void check_shape(dkm_ctx *ctx, dkm_idx m, dkm_idx n, dkm_idx k)
{
    problem p = {.m = m, .n = n, .k = k};
    double *all = NULL, *piece = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, m * k, &p.A)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n * k, &p.B)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, m * n, &all)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, m * n, &piece)));
    fill(1, m * k, p.A);
    fill(2, n * k, p.B);
    for (int f = 0; f < FORMS; f++) {
        if (f == A_TURNED && k > dkm_repro_panel_rows(m))
            continue;
        multiply(&p, (form)f, 0, m, 0, n, all);
        for (dkm_idx i = 0; i < m; i += 17)
            CHECK_CLOSE(all[i * n + i % n], element(&p, (form)f, i, i % n),
                        1e-15 * (double)(k * k));
        CHECK(count_differences(&p, (form)f, all, piece) == 0);
    }
    DKM_FREE(piece);
    DKM_FREE(all);
    DKM_FREE(p.B);
    DKM_FREE(p.A);
}

static void pieces_are_those_of_the_product(dkm_ctx *ctx)
{
    check_shape(ctx, 1087, 92, 3);
    check_shape(ctx, 64, 72, 64);
    check_shape(ctx, 130, 25, 300);
    check_shape(ctx, 1, 1, 1);
}

static void threads_change_nothing(dkm_ctx *ctx)
{
    dkm_ctx_set_threads(ctx, 2);
    dkm_blas_use_threads(ctx);
    pieces_are_those_of_the_product(ctx);
    dkm_ctx_set_threads(ctx, 1);
    dkm_blas_use_threads(ctx);
}

/* 1 + 2^-60 on each of P ranks, less P on the first. */
static void check_sums(dkm_ctx *ctx, dkm_idx count)
{
    int size = dkm_ctx_size(ctx), wrong = 0;
    dkm_twosum *sums = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_calloc(ctx, count, &sums)));
    for (dkm_idx k = 0; k < count; k++) {
        dkm_twosum_add(&sums[k], (double)(k + 1));
        dkm_twosum_add(&sums[k], 0x1p-60 * (double)(k % 7));
        dkm_twosum_add(&sums[k], dkm_ctx_rank(ctx) == 0 ? -(double)size * (double)(k + 1) : 0);
    }
    CHECK_OK(ctx, dkm_twosum_allreduce(ctx, count, sums));
    for (dkm_idx k = 0; k < count; k++)
        wrong += sums[k].hi != 0x1p-60 * (double)(size * (k % 7)) || sums[k].lo != 0;
    CHECK(wrong == 0);
    DKM_FREE(sums);
}

/* Few that every rank adds up, some in a tree, more than a tree takes. */
static void sums_over_ranks_carry_twice_the_precision(dkm_ctx *ctx)
{
    const dkm_idx counts[] = {0, 3, 300, 4096, 40000};

    for (int k = 0; k < 5; k++)
        check_sums(ctx, counts[k]);
}

/* Numbers up to the bound, and sums of them up to it, are integers of 62 bits. */
static void fixed_point_holds_what_is_up_to_the_bound(dkm_ctx *ctx)
{
    const double bounds[] = {1, 3, 1e-300, 1e300, 0x1p-1074, 1e-17};
    double a[] = {-2, 1, NAN};

    (void)ctx;
    for (int k = 0; k < 6; k++) {
        double units = ldexp(bounds[k], dkm_fixed_point_bits(bounds[k]));
        CHECK(units <= 0x1p62 && isfinite(ldexp(1.0, dkm_fixed_point_bits(bounds[k]))));
        CHECK(units >= 0x1p61 || bounds[k] < 1e-250);
    }
    CHECK(isfinite(ldexp(1.0, dkm_fixed_point_bits(0))));
    CHECK(dkm_largest_size(2, a, 1.5) == 2 && dkm_largest_size(2, a, 7) == 7);
    CHECK(isinf(dkm_largest_size(3, a, 0)));
}

static const check_case cases[] = {CASE(pieces_are_those_of_the_product),
                                   CASE(threads_change_nothing),
                                   CASE(sums_over_ranks_carry_twice_the_precision),
                                   CASE(fixed_point_holds_what_is_up_to_the_bound)};

CHECK_MAIN(cases)
