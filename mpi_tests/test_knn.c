#include <math.h>
#include <string.h>

#include <dkmap/knn.h>
#include <dkmap/random.h>

#include "check.h"

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
    DKM_TRY(dkm_knn_fit(ctx, &X, &Y, kernel, &s, model));
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

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_and_predict);
}

static const check_case cases[] = {
    CASE(predictions_match_the_obvious_way),
    CASE(impossible_numbers_of_neighbours_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
