/* Joint kernel maps that come to machines others have programs for: support vector machines for two
 * classes, for many (Crammer and Singer), and for regression, against LIBLINEAR on Fisher's irises.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/jkm.h>

#include "check.h"
#include "oracle_iris.h"

#ifdef DKM_HAVE_LIBLINEAR
#include <linear.h>

enum { D = 4, MOST = 5 };

static double input(dkm_idx i, dkm_idx k)
{
    static const double mean[D] = {58, 31, 38, 12}, width[D] = {8, 4, 18, 8};

    return (oracle_iris[i][k] - mean[k]) / width[k];
}

static void quiet(const char *text)
{
    (void)text;
}

/* What LIBLINEAR makes of the first @p m irises, of which it looks at the first @p d measures: its
 * value of each output at each of them, m x outputs. */
static void peer(int solver, double C, double tube, int m, int d, const double *y, int outputs,
                 double *values)
{
    static struct feature_node nodes[IRISES][MOST], *x[IRISES];
    static double targets[IRISES];
    struct problem prob = {.l = m, .n = d, .y = targets, .x = x, .bias = -1};
    struct parameter param = {.solver_type = solver, .eps = 1e-11, .C = C, .p = tube};
    struct model *model;

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
    free_and_destroy_model(&model);
}

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
static dkm_status fit(dkm_ctx *ctx, dkm_idx m, dkm_idx d, int labels, const double *y,
                      dkm_jkm_settings *settings, dkm_idx top, dkm_data **P)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings list = {.top = top};
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;
    dkm_data *X = NULL, *Y = NULL, *new = NULL;
    dkm_model *model = NULL;

    DKM_TRY(dkm_kernel_parse(ctx, "linear", &kx));
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(irises(ctx, m, d, &X));
    DKM_TRY(irises(ctx, m, d, &new));
    DKM_TRY(targets(ctx, m, labels, y, &Y));
    DKM_TRY(dkm_jkm_fit(ctx, &X, &Y, kx, NULL, joint, settings, &model, NULL));
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
    CHECK_OK(ctx, fit(ctx, M, 2, 0, y, &s, 1, &P));
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
        s.tolerance = one ? 1e-6 : 1e-11;
        s.slacks = one ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
        CHECK_OK(ctx, fit(ctx, IRISES, D, 1, y, &s, K, &P));
        for (dkm_idx k = 0; P && k < dkm_data_local_rows(P) * K; k++) {
            dkm_idx i = dkm_data_local_first(P) + k / K;
            int c = (int)dkm_data_values_const(P)[2 * k];
            CHECK_CLOSE(dkm_data_values_const(P)[2 * k + 1], values[i * K + c], one ? 3e-3 : 1e-5);
        }
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
    CHECK_OK(ctx, fit(ctx, IRISES, 3, 0, y, &s, 0, &P));
    for (dkm_idx i = 0; P && i < dkm_data_local_rows(P); i++)
        CHECK_CLOSE(dkm_data_values_const(P)[i], values[dkm_data_local_first(P) + i], 1e-5);
    dkm_data_destroy(&P);
}

static const check_case cases[] = {
    CASE(two_classes_are_a_support_vector_machine),
    CASE(many_classes_are_those_of_crammer_and_singer),
    CASE(free_outputs_are_support_vector_regression),
};

#else

static void liblinear_is_not_here(dkm_ctx *ctx)
{
    if (dkm_ctx_rank(ctx) == 0)
        puts("skipped: build with LIBLINEAR (Debian: liblinear-dev) to compare");
}

static const check_case cases[] = {CASE(liblinear_is_not_here)};

#endif

CHECK_MAIN(cases)
