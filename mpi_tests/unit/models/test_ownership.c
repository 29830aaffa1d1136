/* Fits borrow what they are given: examples stay the caller's, and models outlive them. */
#include <dkmap/jkm.h>
#include <dkmap/kde.h>
#include <dkmap/knn.h>
#include <dkmap/krr.h>
#include <dkmap/svm.h>

#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 30, D = 3, CLASSES = 3 };

static double feature(dkm_idx i, dkm_idx k)
{
    return (double)(i % CLASSES) + 0.1 * (double)((i * (7 + k)) % 5);
}

static double label(dkm_idx i, dkm_idx k)
{
    (void)k;
    return (double)(i % CLASSES);
}

typedef struct examples {
    dkm_data *X, *Y;
    dkm_kernel *kx, *ky;
} examples;

static void open_examples(dkm_ctx *ctx, examples *e)
{
    *e = (examples){.X = objects_values(ctx, DKM_DENSE, M, D, feature),
                    .Y = objects_values(ctx, DKM_LABELS, M, 1, label)};
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1)", &e->kx));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "class", &e->ky));
}

static void close_examples(examples *e)
{
    dkm_kernel_destroy(&e->ky);
    dkm_kernel_destroy(&e->kx);
    dkm_data_destroy(&e->Y);
    dkm_data_destroy(&e->X);
}

static dkm_status fit_krr(dkm_ctx *ctx, const examples *e, dkm_model **model)
{
    dkm_krr_settings s = dkm_krr_settings_default();

    s.ridge.gamma = 0.01;
    return dkm_krr_fit(ctx, e->X, e->Y, e->kx, &s, model, NULL);
}

static dkm_status fit_kde(dkm_ctx *ctx, const examples *e, dkm_model **model)
{
    dkm_preimage_settings candidates = {.method = DKM_PREIMAGE_CANDIDATES};
    dkm_kde_settings s = dkm_kde_settings_default();
    dkm_status status = DKM_OK;

    s.ridge.gamma = 0.01;
    s.eigen.components = CLASSES - 1;
    DKM_TRY(dkm_kde_fit(ctx, e->X, e->Y, e->kx, e->ky, &s, model, NULL));
    DKM_TRY(dkm_model_configure(*model, &candidates));
out:
    return status;
}

static dkm_status fit_knn(dkm_ctx *ctx, const examples *e, dkm_model **model)
{
    dkm_knn_settings s = {.k = 3};

    return dkm_knn_fit(ctx, e->X, e->Y, e->kx, NULL, &s, model);
}

static dkm_status fit_svm(dkm_ctx *ctx, const examples *e, dkm_model **model)
{
    dkm_svm_settings s = dkm_svm_settings_default();

    s.margin.C = 10;
    return dkm_svm_fit(ctx, e->X, e->Y, e->kx, &s, model, NULL);
}

/* The training outputs, as candidates that the settings point to. */
static dkm_status fit_jkm(dkm_ctx *ctx, const examples *e, dkm_model **model)
{
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_status status = DKM_OK;
    dkm_joint *joint = NULL;

    s.C = 10;
    s.candidates = e->Y;
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(dkm_jkm_fit(ctx, e->X, e->Y, e->kx, e->ky, joint, &s, model, NULL));
    CHECK(s.candidates == e->Y && s.epsilon == dkm_jkm_settings_default().epsilon);
out:
    dkm_joint_destroy(&joint);
    return status;
}

typedef dkm_status (*fitter)(dkm_ctx *ctx, const examples *e, dkm_model **model);

static const fitter fits[] = {fit_krr, fit_kde, fit_knn, fit_svm, fit_jkm};
enum { FITS = sizeof fits / sizeof *fits };

/* All methods learn from the same objects, which are then destroyed before anything is predicted.
 */
static void models_outlive_their_examples(dkm_ctx *ctx)
{
    dkm_model *model[FITS] = {NULL};
    dkm_data *new = objects_values(ctx, DKM_DENSE, M, D, feature), *P = NULL;
    examples e;

    open_examples(ctx, &e);
    for (int k = 0; k < FITS; k++)
        CHECK_OK(ctx, fits[k](ctx, &e, &model[k]));
    close_examples(&e);
    for (int k = 0; k < FITS; k++) {
        double wrong = 0;
        CHECK_OK(ctx, dkm_model_predict(model[k], new, &P));
        for (dkm_idx i = 0; i < dkm_data_local_rows(P); i++)
            wrong += dkm_data_values_const(P)[i] != label(dkm_data_local_first(P) + i, 0);
        CHECK(wrong == 0);
        dkm_data_destroy(&P);
        dkm_model_destroy(&model[k]);
    }
    dkm_data_destroy(&new);
}

/* Refused before anything is computed: the examples are as they were. */
static void a_fit_that_fails_leaves_them_too(dkm_ctx *ctx)
{
    dkm_krr_settings s = dkm_krr_settings_default();
    dkm_model *model = NULL;
    examples e;

    open_examples(ctx, &e);
    s.ridge.gamma = -1;
    CHECK(dkm_krr_fit(ctx, e.X, e.Y, e.kx, &s, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK_OK(ctx, fit_krr(ctx, &e, &model));
    dkm_model_destroy(&model);
    close_examples(&e);
}

static const check_case cases[] = {CASE(models_outlive_their_examples),
                                   CASE(a_fit_that_fails_leaves_them_too)};

CHECK_MAIN(cases)
