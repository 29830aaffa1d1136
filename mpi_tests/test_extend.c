#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/extend.h>
#include <dkmap/random.h>

#include "check.h"
#include "oracle_linalg.h"

enum { M = 26, N = 5, D = 3 };

static double normal(int stream, int i, int j)
{
    return dkm_random_normal(31, (uint64_t)stream, (uint64_t)i, (uint64_t)j);
}

static dkm_status points(dkm_ctx *ctx, int stream, dkm_idx m, dkm_idx d, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * d; k++)
        dkm_data_values(*X)[k] =
            normal(stream, (int)(dkm_data_local_first(*X) + k / d), (int)(k % d));
    return status;
}

/* All of some rows on every rank. */
static void gather(dkm_ctx *ctx, const dkm_data *X, double *all)
{
    dkm_idx d = dkm_data_cols(X), count = dkm_data_rows(X) * d;

    memset(all, 0, (size_t)count * sizeof *all);
    memcpy(all + dkm_data_local_first(X) * d, dkm_data_values_const(X),
           (size_t)(dkm_data_local_rows(X) * d) * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
}

static double rbf(int i, int j)
{
    double sum = 0;

    for (int k = 0; k < D; k++)
        sum += (normal(0, i, k) - normal(0, j, k)) * (normal(0, i, k) - normal(0, j, k));
    return exp(-sum / 2);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Greedy choices the slow way: the farthest, or the largest pivot of K less what is explained. */
static void oracle_choose(int farthest, int *places)
{
    static double R[M][M];
    double left[M];
    int next = 0;

    for (int i = 0; i < M; i++) {
        left[i] = INFINITY;
        for (int j = 0; j < M; j++)
            R[i][j] = rbf(i, j);
    }
    for (int n = 0; n < N; n++) {
        int p = next;
        places[n] = p;
        for (int i = 0; i < M; i++)
            left[i] =
                farthest ? fmin(left[i], 2 - 2 * rbf(i, p)) : R[i][i] - R[i][p] * R[i][p] / R[p][p];
        if (!farthest)
            for (int i = 0; i < M; i++)
                for (int j = 0; j < M; j++)
                    if (i != p && j != p)
                        R[i][j] -= R[i][p] * R[p][j] / R[p][p];
        for (int j = 0; j < M && !farthest; j++)
            R[p][j] = R[j][p] = j == p ? 1e-300 : 0.0;
        left[p] = 0;
        for (int i = next = 0; i < M; i++)
            next = left[i] > left[next] ? i : next;
    }
    qsort(places, N, sizeof *places, compare);
}

static dkm_status landmarks(dkm_ctx *ctx, dkm_landmark_choice choice, dkm_features **map,
                            dkm_data **F)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {0};
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;

    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1)", &kernel));
    DKM_TRY(points(ctx, 0, M, D, &X));
    DKM_TRY(dkm_features_landmarks(X, kernel, N, choice, &layout, map));
    DKM_TRY(dkm_features_apply(*map, X, F));
out:
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static void check_places(dkm_ctx *ctx, dkm_landmark_choice choice, const int *places)
{
    static double f[M * N];
    dkm_features *map = NULL;
    dkm_data *F = NULL;

    CHECK_OK(ctx, landmarks(ctx, choice, &map, &F));
    CHECK(dkm_features_count(map) == N && dkm_data_cols(F) == N);
    gather(ctx, F, f);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            CHECK_CLOSE(f[i * N + j], rbf(i, places[j]), 1e-14);
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
}

static void landmarks_are_those_of_their_rule(dkm_ctx *ctx)
{
    int places[N] = {0, 1, 2, 3, 4};

    check_places(ctx, DKM_LANDMARKS_FIRST, places);
    oracle_choose(1, places);
    check_places(ctx, DKM_LANDMARKS_FARTHEST, places);
    oracle_choose(0, places);
    check_places(ctx, DKM_LANDMARKS_CHOLESKY, places);
}

/* Two objects of one kind leave nothing of the others: fewer landmarks than asked for. */
static void landmarks_end_where_nothing_is_left(dkm_ctx *ctx)
{
    dkm_layout layout = {0};
    dkm_kernel *kernel = NULL;
    dkm_features *map = NULL;
    dkm_data *X = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &kernel));
    CHECK_OK(ctx, points(ctx, 0, M, D, &X));
    CHECK_OK(ctx, dkm_features_landmarks(X, kernel, N, DKM_LANDMARKS_CHOLESKY, &layout, &map));
    CHECK(dkm_features_count(map) == D);
    dkm_features_destroy(&map);
    CHECK(dkm_features_landmarks(X, kernel, M + 1, DKM_LANDMARKS_FIRST, &layout, &map) ==
          DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "27 landmarks of 26") && !map);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
}

static const char *const texts[] = {"abba", "a", "", "cab", "bbbbc", "acac", "bc"};
enum { TEXTS = 7, LETTERS = 3 };

static dkm_status strings(dkm_ctx *ctx, dkm_data **X)
{
    dkm_status status;
    dkm_idx lengths[TEXTS], length;
    int size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(TEXTS, dkm_ctx_rank(ctx), size);

    for (dkm_idx i = 0; i < dkm_slab_count(TEXTS, dkm_ctx_rank(ctx), size); i++)
        lengths[i] = (dkm_idx)strlen(texts[first + i]);
    status = dkm_data_create_strings(ctx, TEXTS, lengths, X);
    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*X); i++) {
        char *text = dkm_data_string(*X, i, &length);
        memcpy(text, texts[first + i], (size_t)length);
    }
    return status;
}

/* Counts of pairs of letters of a text, plus those of all texts. */
static void count_pairs(int i, double pairs[LETTERS][LETTERS])
{
    for (const char *c = texts[i]; *c && c[1]; c++)
        pairs[c[0] - 'a'][c[1] - 'a'] += 1;
}

static void check_markov(const double *f)
{
    double all[LETTERS][LETTERS];

    for (int a = 0; a < LETTERS; a++)
        for (int b = 0; b < LETTERS; b++)
            all[a][b] = 1;
    for (int i = 0; i < TEXTS; i++)
        count_pairs(i, all);
    for (int i = 0; i < TEXTS; i++) {
        double own[LETTERS][LETTERS] = {{0}};
        count_pairs(i, own);
        for (int a = 0; a < LETTERS; a++)
            for (int b = 0; b < LETTERS; b++) {
                double p = all[a][b] / (all[a][0] + all[a][1] + all[a][2]);
                double seen = own[a][0] + own[a][1] + own[a][2];
                CHECK_CLOSE(f[i * 9 + a * 3 + b], (own[a][b] - seen * p) / sqrt(p), 1e-13);
            }
    }
}

static void check_multinomial(const double *f)
{
    double share[LETTERS] = {0}, total = 0;

    for (int i = 0; i < TEXTS; i++)
        for (const char *c = texts[i]; *c; c++, total++)
            share[*c - 'a'] += 1;
    for (int i = 0; i < TEXTS; i++)
        for (int a = 0; a < LETTERS; a++) {
            double p = share[a] / total, own = 0;
            for (const char *c = texts[i]; *c; c++)
                own += *c - 'a' == a;
            CHECK_CLOSE(f[i * 3 + a], (own - (double)strlen(texts[i]) * p) / sqrt(p), 1e-13);
        }
}

static void fisher_scores_are_those_of_their_model(dkm_ctx *ctx)
{
    static double f[M * 2 * D];
    dkm_features *map = NULL;
    dkm_data *X = NULL, *F = NULL;

    CHECK_OK(ctx, strings(ctx, &X));
    for (int model = DKM_FISHER_MULTINOMIAL; model <= DKM_FISHER_MARKOV; model += 2) {
        CHECK_OK(ctx, dkm_features_fisher(X, (dkm_fisher_model)model, &map));
        CHECK_OK(ctx, dkm_features_apply(map, X, &F));
        gather(ctx, F, f);
        if (model == DKM_FISHER_MARKOV)
            check_markov(f);
        else
            check_multinomial(f);
        dkm_data_destroy(&F);
        dkm_features_destroy(&map);
    }
    CHECK(dkm_features_fisher(X, DKM_FISHER_GAUSSIAN, &map) == DKM_ERR_UNSUPPORTED && !map);
    dkm_data_destroy(&X);
    CHECK_OK(ctx, points(ctx, 0, M, D, &X));
    CHECK(dkm_features_fisher(X, DKM_FISHER_MULTINOMIAL, &map) == DKM_ERR_ARG && !map);
    CHECK_OK(ctx, dkm_features_fisher(X, DKM_FISHER_GAUSSIAN, &map));
    CHECK_OK(ctx, dkm_features_apply(map, X, &F));
    gather(ctx, F, f);
    for (int j = 0; j < 2 * D; j++) { /* zero mean, and unit variance of the first half */
        double sum = 0, square = 0;
        for (int i = 0; i < M; i++) {
            sum += f[i * 2 * D + j];
            square += f[i * 2 * D + j] * f[i * 2 * D + j];
        }
        CHECK_CLOSE(sum, 0.0, 1e-12);
        CHECK(j >= D || fabs(square / M - 1) < 1e-12);
    }
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
    dkm_data_destroy(&X);
}

/* w_1 Q_1^-1 + w_2 Q_2^-1 + ... inverted. */
static void oracle_join(int count, double roots[][N * N], const double *weights, double *q)
{
    double sum[N * N] = {0}, a[N * N], inverse[N * N];

    for (int k = 0; k < count; k++) {
        for (int ij = 0; ij < N * N; ij++) {
            a[ij] = 0;
            inverse[ij] = ij % N == ij / N;
            for (int l = 0; l < N; l++)
                a[ij] += roots[k][ij % N * N + l] * roots[k][ij / N * N + l];
        }
        oracle_solve(N, N, a, inverse);
        for (int ij = 0; ij < N * N; ij++)
            sum[ij] += weights[k] * inverse[ij];
    }
    for (int ij = 0; ij < N * N; ij++)
        q[ij] = ij % N == ij / N;
    oracle_solve(N, N, sum, q);
}

static void joint_kernels_equal_the_inverse_form(dkm_ctx *ctx)
{
    static double roots[3][N * N];
    const double weights[2][3] = {{0.3, 0.7, 0.0}, {0.2, 0.5, 0.3}};

    for (int k = 0; k < 3 * N * N; k++)
        roots[k / (N * N)][k % (N * N)] = normal(5 + k / (N * N), k % (N * N), 0);
    for (int which = 0; which < 2; which++) {
        dkm_weighed_root both[3];
        double *root = NULL, want[N * N];
        dkm_idx t = 0;
        for (int k = 0; k < 3; k++)
            both[k] = (dkm_weighed_root){N, roots[k], weights[which][k]};
        CHECK_OK(ctx, dkm_extrapolate_join(ctx, N, 3, both, &root, &t));
        CHECK(t == N);
        oracle_join(2 + which, roots, weights[which], want);
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
    dkm_weighed_root both[2] = {{1, a, 0.5}, {2, b, 0.5}};
    double *root = NULL;
    dkm_idx t = 0;

    CHECK_OK(ctx, dkm_extrapolate_join(ctx, 3, 2, both, &root, &t));
    CHECK(t == 1);
    for (int i = 0; i < 3; i++)
        CHECK_CLOSE(fabs(root[i]), i == 0 ? 1.0 : 0.0, 1e-14);
    dkm_extrapolate_free(&root);
    both[0].root = c;
    CHECK_OK(ctx, dkm_extrapolate_join(ctx, 3, 2, both, &root, &t));
    CHECK(t == 0);
    dkm_extrapolate_free(&root);
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
    dkm_data *K = NULL, *S = NULL, *observed = NULL;

    DKM_TRY(square(ctx, known, &K));
    DKM_TRY(square(ctx, complete, &S));
    DKM_TRY(mask(ctx, m, &observed));
    DKM_TRY(dkm_extend_complete(K, S, observed, lambda, &settings, Z, NULL));
out:
    dkm_data_destroy(&observed);
    dkm_data_destroy(&S);
    dkm_data_destroy(&K);
    return status;
}

/* With A = K_OO and B = S_OO regular: S(:, O) (l B + (1 - l) B A^-1 B)^-1 S(O, :). */
static void oracle_complete(double lambda, double *want)
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
    oracle_solve(n, n, A, C); /* A^-1 B */
    oracle_multiply(n, 0, 0, B, C, E);
    for (int ij = 0; ij < n * n; ij++)
        E[ij] = lambda * B[ij] + (1 - lambda) * E[ij];
    for (int ij = 0; ij < n * M; ij++)
        C[ij] = complete(o[ij % n], ij / n);
    oracle_solve(n, M, E, C);
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
        gather(ctx, Z, z);
        oracle_complete(lambda, want);
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

static dkm_status by_landmarks(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = {0};
    dkm_kernel *kernel = NULL;
    dkm_features *map = NULL;
    dkm_data *X = NULL, *F = NULL;

    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1)", &kernel));
    DKM_TRY(points(ctx, 0, 6, D, &X));
    DKM_TRY(dkm_features_landmarks(X, kernel, 2, DKM_LANDMARKS_CHOLESKY, &layout, &map));
    DKM_TRY(dkm_features_apply(map, X, &F));
out:
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
    dkm_data_destroy(&X);
    dkm_kernel_destroy(&kernel);
    return status;
}

static dkm_status by_fisher(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_features *map = NULL;
    dkm_data *X = NULL, *F = NULL;

    DKM_TRY(strings(ctx, &X));
    DKM_TRY(dkm_features_fisher(X, DKM_FISHER_MARKOV, &map));
    DKM_TRY(dkm_features_apply(map, X, &F));
out:
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
    dkm_data_destroy(&X);
    return status;
}

static dkm_status by_joining(dkm_ctx *ctx)
{
    const double a[4] = {1, 0, 0, 1}, b[4] = {1, 0, 0, 2};
    const dkm_weighed_root both[2] = {{2, a, 0.5}, {2, b, 0.5}};
    double *root = NULL;
    dkm_idx t = 0;
    dkm_status status = dkm_extrapolate_join(ctx, 2, 2, both, &root, &t);

    dkm_extrapolate_free(&root);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, by_landmarks);
    check_every_allocation(ctx, 0, by_fisher);
    check_every_allocation(ctx, 0, by_joining);
}

static const check_case cases[] = {
    CASE(landmarks_are_those_of_their_rule),        CASE(landmarks_end_where_nothing_is_left),
    CASE(fisher_scores_are_those_of_their_model),   CASE(joint_kernels_equal_the_inverse_form),
    CASE(singular_kernels_meet_in_what_they_share), CASE(missing_rows_are_filled_and_combined),
    CASE(wrong_masks_and_weights_are_refused),      CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
