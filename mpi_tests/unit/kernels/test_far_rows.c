/* Kernels of differences, on rows that lie far from the origin and near to each other. */
#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "kernels/evaluation/column_shift.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/evaluation/row_transform.h"
#include "linalg/kernels/gemm_i16.h"
#include "reference/reference_gram.h"
#include "reference/reference_kernel.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 37, NEW = 9, D = 18 };

static double far = 1e6;

/* Columns at different places, numbers of full length. */
static double element(dkm_idx i, dkm_idx k)
{
    return far * (double)(k % 3 + 1) + 0.3 * dkm_random_normal(5, 0, (uint64_t)i, (uint64_t)k);
}

static double new_element(dkm_idx i, dkm_idx k)
{
    return element(1000 + i, k);
}

/* Years, but for a column that is always the same. */
static double whole(dkm_idx i, dkm_idx k)
{
    return k == 4 ? 12345.0 : 2000.0 + (double)((i * i + 7 * k + i * k) % 13);
}

static double new_whole(dkm_idx i, dkm_idx k)
{
    return whole(500 + i, k);
}

static object_value row, new_row;

static double gap(object_value a, dkm_idx i, dkm_idx j, int power)
{
    double x[D], y[D];

    for (dkm_idx k = 0; k < D; k++) {
        x[k] = a(i, k);
        y[k] = row(j, k);
    }
    return reference_gap(D, x, y, power);
}

static double rbf(object_value a, dkm_idx i, dkm_idx j)
{
    return exp(-gap(a, i, j, 2) / 8);
}

static double laplace(object_value a, dkm_idx i, dkm_idx j)
{
    return exp(-gap(a, i, j, 1) / 10);
}

static double rbf_among(dkm_idx i, dkm_idx j)
{
    return rbf(row, i, j);
}

static double rbf_others(dkm_idx i, dkm_idx j)
{
    return rbf(new_row, i, j);
}

static double laplace_among(dkm_idx i, dkm_idx j)
{
    return laplace(row, i, j);
}

static double laplace_others(dkm_idx i, dkm_idx j)
{
    return laplace(new_row, i, j);
}

static double sum_among(dkm_idx i, dkm_idx j)
{
    return rbf(row, i, j) + 2 * laplace(row, i, j);
}

static double sum_others(dkm_idx i, dkm_idx j)
{
    return rbf(new_row, i, j) + 2 * laplace(new_row, i, j);
}

/* Beside a kernel that keeps its own origin. */
static double mixed(object_value a, dkm_idx i, dkm_idx j)
{
    double x[D], y[D];

    for (dkm_idx k = 0; k < D; k++) {
        x[k] = a(i, k);
        y[k] = row(j, k);
    }
    return rbf(a, i, j) +
           reference_dot(D, x, y) / sqrt(reference_dot(D, x, x)) / sqrt(reference_dot(D, y, y));
}

static double mixed_among(dkm_idx i, dkm_idx j)
{
    return mixed(row, i, j);
}

static double mixed_others(dkm_idx i, dkm_idx j)
{
    return mixed(new_row, i, j);
}

/* In single precision too: check_gram() does both. */
static void check_all(dkm_ctx *ctx)
{
    static const struct {
        const char *text;
        kernel_value among, others;
    } all[] = {
        {"rbf(sigma=2)", rbf_among, rbf_others},
        {"rbf(linear, sigma=2)", rbf_among, rbf_others},
        {"rbf(sum(scale(linear, by=0.25), scale(linear, by=0.75)), sigma=2)", rbf_among,
         rbf_others},
        {"laplace(sigma=10)", laplace_among, laplace_others},
        {"sum(rbf(sigma=2), scale(laplace(sigma=10), by=2))", sum_among, sum_others},
        {"sum(rbf(sigma=2), cosine)", mixed_among, mixed_others},
    };
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, row);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, D, new_row);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gram_case c = {all[k].text, X, all[k].among, Z, all[k].others, 1e-14};
        check_gram(ctx, &c);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static void values_far_from_the_origin_keep_their_digits(dkm_ctx *ctx)
{
    row = element;
    new_row = new_element;
    for (far = 1e3; far < 1e10; far *= 1e3)
        check_all(ctx);
    far = 1e6;
}

static void so_do_those_of_whole_numbers(dkm_ctx *ctx)
{
    row = whole;
    new_row = new_whole;
    check_all(ctx);
}

static void whole_numbers_stay_whole(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, whole);
    double *shift = NULL;
    dkm_row_transform by = {.d = D};
    dkm_objs rows = {0};
    int16_t *room = NULL;

    CHECK_OK(ctx, dkm_shift_find(X, &shift));
    CHECK(shift != NULL);
    for (dkm_idx k = 0; shift && k < D; k++)
        CHECK(shift[k] == rint(shift[k]) && (k == 4 ? shift[k] == 12345.0 : shift[k] < 2013));
    if (shift) {
        by.origin = shift;
        CHECK_OK(ctx, dkm_agree(ctx, dkm_row_transform_apply(&by, &X->mine, &rows)));
        CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, rows.n * D, &room)));
        CHECK(dkm_gemm_i16_pack(rows.n, D, rows.values, room) >= 0);
        CHECK(dkm_gemm_i16_pack(rows.n, D, rows.values, room) <= 13);
    }
    DKM_FREE(room);
    dkm_objs_clear(&rows);
    DKM_FREE(shift);
    dkm_data_destroy(&X);
}

/* The same rows, all of them on one rank. */
static void the_origin_is_the_same_on_any_number_of_ranks(dkm_ctx *ctx)
{
    dkm_ctx *alone = NULL;
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, element), *Y = NULL;
    double *all = NULL, *one = NULL;

    CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
    Y = objects_values(alone, DKM_DENSE, M, D, element);
    CHECK_OK(ctx, dkm_shift_find(X, &all));
    CHECK_OK(alone, dkm_shift_find(Y, &one));
    CHECK(all && one && memcmp(all, one, D * sizeof *all) == 0);
    for (dkm_idx k = 0; one && k < D; k++) {
        double mean = 0;
        for (dkm_idx i = 0; i < M; i++)
            mean += element(i, k) / M;
        CHECK_CLOSE(one[k], mean, 1e-8);
    }
    DKM_FREE(all);
    DKM_FREE(one);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_ctx_destroy(&alone);
}

static double standard(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(5, 0, (uint64_t)i, (uint64_t)k) + 0.5;
}

static double infinite(dkm_idx i, dkm_idx k)
{
    return i == 3 && k == 2 ? INFINITY : element(i, k);
}

static double constant(dkm_idx i, dkm_idx k)
{
    (void)i;
    return 0.1 * (double)(k + 1);
}

static void rows_about_the_origin_stay_as_they_are(dkm_ctx *ctx)
{
    static const struct {
        object_value value;
        dkm_idx m;
        int shifted;
    } all[] = {
        {standard, M, 0}, {infinite, M, 0}, {element, 0, 0}, {constant, 5, 1}, {element, 1, 1}};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        dkm_data *X = objects_values(ctx, DKM_DENSE, all[k].m, D, all[k].value);
        double *shift = NULL;
        CHECK_OK(ctx, dkm_shift_find(X, &shift));
        CHECK((shift != NULL) == all[k].shifted);
        for (dkm_idx i = 0; shift && all[k].value == constant && i < D; i++)
            CHECK(shift[i] == constant(0, i));
        DKM_FREE(shift);
        dkm_data_destroy(&X);
    }
}

/* Objects prepared apart from each other have origins of their own. */
static void sides_of_different_origin_are_refused(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, element);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, D, new_element);
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *A = NULL, *B = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf", &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &A));
    CHECK_OK(ctx, dkm_kernel_prepare(k, Z, &B));
    CHECK(dkm_gram_cross(grid, k, B, A, 4, 4, DKM_F64, &K) == DKM_ERR_ARG && !K);
    CHECK(strstr(dkm_ctx_message(ctx), "dkm_kernel_prepare_new") != NULL);
    dkm_prepared_destroy(&B);
    dkm_prepared_destroy(&A);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static int warnings;

static void count_warnings(void *user, dkm_level level, const char *text)
{
    (void)user;
    warnings += level == DKM_WARN && strstr(text, "may be off by") != NULL;
}

/* The error that is expected of a kernel, and whether it is told. */
static double expected_error(dkm_ctx *ctx, const char *text, object_value value, int told)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, value);
    dkm_listener listener = {.message = count_warnings}, none = {0};
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    double error = -1;

    warnings = 0;
    dkm_ctx_set_listener(ctx, listener);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &P));
    CHECK(warnings == (told && dkm_ctx_rank(ctx) == 0));
    dkm_ctx_set_listener(ctx, none);
    if (P)
        error = dkm_prepared_error(P, DKM_F64);
    dkm_prepared_destroy(&P);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    return error;
}

/* poly(degree=1) has the distances of linear, and takes its own origin. */
static void what_is_lost_is_estimated_and_told(dkm_ctx *ctx)
{
    double lost;

    far = 1e6;
    CHECK(expected_error(ctx, "rbf(sigma=2)", element, 0) < 1e-14);
    CHECK(expected_error(ctx, "rbf(sigma=2)", standard, 0) < 1e-13);
    CHECK(expected_error(ctx, "rbf(normalize(rbf(sigma=2)), sigma=1)", element, 0) < 1e-14);
    lost = expected_error(ctx, "rbf(poly(degree=1, c=1), sigma=2)", element, 1);
    CHECK(lost > 1e-4 && lost < 1e-1);
    lost = expected_error(ctx, "rbf(sigma=0.00001)", standard, 1);
    CHECK(lost > 1e-6 && lost < 1e-3);
}

/* With so many bytes on the node, the rows themselves among them. */
static dkm_status prepare_within(dkm_ctx *ctx, const char *text, object_value value, double bytes)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, value);
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;
    dkm_status status;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    dkm_ctx_set_memory(ctx, bytes);
    status = dkm_kernel_prepare(k, X, &P);
    dkm_ctx_set_memory(ctx, 0);
    CHECK((P != NULL) == (status == DKM_OK));
    dkm_prepared_destroy(&P);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    return status;
}

static void copies_of_shifted_rows_are_checked_against_free_memory(dkm_ctx *ctx)
{
    double all = 8.0 * M * D;

    CHECK_OK(ctx, prepare_within(ctx, "rbf", element, 4.0 * all));
    CHECK(prepare_within(ctx, "rbf", element, 1.6 * all) == DKM_ERR_MEMORY);
    CHECK(strstr(dkm_ctx_message(ctx), "means of their columns") != NULL);
    CHECK(prepare_within(ctx, "sum(rbf, laplace)", element, 2.6 * all) == DKM_ERR_MEMORY);
    CHECK_OK(ctx, prepare_within(ctx, "rbf", standard, 1.0));
    CHECK_OK(ctx, prepare_within(ctx, "linear", element, 1.0));
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "sum(rbf, laplace, linear)",
                           objects_values(ctx, DKM_DENSE, 7, D, element));
}

static const check_case cases[] = {
    CASE(values_far_from_the_origin_keep_their_digits),
    CASE(so_do_those_of_whole_numbers),
    CASE(whole_numbers_stay_whole),
    CASE(the_origin_is_the_same_on_any_number_of_ranks),
    CASE(rows_about_the_origin_stay_as_they_are),
    CASE(sides_of_different_origin_are_refused),
    CASE(what_is_lost_is_estimated_and_told),
    CASE(copies_of_shifted_rows_are_checked_against_free_memory),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
