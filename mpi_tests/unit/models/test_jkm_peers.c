/* Joint kernel maps that come to machines others have programs for: support vector machines for two
 * classes, for many (Crammer and Singer), and for regression, against LIBSVM and LIBLINEAR on
 * Fisher's irises.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svm.h>

#include <dkmap/jkm.h>

#include "support/check.h"
#include "support/fixture_iris.h"
#include "support/fixture_objects.h"

#ifdef DKM_HAVE_LIBLINEAR
#include <linear.h>
#endif

enum { D = 4, MOST = 5 };

static double input(dkm_idx i, dkm_idx k)
{
    static const double mean[D] = {58, 31, 38, 12}, width[D] = {8, 4, 18, 8};

    return (fixture_iris[i][k] - mean[k]) / width[k];
}

static void quiet(const char *text)
{
    (void)text;
}

/* LIBSVM on n objects with a kernel matrix of their own. It has a threshold; without one every
 * object stands beside its negative, of which the threshold cannot please both. */
typedef struct libsvm {
    int type, n, threshold;
    double C, tube;
    double (*kernel)(int i, int j);
    const double *y;
} libsvm;

static void libsvm_values(const libsvm *p, double *values)
{
    int n = p->threshold ? p->n : 2 * p->n;
    struct svm_node *nodes = malloc((size_t)n * (size_t)(n + 2) * sizeof *nodes);
    struct svm_node **x = malloc((size_t)n * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    struct svm_problem prob = {.l = n, .y = y, .x = x};
    struct svm_parameter param = {.svm_type = p->type,
                                  .kernel_type = PRECOMPUTED,
                                  .cache_size = 50,
                                  .eps = 1e-10,
                                  .C = p->threshold ? p->C : p->C / 2,
                                  .p = p->tube};
    struct svm_model *model;

    for (int i = 0; i < n; i++) {
        x[i] = nodes + i * (n + 2);
        x[i][0] = (struct svm_node){0, i + 1};
        y[i] = (i < p->n ? 1 : -1) * p->y[i % p->n];
        for (int j = 0; j < n; j++)
            x[i][j + 1] = (struct svm_node){j + 1, ((i < p->n) == (j < p->n) ? 1 : -1) *
                                                       p->kernel(i % p->n, j % p->n)};
        x[i][n + 1].index = -1;
    }
    svm_set_print_string_function(quiet);
    model = svm_train(&prob, &param);
    for (int i = 0; i < p->n; i++) {
        svm_predict_values(model, x[i], values + i);
        if (p->type == C_SVC && model->label[0] != 1)
            values[i] = -values[i];
    }
    svm_free_and_destroy_model(&model);
    free(y);
    free(x);
    free(nodes);
}

#ifdef DKM_HAVE_LIBLINEAR
/* What LIBLINEAR makes of the first @p m irises, of which it looks at the first @p d measures: its
 * value of each output at each of them, m x outputs. Returns the sum of squares of its weights. */
static double peer(int solver, double C, double tube, int m, int d, const double *y, int outputs,
                   double *values)
{
    static struct feature_node nodes[IRISES][MOST], *x[IRISES];
    static double targets[IRISES];
    struct problem prob = {.l = m, .n = d, .y = targets, .x = x, .bias = -1};
    struct parameter param = {.solver_type = solver, .eps = 1e-11, .C = C, .p = tube};
    struct model *model;
    double square = 0;

    for (int i = 0; i < m; i++) {
        targets[i] = y[i];
        x[i] = nodes[i];
        for (int k = 0; k < d; k++)
            nodes[i][k] = (struct feature_node){k + 1, input(i, k)};
        nodes[i][d].index = -1;
    }
    set_print_string_function(quiet);
    model = train(&prob, &param);
    for (int i = 0; i < m; i++)
        predict_values(model, x[i], values + i * outputs);
    for (int k = 0; k < d * outputs; k++)
        square += model->w[k] * model->w[k];
    free_and_destroy_model(&model);
    return square;
}
#endif

static dkm_status irises(dkm_ctx *ctx, dkm_idx m, dkm_idx d, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * d; k++)
        dkm_data_values(*X)[k] = input(dkm_data_local_first(*X) + k / d, k % d);
    return status;
}

static dkm_status targets(dkm_ctx *ctx, dkm_idx m, int labels, const double *y, dkm_data **Y)
{
    dkm_status status =
        labels ? dkm_data_create_labels(ctx, m, Y) : dkm_data_create_dense(ctx, m, 1, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = y[dkm_data_local_first(*Y) + i];
    return status;
}

/* Fit and predict the irises themselves; @p top candidates with their scores, or 0. */
static dkm_status fit_with(dkm_ctx *ctx, const char *kernel, dkm_idx m, dkm_idx d, int labels,
                           const double *y, dkm_jkm_settings *settings, dkm_idx top, dkm_data **P,
                           dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings list = {.top = top};
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;
    dkm_data *X = NULL, *Y = NULL, *new = NULL;
    dkm_model *model = NULL;

    DKM_TRY(dkm_kernel_parse(ctx, kernel, &kx));
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(irises(ctx, m, d, &X));
    DKM_TRY(irises(ctx, m, d, &new));
    DKM_TRY(targets(ctx, m, labels, y, &Y));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, settings, &model, info));
    if (top > 0)
        DKM_TRY(dkm_model_configure(model, &list));
    DKM_TRY(dkm_model_predict(model, new, P));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&new);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    return status;
}

#define RBF "rbf(sigma=1.5)"

static double rbf(int i, int j)
{
    double square = 0;

    for (int k = 0; k < D; k++)
        square += pow(input(i, k) - input(j, k), 2);
    return exp(-square / (2 * 1.5 * 1.5));
}

/* F(x, y) = y w.x over y = -1, 1, beyond epsilon: y_i w.x >= epsilon^2 / 8 - xi / 2. */
static void two_classes_are_the_machine_of_libsvm(dkm_ctx *ctx)
{
    static double y[IRISES], values[IRISES];
    libsvm peer = {C_SVC, IRISES, 0, 2, 0, rbf, y};
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *P = NULL;

    for (int i = 0; i < IRISES; i++)
        y[i] = i / 50 == 1 ? 1 : -1;
    libsvm_values(&peer, values);
    s.outputs = DKM_JKM_CANDIDATES;
    s.epsilon = 1.5;
    s.C = peer.C * s.epsilon * s.epsilon / 16;
    s.tolerance = 1e-11;
    s.slacks = DKM_JKM_SLACKS_EACH;
    CHECK_OK(ctx, fit_with(ctx, RBF, IRISES, D, 0, y, &s, 1, &P, NULL));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++)
        CHECK_CLOSE(dkm_data_values_const(P)[2 * i + 1] / (1.5 * 1.5 / 8),
                    fabs(values[dkm_data_local_first(P) + i]), 1e-5);
    dkm_data_destroy(&P);
}

static void free_outputs_are_the_regression_of_libsvm(dkm_ctx *ctx)
{
    static double y[IRISES], values[IRISES];
    libsvm peer = {EPSILON_SVR, IRISES, 0, 3, 0.1, rbf, y};
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *P = NULL;

    for (int i = 0; i < IRISES; i++)
        y[i] = sin(i) + input(i, 3);
    libsvm_values(&peer, values);
    s.outputs = DKM_JKM_FREE;
    s.epsilon = 4 * peer.tube;
    s.C = peer.C / s.epsilon;
    s.tolerance = 1e-11;
    CHECK_OK(ctx, fit_with(ctx, RBF, IRISES, D, 0, y, &s, 0, &P, NULL));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++)
        CHECK_CLOSE(dkm_data_values_const(P)[i], values[dkm_data_local_first(P) + i], 1e-5);
    dkm_data_destroy(&P);
}

/* Irises whose class is to be told from one other class alone, which a list names. */
enum { FEW = 120 };

static int right(int i)
{
    return i / 50;
}

static int wrong(int i)
{
    return right(i) == 0 ? 1 + i % 2 : i % 2 ? 0 : 3 - right(i);
}

static double in_list(dkm_idx i, dkm_idx c)
{
    return c == right((int)i) || c == wrong((int)i);
}

/* <Phi(x_i, y_i) - Phi(x_i, y), Phi(x_j, y_j) - Phi(x_j, y)>. */
static double difference(int i, int j)
{
    return rbf(i, j) * ((right(i) == right(j)) - (right(i) == wrong(j)) - (wrong(i) == right(j)) +
                        (wrong(i) == wrong(j)));
}

/* Pairs of an iris and a class: the right ones first, then those of the lists. */
static int class_of(int i)
{
    return i < FEW ? right(i) : wrong(i - FEW);
}

static double pairs(int i, int j)
{
    return class_of(i) == class_of(j) ? rbf(i % FEW, j % FEW) : 0;
}

/* Scores of all classes; @p scale times those of LIBSVM for right outputs, and for the differences
 * of right and wrong, or for wrong ones. */
static void check_lists(dkm_ctx *ctx, int threshold, double C, double scale, const double *values)
{
    static double y[FEW];
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *lists = objects_lists(ctx, DKM_LABEL_SETS, FEW, 3, in_list), *P = NULL;

    for (int i = 0; i < FEW; i++)
        y[i] = right(i);
    s.epsilon = 0;
    s.C = C;
    s.threshold = threshold;
    s.tolerance = 1e-11;
    s.slacks = DKM_JKM_SLACKS_EACH;
    s.lists = lists;
    CHECK_OK(ctx, fit_with(ctx, RBF, FEW, D, 1, y, &s, 3, &P, NULL));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++) {
        int g = (int)(dkm_data_local_first(P) + i);
        double score[3] = {0};
        for (int k = 0; k < 3; k++)
            score[(int)dkm_data_values_const(P)[6 * i + 2 * k]] =
                dkm_data_values_const(P)[6 * i + 2 * k + 1];
        if (threshold) {
            CHECK_CLOSE(score[right(g)], scale * values[g], 1e-5);
            CHECK_CLOSE(score[wrong(g)], scale * values[FEW + g], 1e-5);
        } else {
            CHECK_CLOSE(score[right(g)] - score[wrong(g)], scale * values[g], 1e-5);
        }
    }
    dkm_data_destroy(&P);
    dkm_data_destroy(&lists);
}

static void lists_leave_the_constraints_they_name(dkm_ctx *ctx)
{
    static double y[FEW], values[FEW];
    libsvm peer = {C_SVC, FEW, 0, 2, 0, difference, y};

    for (int i = 0; i < FEW; i++)
        y[i] = 1;
    libsvm_values(&peer, values);
    check_lists(ctx, 0, peer.C, 1, values);
}

/* F + t >= 1/2 - xi for right pairs and F + t <= xi - 1/2 for others: half of LIBSVM's values. */
static void a_threshold_splits_pairs_as_libsvm_does(dkm_ctx *ctx)
{
    static double y[2 * FEW], values[2 * FEW];
    libsvm peer = {C_SVC, 2 * FEW, 1, 2, 0, pairs, y};

    for (int i = 0; i < 2 * FEW; i++)
        y[i] = i < FEW ? 1 : -1;
    libsvm_values(&peer, values);
    check_lists(ctx, 1, peer.C / 2, 0.5, values);
    peer.C = 1e7; /* no slack to speak of */
    libsvm_values(&peer, values);
    check_lists(ctx, 1, 0, 0.5, values);
}

#ifdef DKM_HAVE_LIBLINEAR
/* F(x, y) = y w.x over y = -1, 1, beyond epsilon: y_i w.x >= epsilon^2 / 8 - xi / 2. */
static void two_classes_are_a_support_vector_machine(dkm_ctx *ctx)
{
    enum { M = 100 };
    static double y[M], values[M];
    const double epsilon = 1, C = 0.2;
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *P = NULL;

    for (int i = 0; i < M; i++)
        y[i] = i < 50 ? 1 : -1;
    peer(L2R_L1LOSS_SVC_DUAL, C, 0, M, 2, y, 1, values);
    s.outputs = DKM_JKM_CANDIDATES;
    s.epsilon = epsilon;
    s.C = C * epsilon * epsilon / 16;
    s.tolerance = 1e-11;
    s.slacks = DKM_JKM_SLACKS_EACH;
    CHECK_OK(ctx, fit_with(ctx, "linear", M, 2, 0, y, &s, 1, &P, NULL));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++)
        CHECK_CLOSE(dkm_data_values_const(P)[2 * i + 1] / (epsilon * epsilon / 8),
                    fabs(values[dkm_data_local_first(P) + i]), 1e-5);
    dkm_data_destroy(&P);
}

static void many_classes_are_those_of_crammer_and_singer(dkm_ctx *ctx)
{
    enum { K = 3 };
    static double y[IRISES], values[IRISES * K];
    const double C = 0.05;

    for (int i = 0; i < IRISES; i++)
        y[i] = i / 50;
    peer(MCSVM_CS, C, 0, IRISES, D, y, K, values);
    for (int one = 0; one < 2; one++) {
        dkm_jkm_settings s = dkm_jkm_settings_default();
        dkm_data *P = NULL;
        s.epsilon = 0;
        s.C = C;
        s.tolerance = 1e-11;
        s.slacks = one ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
        CHECK_OK(ctx, fit_with(ctx, "linear", IRISES, D, 1, y, &s, K, &P, NULL));
        for (dkm_idx k = 0; P && k < dkm_data_local_rows(P) * K; k++) {
            dkm_idx i = dkm_data_local_first(P) + k / K;
            int c = (int)dkm_data_values_const(P)[2 * k];
            CHECK_CLOSE(dkm_data_values_const(P)[2 * k + 1], values[i * K + c], 1e-5);
        }
        dkm_data_destroy(&P);
    }
}

/* 1/2 ||w||^2 + C times what outputs of the right class fall short of the margin beside the others. */
static double objective_of(double square, double C, const double *values, const double *y,
                           int outputs)
{
    double slack = 0;

    for (int i = 0; i < IRISES; i++) {
        double most = 0;
        for (int k = 0; k < outputs; k++)
            if (k != (int)y[i])
                most = fmax(most, 1 - values[i * outputs + (int)y[i]] + values[i * outputs + k]);
        slack += most;
    }
    return square / 2 + C * slack;
}

/* Where slack costs much, programs that are solved roughly on the way must not end the fit early. */
static void dear_slacks_end_at_the_objective_of_crammer_and_singer(dkm_ctx *ctx)
{
    enum { K = 3 };
    static double y[IRISES], values[IRISES * K];
    const double prices[] = {0.01, 1, 20};

    for (int i = 0; i < IRISES; i++)
        y[i] = i / 50;
    for (int run = 0; run < 6; run++) {
        double C = prices[run / 2];
        double best = objective_of(peer(MCSVM_CS, C, 0, IRISES, D, y, K, values), C, values, y, K);
        dkm_jkm_settings s = dkm_jkm_settings_default();
        dkm_jkm_info info = {0};
        dkm_data *P = NULL;
        s.epsilon = 0;
        s.C = C;
        s.rounds = 4000;
        s.slacks = run % 2 ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
        CHECK_OK(ctx, fit_with(ctx, "linear", IRISES, D, 1, y, &s, 0, &P, &info));
        CHECK(info.gap <= s.tolerance);
        CHECK(info.dual <= best * (1 + 1e-6) && info.primal >= best * (1 - 1e-6));
        dkm_data_destroy(&P);
    }
}

static void free_outputs_are_support_vector_regression(dkm_ctx *ctx)
{
    static double y[IRISES], values[IRISES];
    const double epsilon = 0.8, C = 0.1;
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *P = NULL;

    for (int i = 0; i < IRISES; i++)
        y[i] = input(i, 3);
    peer(L2R_L1LOSS_SVR_DUAL, C, epsilon / 4, IRISES, 3, y, 1, values);
    s.outputs = DKM_JKM_FREE;
    s.epsilon = epsilon;
    s.C = C / epsilon;
    s.tolerance = 1e-11;
    CHECK_OK(ctx, fit_with(ctx, "linear", IRISES, 3, 0, y, &s, 0, &P, NULL));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++)
        CHECK_CLOSE(dkm_data_values_const(P)[i], values[dkm_data_local_first(P) + i], 1e-5);
    dkm_data_destroy(&P);
}

#endif

static const check_case cases[] = {
    CASE(two_classes_are_the_machine_of_libsvm),
    CASE(free_outputs_are_the_regression_of_libsvm),
    CASE(lists_leave_the_constraints_they_name),
    CASE(a_threshold_splits_pairs_as_libsvm_does),
#ifdef DKM_HAVE_LIBLINEAR
    CASE(two_classes_are_a_support_vector_machine),
    CASE(many_classes_are_those_of_crammer_and_singer),
    CASE(free_outputs_are_support_vector_regression),
    CASE(dear_slacks_end_at_the_objective_of_crammer_and_singer),
#endif
};

CHECK_MAIN(cases)
