#include "reference/reference_cv.h"

#include <math.h>
#include <string.h>

#include <dkmap/folds.h>
#include <dkmap/kde.h>
#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "support/check.h"

#define OUTER_STREAM 0x666f6c6473u

const double cv_gammas[CV_GAMMAS] = {0.01, 0.5};

static double input(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(1, 0, (uint64_t)i, (uint64_t)j);
}

static dkm_status make_strings(dkm_ctx *ctx, dkm_data **Y)
{
    dkm_idx lengths[CV_M], length;
    dkm_status status;

    for (dkm_idx i = 0; i < CV_M; i++)
        lengths[i] = 4;
    status = dkm_data_create_strings(ctx, CV_M, lengths, Y);
    for (dkm_idx il = 0; status == DKM_OK && il < dkm_data_local_rows(*Y); il++) {
        dkm_idx i = dkm_data_local_first(*Y) + il;
        char *text = dkm_data_string(*Y, il, &length);
        for (dkm_idx k = 0; k < length; k++)
            text[k] = input(i, k % CV_D) * (double)(k + 1) > 0.4 ? 'a' : 'b';
    }
    return status;
}

static dkm_status make_outputs(dkm_ctx *ctx, cv_output kind, dkm_data **Y)
{
    dkm_status status = kind == CV_STRINGS  ? make_strings(ctx, Y)
                        : kind == CV_LABELS ? dkm_data_create_labels(ctx, CV_M, Y)
                                            : dkm_data_create_dense(ctx, CV_M, CV_D, Y);

    for (dkm_idx k = 0;
         status == DKM_OK && kind != CV_STRINGS && k < dkm_data_local_rows(*Y) * dkm_data_cols(*Y);
         k++) {
        dkm_idx d = dkm_data_cols(*Y), i = dkm_data_local_first(*Y) + k / d;
        double value = input(i, 0) * input(i, 1) + (double)(k % d) * sin(input(i, 0));
        dkm_data_values(*Y)[k] = kind == CV_LABELS ? floor(value) : value;
    }
    return status;
}

dkm_status cv_sample_open(dkm_ctx *ctx, cv_output kind, const char *ky, cv_sample *s)
{
    static const char *const kx[CV_KERNELS] = {"rbf(sigma=1)", "rbf(sigma=3)"};
    dkm_status status = DKM_OK;

    memset(s, 0, sizeof *s);
    DKM_TRY(dkm_data_create_dense(ctx, CV_M, CV_D, &s->X));
    for (dkm_idx k = 0; k < CV_D * dkm_data_local_rows(s->X); k++)
        dkm_data_values(s->X)[k] = input(dkm_data_local_first(s->X) + k / CV_D, k % CV_D);
    DKM_TRY(make_outputs(ctx, kind, &s->Y));
    for (int k = 0; k < CV_KERNELS; k++) {
        DKM_TRY(dkm_kernel_parse(ctx, kx[k], &s->kx[k]));
        DKM_TRY(dkm_kernel_parse(ctx, ky, &s->ky[k]));
    }
    s->ridge = (dkm_cv_ridge){.gammas = CV_GAMMAS, .gamma = cv_gammas};
    s->problem = (dkm_cv_problem){.X = s->X,
                                  .Y = s->Y,
                                  .kernels = CV_KERNELS,
                                  .kx = (const dkm_kernel *const *)s->kx,
                                  .ky = (const dkm_kernel *const *)s->ky,
                                  .settings = CV_GAMMAS,
                                  .options = &s->ridge,
                                  .folds = CV_FOLDS,
                                  .loss = kind == CV_DENSE ? DKM_LOSS_MSE : DKM_LOSS_ZERO_ONE};
out:
    return status;
}

void cv_sample_close(cv_sample *s)
{
    for (int k = 0; k < CV_KERNELS; k++) {
        dkm_kernel_destroy(&s->ky[k]);
        dkm_kernel_destroy(&s->kx[k]);
    }
    dkm_data_destroy(&s->Y);
    dkm_data_destroy(&s->X);
}

dkm_status cv_fit_krr(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                      const dkm_data *X, const dkm_data *Y, dkm_model **model)
{
    dkm_krr_settings settings = dkm_krr_settings_default();

    settings.count = 1;
    settings.gammas = &cv_gammas[setting];
    settings.center = s->ridge.center;
    return dkm_krr_fit(ctx, X, Y, s->kx[kernel], &settings, model, NULL);
}

dkm_status cv_fit_kde(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                      const dkm_data *X, const dkm_data *Y, dkm_model **model)
{
    dkm_kde_settings settings = dkm_kde_settings_default();

    settings.ridge.gamma = cv_gammas[setting % CV_GAMMAS];
    settings.eigen = s->ridge.eigen[setting / CV_GAMMAS];
    return dkm_kde_fit(ctx, X, Y, s->kx[kernel], s->ky[kernel], &settings, model, NULL);
}

/* Sum of the losses of test examples of one fold. */
static double reference_fold(cv_sample *s, cv_fitter fit, dkm_idx point, const dkm_idx *fold,
                             dkm_idx a, dkm_idx b, dkm_idx *tested)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_idx train[CV_M], test[CV_M], n = 0, t = 0, settings = s->problem.settings;
    const dkm_idx *inner = fold + (1 + a) * CV_M;
    dkm_data *X = NULL, *Y = NULL, *new = NULL, *truth = NULL, *pred = NULL;
    dkm_model *model = NULL;
    dkm_score score = {0};

    for (dkm_idx i = 0; i < CV_M; i++) {
        int held = s->problem.train_on_one ? fold[i] != a : fold[i] == a;
        if (held ? b < 0 : b >= 0 && inner[i] == b)
            test[t++] = i;
        else if (!held)
            train[n++] = i;
    }
    CHECK_OK(ctx, dkm_data_select(s->X, n, train, &X));
    CHECK_OK(ctx, dkm_data_select(s->Y, n, train, &Y));
    CHECK_OK(ctx, dkm_data_select(s->X, t, test, &new));
    CHECK_OK(ctx, dkm_data_select(s->Y, t, test, &truth));
    CHECK_OK(ctx, fit(s, ctx, point / settings, point % settings, X, Y, &model));
    CHECK_OK(ctx, dkm_model_predict(model, new, &pred));
    CHECK_OK(ctx,
             dkm_score_predictions(truth, pred, s->problem.loss, s->problem.loss_kernel, &score));
    dkm_data_destroy(&pred);
    dkm_model_destroy(&model);
    dkm_data_destroy(&truth);
    dkm_data_destroy(&new);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    *tested += t;
    return score.mean * (double)t;
}

static void deal(cv_sample *s, dkm_idx *fold)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_idx rows[CV_M], dealt[CV_M];
    double *classes = NULL;

    CHECK_OK(ctx, dkm_folds_classes(s->Y, &classes));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, OUTER_STREAM, CV_M, NULL, classes,
                                                  s->problem.folds, fold)));
    for (dkm_idx a = 0; s->problem.inner && a < s->problem.folds; a++) {
        dkm_idx n = 0;
        for (dkm_idx i = 0; i < CV_M; i++)
            if ((fold[i] == a) == s->problem.train_on_one)
                rows[n++] = i;
        CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, OUTER_STREAM + 1 + (uint64_t)a, n, rows,
                                                      classes, s->problem.inner, dealt)));
        for (dkm_idx k = 0; k < n; k++)
            fold[(1 + a) * CV_M + rows[k]] = dealt[k];
    }
    dkm_folds_free(&classes);
}

/* The table, the choice of each outer fold and its loss, by refits. */
static void check_against_refits(cv_sample *s, cv_fitter fit, const dkm_cv_result *result)
{
    dkm_idx fold[(1 + CV_FOLDS_MOST) * CV_M], points = CV_KERNELS * s->problem.settings;
    dkm_idx each = s->problem.inner ? s->problem.inner : 1, chosen[CV_FOLDS_MOST], tested;
    double inner[CV_FOLDS_MOST][CV_KERNELS * CV_SETTINGS_MOST] = {{0}}, outer = 0, sum;

    deal(s, fold);
    CHECK(result->points == points);
    for (dkm_idx p = 0; p < points; p++) {
        sum = 0;
        tested = 0;
        for (dkm_idx a = 0; a < s->problem.folds; a++)
            for (dkm_idx b = 0; b < each; b++)
                inner[a][p] +=
                    reference_fold(s, fit, p, fold, a, s->problem.inner ? b : -1, &tested);
        for (dkm_idx a = 0; a < s->problem.folds; a++)
            sum += inner[a][p];
        CHECK_CLOSE(result->table[p].mean, sum / (double)tested, 1e-8); /* condition x eps */
    }
    tested = 0;
    for (dkm_idx a = 0; s->problem.inner && a < s->problem.folds; a++) {
        chosen[a] = 0;
        for (dkm_idx p = 1; p < points; p++)
            if (inner[a][p] < inner[a][chosen[a]] * (1 - 1e-9))
                chosen[a] = p;
        CHECK(result->chosen[a] == chosen[a]);
        outer += reference_fold(s, fit, chosen[a], fold, a, -1, &tested);
    }
    if (s->problem.inner)
        CHECK_CLOSE(result->outer.mean, outer / (double)tested, 1e-8);
}

/* Together and in groups: every number on few ranks, one that does not divide them on many. */
void cv_compare(cv_sample *s, cv_fitter fit)
{
    dkm_ctx *ctx = dkm_data_ctx(s->X);
    dkm_cv_result result, again;

    CHECK_OK(ctx, dkm_cross_validate(ctx, &s->problem, &result));
    check_against_refits(s, fit, &result);
    for (int groups = 1, size = dkm_ctx_size(ctx); groups <= size;
         groups += size > 3 ? size / 2 : 1) {
        s->problem.groups = groups;
        CHECK_OK(ctx, dkm_cross_validate(ctx, &s->problem, &again));
        CHECK(again.groups == groups && again.best == result.best);
        for (dkm_idx p = 0; p < result.points && again.table; p++) {
            CHECK_CLOSE(again.table[p].mean, result.table[p].mean, 1e-10);
            CHECK_CLOSE(again.table[p].stderror, result.table[p].stderror, 1e-8);
        }
        dkm_cv_result_free(&again);
    }
    dkm_cv_result_free(&result);
}
