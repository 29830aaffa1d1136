/* Feature maps against their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/features.h>
#include <dkmap/random.h>

#include "support/check.h"
#include "support/fixture_objects.h"

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
static void reference_choose(int farthest, int *places)
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

static dkm_status landmarks(dkm_ctx *ctx, dkm_landmark_method choice, dkm_features **map,
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

static void check_places(dkm_ctx *ctx, dkm_landmark_method choice, const int *places)
{
    static double f[M * N];
    dkm_features *map = NULL;
    dkm_data *F = NULL;

    CHECK_OK(ctx, landmarks(ctx, choice, &map, &F));
    CHECK(dkm_features_count(map) == N && dkm_data_cols(F) == N);
    objects_gather(F, f);
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
    reference_choose(1, places);
    check_places(ctx, DKM_LANDMARKS_FARTHEST, places);
    reference_choose(0, places);
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
        objects_gather(F, f);
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
    objects_gather(F, f);
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

/* Weights make a point of the map of the others, and a new one of those nearest to it: on a line
 * halfway between two. */
static void weights_are_those_of_neighbours(dkm_ctx *ctx)
{
    enum { LINE = 9 };
    static double f[LINE * LINE], g[2 * LINE];
    dkm_features *map = NULL;
    dkm_data *X = NULL, *Z = NULL, *F = NULL, *G = NULL;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, LINE, 1, &X));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 2, 1, &Z));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        dkm_data_values(X)[i] = (double)(dkm_data_local_first(X) + i);
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++)
        dkm_data_values(Z)[i] = dkm_data_local_first(Z) + i == 0 ? 3.5 : 6.0;
    CHECK_OK(ctx, dkm_features_lle(X, 2, 1e-12, &map, &F));
    CHECK(dkm_features_count(map) == LINE);
    CHECK_OK(ctx, dkm_features_apply(map, Z, &G));
    objects_gather(F, f);
    objects_gather(G, g);
    for (int i = 1; i < LINE - 1; i++)
        for (int j = 0; j < LINE; j++)
            CHECK_CLOSE(f[i * LINE + j], abs(i - j) == 1 ? 0.5 : 0.0, 1e-9);
    for (int j = 0; j < LINE; j++) {
        CHECK_CLOSE(g[j], j == 3 || j == 4 ? 0.5 : 0.0, 1e-9);
        CHECK_CLOSE(g[LINE + j], j == 6 ? 1.0 : 0.0, 1e-9);
    }
    dkm_data_destroy(&G);
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
    CHECK(dkm_features_lle(Z, 2, 1e-3, &map, &F) == DKM_ERR_ARG && !map && !F);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
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

static dkm_status by_weights(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_features *map = NULL;
    dkm_data *X = NULL, *F = NULL;

    DKM_TRY(points(ctx, 0, 6, D, &X));
    DKM_TRY(dkm_features_lle(X, 2, 1e-3, &map, &F));
out:
    dkm_data_destroy(&F);
    dkm_features_destroy(&map);
    dkm_data_destroy(&X);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, by_landmarks);
    check_every_allocation(ctx, 0, by_fisher);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, by_weights);
}

static const check_case cases[] = {
    CASE(landmarks_are_those_of_their_rule),      CASE(landmarks_end_where_nothing_is_left),
    CASE(fisher_scores_are_those_of_their_model), CASE(weights_are_those_of_neighbours),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
