/* Kernel matrices tried on labels, against support vector machines fitted fold by fold. */
#include <string.h>

#include <dkmap/folds.h>
#include <dkmap/gram_eval.h>
#include <dkmap/kernel.h>
#include <dkmap/random.h>
#include <dkmap/svm.h>

#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 57, CLASSES = 3, D = 2, FOLDS = 3 };

static double label(dkm_idx i, dkm_idx k)
{
    (void)k;
    return (double)(i % CLASSES) * 2 - 1;
}

/* Three clouds that overlap. */
static double point(dkm_idx i, dkm_idx k)
{
    double middle = i % CLASSES == k ? 1.5 : 0;

    return middle + dkm_random_normal(3, 1, (uint64_t)i, (uint64_t)k);
}

/* The linear kernel. */
static double product(dkm_idx i, dkm_idx j)
{
    double sum = 0;

    for (dkm_idx k = 0; k < D; k++)
        sum += point(i, k) * point(j, k);
    return sum;
}

/* Predictions for one fold by a machine fitted to the others: how many are right. */
static double right_in_fold(dkm_ctx *ctx, const dkm_idx *fold, dkm_idx at, double C)
{
    dkm_svm_settings settings = dkm_svm_settings_default();
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, point);
    dkm_data *Y = objects_values(ctx, DKM_LABELS, M, 1, label);
    dkm_data *x = NULL, *y = NULL, *z = NULL, *truth = NULL, *pred = NULL;
    dkm_kernel *linear = NULL;
    dkm_model *model = NULL;
    dkm_idx train[M], test[M], trains = 0, tests = 0;
    double right = 0;

    settings.margin.C = C;
    for (dkm_idx i = 0; i < M; i++)
        if (fold[i] == at)
            test[tests++] = i;
        else
            train[trains++] = i;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &linear));
    CHECK_OK(ctx, dkm_data_select(X, trains, train, &x));
    CHECK_OK(ctx, dkm_data_select(Y, trains, train, &y));
    CHECK_OK(ctx, dkm_data_select(X, tests, test, &z));
    CHECK_OK(ctx, dkm_data_select(Y, tests, test, &truth));
    CHECK_OK(ctx, dkm_svm_fit(ctx, x, y, linear, &settings, &model, NULL));
    CHECK_OK(ctx, dkm_model_predict(model, z, &pred));
    for (dkm_idx i = 0; pred && i < dkm_data_local_rows(pred); i++)
        right += dkm_data_values(pred)[i] == dkm_data_values(truth)[i];
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&linear);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    dkm_data_destroy(&z);
    dkm_data_destroy(&y);
    dkm_data_destroy(&x);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return right;
}

static dkm_data *matrix(dkm_ctx *ctx, double (*value)(dkm_idx, dkm_idx))
{
    return objects_values(ctx, DKM_DENSE, M, M, value);
}

static void trials_are_fits_fold_by_fold(dkm_ctx *ctx)
{
    dkm_gram_eval_settings settings = dkm_gram_eval_settings_default();
    dkm_gram_eval_score score;
    dkm_data *G = matrix(ctx, product), *Y = objects_values(ctx, DKM_LABELS, M, 1, label);
    double classes[M], right = 0;
    dkm_idx fold[M];

    settings.folds = FOLDS;
    settings.stream = 5;
    for (dkm_idx i = 0; i < M; i++)
        classes[i] = label(i, 0);
    CHECK_OK(ctx, dkm_agree(ctx, dkm_folds_assign(ctx, 5, M, NULL, classes, FOLDS, fold)));
    for (dkm_idx at = 0; at < FOLDS; at++)
        right += right_in_fold(ctx, fold, at, settings.margin.C);
    CHECK_OK(ctx, dkm_gram_eval(G, Y, &settings, &score));
    CHECK(score.classes == CLASSES);
    CHECK_CLOSE(score.named * M, right, 1e-9);
    CHECK(score.named > 0.5 && score.named < 1 && score.apart > score.named && score.apart < 1);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&G);
}

static double same_class(dkm_idx i, dkm_idx j)
{
    return label(i, 0) == label(j, 0);
}

static double nothing(dkm_idx i, dkm_idx j)
{
    (void)i;
    (void)j;
    return 0;
}

/* The kernel of the classes themselves is always right. One that says nothing leaves each machine
 * with the larger side: no to all classes. */
static void kernels_that_know_all_and_nothing(dkm_ctx *ctx)
{
    dkm_gram_eval_settings settings = dkm_gram_eval_settings_default();
    dkm_gram_eval_score score;
    dkm_data *Y = objects_values(ctx, DKM_LABELS, M, 1, label);
    dkm_data *all = matrix(ctx, same_class), *none = matrix(ctx, nothing);

    CHECK_OK(ctx, dkm_gram_eval(all, Y, &settings, &score));
    CHECK(score.apart == 1 && score.named == 1);
    CHECK_OK(ctx, dkm_gram_eval(none, Y, &settings, &score));
    CHECK_CLOSE(score.apart, 1 - 1.0 / CLASSES, 1e-12);
    dkm_data_destroy(&none);
    dkm_data_destroy(&all);
    dkm_data_destroy(&Y);
}

/* Which objects are missing, of all ranks. */
static dkm_idx missing_of(dkm_ctx *ctx, dkm_idx missing, uint64_t stream, double *gone)
{
    dkm_data *mask = NULL;
    dkm_idx count = 0;

    memset(gone, 0, M * sizeof *gone);
    CHECK_OK(ctx, dkm_gram_eval_mask(ctx, M, missing, stream, &mask));
    for (dkm_idx i = 0; mask && i < dkm_data_local_rows(mask); i++)
        gone[dkm_data_local_first(mask) + i] = 1 - dkm_data_values(mask)[i];
    MPI_Allreduce(MPI_IN_PLACE, gone, M, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx i = 0; i < M; i++)
        count += gone[i] == 1;
    dkm_data_destroy(&mask);
    return count;
}

static void masks_hide_as_many_as_asked(dkm_ctx *ctx)
{
    double few[M], many[M], other[M];
    dkm_idx shared = 0;

    CHECK(missing_of(ctx, 0, 0, few) == 0);
    CHECK(missing_of(ctx, M, 0, few) == M);
    CHECK(missing_of(ctx, 6, 0, few) == 6);
    CHECK(missing_of(ctx, 28, 0, many) == 28);
    CHECK(missing_of(ctx, 28, 1, other) == 28);
    for (dkm_idx i = 0; i < M; i++) {
        CHECK(few[i] <= many[i]);
        shared += many[i] == 1 && other[i] == 1;
    }
    CHECK(shared > 5 && shared < 23); /* 14 are expected, 1.9 is the deviation */
}

static double lonely(dkm_idx i, dkm_idx k)
{
    return i == 7 ? 9 : label(i, k);
}

static void what_cannot_be_tried_is_refused(dkm_ctx *ctx)
{
    dkm_gram_eval_settings settings = dkm_gram_eval_settings_default();
    dkm_gram_eval_score score;
    dkm_data *G = matrix(ctx, product), *Y = objects_values(ctx, DKM_LABELS, M, 1, lonely);
    dkm_data *few = objects_values(ctx, DKM_LABELS, M - 1, 1, label), *mask = NULL;

    CHECK(dkm_gram_eval(G, Y, &settings, &score) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "class 9 has 1 members and there are 2 folds") != NULL);
    CHECK(dkm_gram_eval(G, few, &settings, &score) == DKM_ERR_ARG);
    CHECK(dkm_gram_eval(G, G, &settings, &score) == DKM_ERR_UNSUPPORTED);
    CHECK(dkm_gram_eval_mask(ctx, M, M + 1, 0, &mask) == DKM_ERR_ARG && mask == NULL);
    dkm_data_destroy(&few);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&G);
}

static const check_case cases[] = {
    CASE(trials_are_fits_fold_by_fold), CASE(kernels_that_know_all_and_nothing),
    CASE(masks_hide_as_many_as_asked), CASE(what_cannot_be_tried_is_refused)};

CHECK_MAIN(cases)
