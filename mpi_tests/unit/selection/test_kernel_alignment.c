#include <math.h>
#include <string.h>

#include <dkmap/kernel_alignment.h>
#include <dkmap/random.h>

#include "support/check.h"
#include "support/fixture_objects.h"

enum { SMOOTH, ROUGH, NEGATED, CONSTANT, ZERO, LABELLED, KINDS };

static double label_of(dkm_idx i, dkm_idx k)
{
    (void)k;
    return (double)(i * i % 7 - 3) * 1000.0;
}

static double kind_of_matrix(int kind, dkm_idx i, dkm_idx j)
{
    double gap = (double)(i - j) / 9.0;

    switch (kind) {
    case SMOOTH:
        return exp(-gap * gap);
    case ROUGH:
        return dkm_random_normal(1, 2, (uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i));
    case NEGATED:
        return -3.0 * exp(-gap * gap);
    case CONSTANT:
        return 0.3;
    case ZERO:
        return 0.0;
    default:
        return label_of(i, 0) == label_of(j, 0);
    }
}

/* Only the lower triangle means anything. */
static double lower(void *user, dkm_idx ig, dkm_idx jg)
{
    return ig >= jg ? kind_of_matrix(*(int *)user, ig, jg) : 1e10;
}

static double mean_of_row(int kind, dkm_idx m, dkm_idx i)
{
    double sum = 0;

    for (dkm_idx j = 0; j < m; j++)
        sum += kind_of_matrix(kind, i, j);
    return sum / (double)m;
}

/* Element (i, j), centered where asked. */
static double element(int kind, int centered, dkm_idx m, dkm_idx i, dkm_idx j)
{
    static double means[KINDS][100];
    static dkm_idx order[KINDS];
    double grand = 0;

    if (!centered)
        return kind_of_matrix(kind, i, j);
    for (dkm_idx k = 0; k < m && order[kind] != m; k++)
        means[kind][k] = mean_of_row(kind, m, k);
    order[kind] = m;
    for (dkm_idx k = 0; k < m; k++)
        grand += means[kind][k] / (double)m;
    return kind_of_matrix(kind, i, j) - means[kind][i] - means[kind][j] + grand;
}

static double frobenius(int one, int other, int centered, dkm_idx m)
{
    double sum = 0;

    for (dkm_idx i = 0; i < m; i++)
        for (dkm_idx j = 0; j < m; j++)
            sum += element(one, centered, m, i, j) * element(other, centered, m, i, j);
    return sum;
}

static double oracle(int one, int other, int centered, dkm_idx m)
{
    return frobenius(one, other, centered, m) /
           sqrt(frobenius(one, one, centered, m) * frobenius(other, other, centered, m));
}

static dkm_dmat *matrix(dkm_ctx *ctx, dkm_grid *grid, dkm_idx m, dkm_idx nb, int kind)
{
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_dmat_create(grid, m, m, nb, nb, DKM_F64, &K));
    dkm_dmat_fill(K, lower, &kind);
    return K;
}

static void check_pair(dkm_ctx *ctx, dkm_grid *grid, dkm_idx m, dkm_idx nb, int one, int other)
{
    dkm_dmat *K = matrix(ctx, grid, m, nb, one), *T = matrix(ctx, grid, m, nb, other), *S = NULL;
    dkm_data *labels = objects_values(ctx, DKM_LABELS, m, 1, label_of);
    double got = 7;

    CHECK_OK(ctx, dkm_dmat_convert(T, DKM_F32, &S));
    for (int centered = 0; centered < 2; centered++) {
        double want = oracle(one, other, centered, m);
        CHECK_OK(ctx, dkm_kernel_alignment_grams(K, T, centered, &got));
        CHECK_CLOSE(got, want, 1e-12);
        CHECK_OK(ctx, dkm_kernel_alignment_grams(K, S, centered, &got));
        CHECK_CLOSE(got, want, 1e-5);
        if (other == LABELLED) {
            CHECK_OK(ctx, dkm_kernel_alignment_labels(K, labels, centered, &got));
            CHECK_CLOSE(got, want, 1e-12);
        }
    }
    dkm_data_destroy(&labels);
    dkm_dmat_destroy(&S);
    dkm_dmat_destroy(&T);
    dkm_dmat_destroy(&K);
}

static void alignment_is_that_of_plain_loops(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        check_pair(ctx, grid, 53, 4, SMOOTH, ROUGH);
        check_pair(ctx, grid, 53, 16, SMOOTH, LABELLED);
        check_pair(ctx, grid, 20, 1, ROUGH, LABELLED);
        check_pair(ctx, grid, 5, 64, ROUGH, LABELLED);
        dkm_grid_destroy(&grid);
    }
}

static void a_matrix_is_aligned_with_itself(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *K, *N;
    double a = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    K = matrix(ctx, grid, 31, 3, SMOOTH);
    N = matrix(ctx, grid, 31, 3, NEGATED);
    for (int centered = 0; centered < 2; centered++) {
        CHECK_OK(ctx, dkm_kernel_alignment_grams(K, K, centered, &a));
        CHECK_CLOSE(a, 1.0, 1e-14);
        CHECK_OK(ctx, dkm_kernel_alignment_grams(N, K, centered, &a));
        CHECK_CLOSE(a, -1.0, 1e-14);
    }
    dkm_dmat_destroy(&N);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static double one_label(dkm_idx i, dkm_idx k)
{
    (void)i;
    (void)k;
    return -4.0;
}

static void without_direction_there_is_no_alignment(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_data *same = objects_values(ctx, DKM_LABELS, 31, 1, one_label);
    dkm_dmat *K, *C, *Z;
    double a = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    K = matrix(ctx, grid, 31, 3, SMOOTH);
    C = matrix(ctx, grid, 31, 3, CONSTANT);
    Z = matrix(ctx, grid, 31, 3, ZERO);
    CHECK_OK(ctx, dkm_kernel_alignment_grams(K, Z, 0, &a));
    CHECK(isnan(a));
    CHECK_OK(ctx, dkm_kernel_alignment_grams(C, K, 0, &a));
    CHECK_CLOSE(a, oracle(CONSTANT, SMOOTH, 0, 31), 1e-13);
    CHECK_OK(ctx, dkm_kernel_alignment_grams(C, K, 1, &a));
    CHECK(isnan(a));
    CHECK_OK(ctx, dkm_kernel_alignment_labels(C, same, 0, &a));
    CHECK_CLOSE(a, 1.0, 1e-14);
    CHECK_OK(ctx, dkm_kernel_alignment_labels(K, same, 1, &a));
    CHECK(isnan(a));
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&K);
    dkm_data_destroy(&same);
    dkm_grid_destroy(&grid);
}

static void one_object_is_enough(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_data *labels = objects_values(ctx, DKM_LABELS, 1, 1, label_of);
    dkm_dmat *K;
    double a = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    K = matrix(ctx, grid, 1, 2, SMOOTH);
    CHECK_OK(ctx, dkm_kernel_alignment_labels(K, labels, 0, &a));
    CHECK_CLOSE(a, 1.0, 1e-15);
    CHECK_OK(ctx, dkm_kernel_alignment_labels(K, labels, 1, &a));
    CHECK(isnan(a));
    dkm_dmat_destroy(&K);
    dkm_data_destroy(&labels);
    dkm_grid_destroy(&grid);
}

static void what_does_not_fit_is_refused(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_data *few = objects_values(ctx, DKM_LABELS, 9, 1, label_of);
    dkm_data *rows = objects_values(ctx, DKM_DENSE, 10, 1, label_of);
    dkm_dmat *K, *L, *B, *R = NULL;
    double a = 0;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    K = matrix(ctx, grid, 10, 3, SMOOTH);
    L = matrix(ctx, grid, 11, 3, SMOOTH);
    B = matrix(ctx, grid, 10, 4, SMOOTH);
    CHECK_OK(ctx, dkm_dmat_create(grid, 10, 9, 3, 3, DKM_F64, &R));
    CHECK(dkm_kernel_alignment_grams(K, L, 0, &a) == DKM_ERR_ARG && isnan(a));
    CHECK(strstr(dkm_ctx_message(ctx), "10 x 10") && strstr(dkm_ctx_message(ctx), "11 x 11"));
    CHECK(dkm_kernel_alignment_grams(K, B, 0, &a) == DKM_ERR_ARG);
    CHECK(dkm_kernel_alignment_grams(R, K, 0, &a) == DKM_ERR_ARG);
    CHECK(dkm_kernel_alignment_labels(R, few, 1, &a) == DKM_ERR_ARG);
    CHECK(dkm_kernel_alignment_labels(K, few, 1, &a) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "9 labels"));
    CHECK(dkm_kernel_alignment_labels(K, rows, 1, &a) == DKM_ERR_UNSUPPORTED);
    dkm_dmat_destroy(&R);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&L);
    dkm_dmat_destroy(&K);
    dkm_data_destroy(&rows);
    dkm_data_destroy(&few);
    dkm_grid_destroy(&grid);
}

static dkm_dmat *brutal_matrix;
static dkm_data *brutal_labels;

static dkm_status align_both(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    double a;

    (void)ctx;
    DKM_TRY(dkm_kernel_alignment_grams(brutal_matrix, brutal_matrix, 1, &a));
    DKM_TRY(dkm_kernel_alignment_labels(brutal_matrix, brutal_labels, 1, &a));
out:
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    brutal_matrix = matrix(ctx, grid, 12, 3, SMOOTH);
    brutal_labels = objects_values(ctx, DKM_LABELS, 12, 1, label_of);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, align_both);
    dkm_data_destroy(&brutal_labels);
    dkm_dmat_destroy(&brutal_matrix);
    dkm_grid_destroy(&grid);
}

static const check_case cases[] = {
    CASE(alignment_is_that_of_plain_loops),
    CASE(a_matrix_is_aligned_with_itself),
    CASE(without_direction_there_is_no_alignment),
    CASE(one_object_is_enough),
    CASE(what_does_not_fit_is_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
