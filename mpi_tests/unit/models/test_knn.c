#include <math.h>
#include <string.h>

#include <dkmap/knn.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 25, NEW = 9, D = 2 };

static double input(uint64_t stream, dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(1, stream, (uint64_t)i, (uint64_t)j);
}

static double label(dkm_idx i)
{
    return (double)(i % 4);
}

static dkm_status make_inputs(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, D, X);

    for (dkm_idx k = 0; status == DKM_OK && k < D * dkm_data_local_rows(*X); k++)
        dkm_data_values(*X)[k] = input(stream, dkm_data_local_first(*X) + k / D, k % D);
    return status;
}

static dkm_status make_outputs(dkm_ctx *ctx, int labels, dkm_data **Y)
{
    dkm_status status =
        labels ? dkm_data_create_labels(ctx, M, Y) : dkm_data_create_dense(ctx, M, 1, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = label(dkm_data_local_first(*Y) + i);
    return status;
}

static dkm_status fit(dkm_ctx *ctx, int labels, dkm_idx k, const char *expression,
                      dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_knn_settings s = {.k = k};
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;

    *model = NULL;
    DKM_TRY(dkm_kernel_parse(ctx, expression, &kernel));
    DKM_TRY(make_inputs(ctx, 0, M, &X));
    DKM_TRY(make_outputs(ctx, labels, &Y));
    DKM_TRY(dkm_knn_fit(ctx, X, Y, kernel, NULL, &s, model));
out:
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* The obvious way: pick the nearest k times by plain distance (that of rbf falls with it). */
static double oracle(dkm_idx i, dkm_idx k, int labels)
{
    int used[M] = {0}, votes[4] = {0}, best_votes = 0;
    double first[4] = {0}, sum = 0, chosen = 0;

    for (dkm_idx turn = 0; turn < k; turn++) {
        double best = INFINITY;
        int at = -1;
        for (int t = 0; t < M; t++) {
            double d = hypot(input(1, i, 0) - input(0, t, 0), input(1, i, 1) - input(0, t, 1));
            if (!used[t] && d < best) {
                best = d;
                at = t;
            }
        }
        used[at] = 1;
        sum += label(at);
        if (votes[(int)label(at)]++ == 0)
            first[(int)label(at)] = (double)turn;
    }
    for (int c = 0; c < 4; c++)
        if (votes[c] > best_votes ||
            (votes[c] == best_votes && votes[c] > 0 && first[c] < first[(int)chosen])) {
            best_votes = votes[c];
            chosen = c;
        }
    return labels ? chosen : sum / (double)k;
}

static void predictions_match_the_obvious_way(dkm_ctx *ctx)
{
    const char *kernels[] = {"rbf(sigma=2)", "linear"};

    for (int labels = 0; labels < 2; labels++)
        for (dkm_idx k = 1; k <= 7; k += 3)
            for (int e = 0; e < 2; e++) {
                dkm_model *model = NULL;
                dkm_data *X = NULL, *Y = NULL;
                CHECK_OK(ctx, fit(ctx, labels, k, kernels[e], &model));
                CHECK_OK(ctx, make_inputs(ctx, 1, NEW, &X));
                CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
                for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
                    CHECK_CLOSE(dkm_data_values_const(Y)[i],
                                oracle(dkm_data_local_first(Y) + i, k, labels), 1e-12);
                dkm_data_destroy(&X);
                dkm_data_destroy(&Y);
                dkm_model_destroy(&model);
            }
}

enum { TOP = 4 };

/* A model whose outputs, two-digit strings or numbers, have the kernel @p ky. */
static dkm_status fit_with_kernel(dkm_ctx *ctx, dkm_idx k, const char *ky, int strings,
                                  dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_knn_settings s = {.k = k};
    dkm_kernel *kx = NULL, *kernel = NULL;
    dkm_data *X = NULL, *Y = NULL;
    dkm_idx lengths[M], length;

    *model = NULL;
    for (int i = 0; i < M; i++)
        lengths[i] = 2;
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, ky, &kernel));
    DKM_TRY(make_inputs(ctx, 0, M, &X));
    DKM_TRY(strings ? dkm_data_create_strings(ctx, M, lengths, &Y) : make_outputs(ctx, 0, &Y));
    for (dkm_idx i = 0; strings && i < dkm_data_local_rows(Y); i++) {
        char *text = dkm_data_string(Y, i, &length);
        text[0] = (char)('a' + (dkm_data_local_first(Y) + i) % 4);
        text[1] = (char)('a' + (dkm_data_local_first(Y) + i) % 3);
    }
    DKM_TRY(dkm_knn_fit(ctx, X, Y, kx, kernel, &s, model));
out:
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_kernel_destroy(&kernel);
    dkm_kernel_destroy(&kx);
    return status;
}

/* Neighbours of new input i by plain distance, nearest first. */
static void plain_neighbours(dkm_idx i, dkm_idx k, int *nearest)
{
    int used[M] = {0};

    for (dkm_idx turn = 0; turn < k; turn++) {
        double best = INFINITY;
        for (int t = 0; t < M; t++) {
            double d = hypot(input(1, i, 0) - input(0, t, 0), input(1, i, 1) - input(0, t, 1));
            if (!used[t] && d < best) {
                best = d;
                nearest[turn] = t;
            }
        }
        used[nearest[turn]] = 1;
    }
}

/* ||phi(c) - mean||^2 where l(s, t) counts letters that both have (spectrum of p = 1), or where
 * outputs are numbers and l is linear. */
static double output_kernel(int a, int b, int strings)
{
    double sum = 0;

    if (!strings)
        return label(a) * label(b);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            sum += (i ? a % 3 : a % 4) == (j ? b % 3 : b % 4);
    return sum;
}

static double mean_distance(int c, dkm_idx k, const int *nearest, int strings)
{
    double d = output_kernel(c, c, strings), n = (double)k;

    for (dkm_idx a = 0; a < k; a++) {
        d -= 2 * output_kernel(c, nearest[a], strings) / n;
        for (dkm_idx b = 0; b < k; b++)
            d += output_kernel(nearest[a], nearest[b], strings) / (n * n);
    }
    return d;
}

static void means_in_output_space_find_the_nearest_output(dkm_ctx *ctx)
{
    for (int strings = 0; strings < 2; strings++)
        for (dkm_idx k = 1; k <= 5; k += 2) {
            dkm_preimage_settings list = {.top = TOP};
            dkm_model *model = NULL;
            dkm_data *X = NULL, *Y = NULL;
            CHECK_OK(ctx, fit_with_kernel(ctx, k, strings ? "spectrum(p=1)" : "linear", strings,
                                          &model));
            CHECK_OK(ctx, make_inputs(ctx, 1, NEW, &X));
            CHECK_OK(ctx, dkm_model_configure(model, &list));
            CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
            CHECK(dkm_data_cols(Y) == 2 * TOP && dkm_model_output_cols(model) == 2 * TOP);
            for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
                const double *row = dkm_data_values_const(Y) + i * 2 * TOP;
                int nearest[M], nearer = 0;
                plain_neighbours(dkm_data_local_first(Y) + i, k, nearest);
                for (int t = 0; t < TOP; t++)
                    CHECK_CLOSE(row[2 * t + 1], mean_distance((int)row[2 * t], k, nearest, strings),
                                1e-12);
                for (int c = 0; c < M; c++)
                    nearer += mean_distance(c, k, nearest, strings) < row[2 * TOP - 1] - 1e-12;
                CHECK(nearer < TOP);
            }
            dkm_data_destroy(&Y);
            dkm_data_destroy(&X);
            dkm_model_destroy(&model);
        }
}

static void outputs_without_a_kernel_have_no_preimages(dkm_ctx *ctx)
{
    dkm_preimage_settings list = {.top = 2}, many = {.top = M + 1};
    dkm_model *model = NULL;

    CHECK_OK(ctx, fit(ctx, 0, 2, "linear", &model));
    CHECK(dkm_model_configure(model, &list) == DKM_ERR_UNSUPPORTED);
    dkm_model_destroy(&model);
    CHECK_OK(ctx, fit_with_kernel(ctx, 2, "linear", 0, &model));
    CHECK(dkm_model_configure(model, &many) == DKM_ERR_ARG);
    dkm_model_destroy(&model);
}

static void impossible_numbers_of_neighbours_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = NULL;

    CHECK(fit(ctx, 1, 0, "linear", &model) == DKM_ERR_ARG && !model);
    CHECK(fit(ctx, 1, M + 1, "linear", &model) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "take 1 to 25") != NULL);
}

static dkm_status fit_and_predict(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL;

    DKM_TRY(fit(ctx, 0, 2, "linear", &model));
    DKM_TRY(make_inputs(ctx, 1, 3, &X));
    DKM_TRY(dkm_model_predict(model, X, &Y));
out:
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
    return status;
}

static dkm_status fit_and_predict_strings(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL;

    DKM_TRY(fit_with_kernel(ctx, 2, "spectrum(p=1)", 1, &model));
    DKM_TRY(make_inputs(ctx, 1, 3, &X));
    DKM_TRY(dkm_model_predict(model, X, &Y));
out:
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_predict);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_predict_strings);
}

static const check_case cases[] = {
    CASE(predictions_match_the_obvious_way),
    CASE(means_in_output_space_find_the_nearest_output),
    CASE(outputs_without_a_kernel_have_no_preimages),
    CASE(impossible_numbers_of_neighbours_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
