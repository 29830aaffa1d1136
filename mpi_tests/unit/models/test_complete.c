/* Joint kernels and missing rows against the forms with inverses. */
#include <math.h>
#include <string.h>

#include <dkmap/complete.h>
#include <dkmap/random.h>

#include "reference/reference_linalg.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 26, N = 5, D = 3 };

static double normal(int stream, int i, int j)
{
    return dkm_random_normal(31, (uint64_t)stream, (uint64_t)i, (uint64_t)j);
}

static double rbf(int i, int j)
{
    double sum = 0;

    for (int k = 0; k < D; k++)
        sum += (normal(0, i, k) - normal(0, j, k)) * (normal(0, i, k) - normal(0, j, k));
    return exp(-sum / 2);
}

/* w_1 Q_1^-1 + w_2 Q_2^-1 + ... inverted. */
static void reference_join(int count, double roots[][N * N], const double *weights, double *q)
{
    double sum[N * N] = {0}, a[N * N], inverse[N * N];

    for (int k = 0; k < count; k++) {
        for (int ij = 0; ij < N * N; ij++) {
            a[ij] = 0;
            inverse[ij] = ij % N == ij / N;
            for (int l = 0; l < N; l++)
                a[ij] += roots[k][ij % N * N + l] * roots[k][ij / N * N + l];
        }
        reference_solve(N, N, a, inverse);
        for (int ij = 0; ij < N * N; ij++)
            sum[ij] += weights[k] * inverse[ij];
    }
    for (int ij = 0; ij < N * N; ij++)
        q[ij] = ij % N == ij / N;
    reference_solve(N, N, sum, q);
}

static void joint_kernels_equal_the_inverse_form(dkm_ctx *ctx)
{
    static double roots[3][N * N];
    const double weights[2][3] = {{0.3, 0.7, 0.0}, {0.2, 0.5, 0.3}};

    for (int k = 0; k < 3 * N * N; k++)
        roots[k / (N * N)][k % (N * N)] = normal(5 + k / (N * N), k % (N * N), 0);
    for (int which = 0; which < 2; which++) {
        dkm_weighted_root both[3];
        double *root = NULL, want[N * N];
        dkm_idx t = 0;
        for (int k = 0; k < 3; k++)
            both[k] = (dkm_weighted_root){N, roots[k], weights[which][k]};
        CHECK_OK(ctx, dkm_parallel_sum(ctx, N, 3, both, &root, &t));
        CHECK(t == N);
        reference_join(2 + which, roots, weights[which], want);
        for (int ij = 0; ij < N * N; ij++) {
            double got = 0;
            for (dkm_idx l = 0; l < t; l++)
                got += root[ij % N * t + l] * root[ij / N * t + l];
            CHECK_CLOSE(got, want[ij], 1e-10 * (1 + fabs(want[ij])));
        }
        dkm_extrapolate_free(&root);
    }
}

/* e1 e1' and e1 e1' + e2 e2': only e1 is in both, where 1 / (0.5 / 1 + 0.5 / 1) = 1. */
static void singular_kernels_meet_in_what_they_share(dkm_ctx *ctx)
{
    const double a[3] = {1, 0, 0}, b[6] = {1, 0, 0, 1, 0, 0}, c[3] = {0, 0, 1};
    dkm_weighted_root both[2] = {{1, a, 0.5}, {2, b, 0.5}};
    double *root = NULL;
    dkm_idx t = 0;

    CHECK_OK(ctx, dkm_parallel_sum(ctx, 3, 2, both, &root, &t));
    CHECK(t == 1);
    for (int i = 0; i < 3; i++)
        CHECK_CLOSE(fabs(root[i]), i == 0 ? 1.0 : 0.0, 1e-14);
    dkm_extrapolate_free(&root);
    both[0].root = c;
    CHECK_OK(ctx, dkm_parallel_sum(ctx, 3, 2, both, &root, &t));
    CHECK(t == 0);
    dkm_extrapolate_free(&root);
}

/* Whatever comes first, and with roots of any rank: Q = Q' >= 0 is what a root makes it, and the
 * order does not matter where each keeps its weight. */
static void roots_without_weight_are_refused(dkm_ctx *ctx)
{
    const double one[3] = {1, 2, 3};
    const dkm_weighted_root none[2] = {{1, one, 0}, {1, one, 0}};
    double *root = NULL;
    dkm_idx t = 777;

    CHECK(dkm_parallel_sum(ctx, 3, 2, none, &root, &t) == DKM_ERR_ARG && !root && t == 0);
}

static void joint_kernels_do_not_depend_on_the_order(dkm_ctx *ctx)
{
    static double a[N * 3], b[N * 4], sums[2][N * N];
    const dkm_weighted_root ab[2] = {{3, a, 0.3}, {4, b, 0.7}}, ba[2] = {{4, b, 0.7}, {3, a, 0.3}};

    for (int k = 0; k < N * 4; k++) {
        a[k % (N * 3)] = normal(15, k % (N * 3), 0);
        b[k] = normal(16, k, 0);
    }
    for (int order = 0; order < 2; order++) {
        double *root = NULL;
        dkm_idx t = 0;
        CHECK_OK(ctx, dkm_parallel_sum(ctx, N, 2, order ? ba : ab, &root, &t));
        CHECK(t == 3 + 4 - N);
        for (int ij = 0; ij < N * N; ij++) {
            sums[order][ij] = 0;
            for (dkm_idx l = 0; l < t; l++)
                sums[order][ij] += root[ij % N * t + l] * root[ij / N * t + l];
        }
        dkm_extrapolate_free(&root);
    }
    for (int ij = 0; ij < N * N; ij++)
        CHECK_CLOSE(sums[0][ij], sums[1][ij], 1e-12);
}

static double known(int i, int j)
{
    double sum = i == j;

    for (int k = 0; k < M; k++)
        sum += normal(8, i, k) * normal(8, j, k) / M;
    return sum;
}

static double complete(int i, int j)
{
    return rbf(i, j) + (i == j ? 0.5 : 0.0);
}

static dkm_status square(dkm_ctx *ctx, double (*value)(int i, int j), dkm_data **K)
{
    dkm_status status = dkm_data_create_dense(ctx, M, M, K);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*K) * M; k++)
        dkm_data_values(*K)[k] = value((int)(dkm_data_local_first(*K) + k / M), (int)(k % M));
    return status;
}

/* Every fourth object is missing. */
static dkm_status mask(dkm_ctx *ctx, dkm_idx m, dkm_data **observed)
{
    dkm_status status = dkm_data_create_labels(ctx, m, observed);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*observed); i++)
        dkm_data_values(*observed)[i] = (dkm_data_local_first(*observed) + i) % 4 != 1;
    return status;
}

static dkm_status complete_by(dkm_ctx *ctx, dkm_idx m, double lambda, dkm_data **Z)
{
    dkm_status status = DKM_OK;
    dkm_complete_settings settings = {.extrapolate = dkm_extrapolate_settings_default()};
    dkm_completion *completion = NULL;
    dkm_data *K = NULL, *S = NULL, *observed = NULL;

    DKM_TRY(square(ctx, known, &K));
    DKM_TRY(square(ctx, complete, &S));
    DKM_TRY(mask(ctx, m, &observed));
    DKM_TRY(dkm_completion_open(K, S, observed, &settings, &completion, NULL));
    DKM_TRY(dkm_completion_join(completion, lambda, Z));
out:
    dkm_completion_close(&completion);
    dkm_data_destroy(&observed);
    dkm_data_destroy(&S);
    dkm_data_destroy(&K);
    return status;
}

/* With A = K_OO and B = S_OO regular: S(:, O) (l B + (1 - l) B A^-1 B)^-1 S(O, :). */
static void reference_complete(double lambda, double *want)
{
    static double A[M * M], B[M * M], C[M * M], E[M * M];
    int o[M], n = 0;

    for (int i = 0; i < M; i++)
        if (i % 4 != 1)
            o[n++] = i;
    for (int ij = 0; ij < n * n; ij++) {
        A[ij] = known(o[ij % n], o[ij / n]);
        B[ij] = C[ij] = complete(o[ij % n], o[ij / n]);
    }
    reference_solve(n, n, A, C); /* A^-1 B */
    reference_multiply(n, 0, 0, B, C, E);
    for (int ij = 0; ij < n * n; ij++)
        E[ij] = lambda * B[ij] + (1 - lambda) * E[ij];
    for (int ij = 0; ij < n * M; ij++)
        C[ij] = complete(o[ij % n], ij / n);
    reference_solve(n, M, E, C);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            want[i + j * M] = 0;
            for (int k = 0; k < n; k++)
                want[i + j * M] += complete(i, o[k]) * C[k + j * n];
        }
}

static void missing_rows_are_filled_and_combined(dkm_ctx *ctx)
{
    static double z[M * M], want[M * M];

    for (double lambda = 0; lambda < 1.1; lambda += 0.25) {
        dkm_data *Z = NULL;
        dkm_idx t;
        CHECK_OK(ctx, complete_by(ctx, M, lambda, &Z));
        t = dkm_data_cols(Z);
        objects_gather(Z, z);
        reference_complete(lambda, want);
        for (int ij = 0; ij < M * M; ij++) {
            double got = 0;
            for (dkm_idx k = 0; k < t; k++)
                got += z[ij % M * t + k] * z[ij / M * t + k];
            CHECK_CLOSE(got, want[ij], 1e-9);
        }
        dkm_data_destroy(&Z);
    }
}

static void wrong_masks_and_weights_are_refused(dkm_ctx *ctx)
{
    dkm_data *Z = NULL;

    CHECK(complete_by(ctx, M - 1, 0.5, &Z) == DKM_ERR_ARG && !Z);
    CHECK(strstr(dkm_ctx_message(ctx), "25 x 1") != NULL);
    CHECK(complete_by(ctx, M, 1.5, &Z) == DKM_ERR_ARG && !Z);
    CHECK(strstr(dkm_ctx_message(ctx), "lambda") != NULL);
}

static dkm_status by_joining(dkm_ctx *ctx)
{
    const double a[4] = {1, 0, 0, 1}, b[4] = {1, 0, 0, 2};
    const dkm_weighted_root both[2] = {{2, a, 0.5}, {2, b, 0.5}};
    double *root = NULL;
    dkm_idx t = 0;
    dkm_status status = dkm_parallel_sum(ctx, 2, 2, both, &root, &t);

    dkm_extrapolate_free(&root);
    return status;
}

static dkm_status by_completing(dkm_ctx *ctx)
{
    dkm_data *Z = NULL;
    dkm_status status = complete_by(ctx, M, 0.5, &Z);

    dkm_data_destroy(&Z);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, by_joining);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, by_completing);
}

static const check_case cases[] = {
    CASE(joint_kernels_equal_the_inverse_form),     CASE(roots_without_weight_are_refused),
    CASE(joint_kernels_do_not_depend_on_the_order), CASE(singular_kernels_meet_in_what_they_share),
    CASE(missing_rows_are_filled_and_combined),     CASE(wrong_masks_and_weights_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
