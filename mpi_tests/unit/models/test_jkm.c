#include <math.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/random.h>

#include "reference/reference_cone.h"
#include "support/check.h"

enum { M = 5, Q = 3 };

static double entry(uint64_t stream, dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(11, stream, (uint64_t)i, (uint64_t)k);
}

/* Rows on the unit sphere. */
static void unit_row(uint64_t stream, dkm_idx i, dkm_idx d, double *row)
{
    double square = 0;

    for (dkm_idx k = 0; k < d; k++) {
        row[k] = entry(stream, i, k);
        square += row[k] * row[k];
    }
    for (dkm_idx k = 0; k < d; k++)
        row[k] /= sqrt(square);
}

static dkm_status make_rows(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_idx d, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, X);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*X); i++)
        unit_row(stream, dkm_data_local_first(*X) + i, d, dkm_data_values(*X) + i * d);
    return status;
}

typedef struct problem {
    dkm_idx m, d, q;
    const char *kx, *joint;
    dkm_jkm_settings settings;
    int classes; /* 0, or how many: labels that the inputs have little to do with */
} problem;

static dkm_status make_outputs(dkm_ctx *ctx, const problem *p, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    if (!p->classes)
        return make_rows(ctx, p->d == p->q ? 0 : 1, p->m, p->q, Y);
    DKM_TRY(dkm_data_create_labels(ctx, p->m, Y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = (double)((dkm_data_local_first(*Y) + i) * 7 % p->classes);
out:
    return status;
}

static dkm_status fit(dkm_ctx *ctx, const problem *p, dkm_model **model, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings settings = p->settings;
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;
    dkm_data *X = NULL, *Y = NULL;

    *model = NULL;
    DKM_TRY(dkm_kernel_parse(ctx, p->kx, &kx));
    DKM_TRY(dkm_joint_parse(ctx, p->joint, &joint));
    DKM_TRY(make_rows(ctx, 0, p->m, p->d, &X));
    DKM_TRY(make_outputs(ctx, p, &Y));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, &settings, model, info));
out:
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    return status;
}

static problem sphere(const char *joint, dkm_idx m, dkm_idx d, dkm_idx q, double epsilon)
{
    problem p = {m, d, q, "linear", joint, dkm_jkm_settings_default(), 0};

    p.settings.epsilon = epsilon;
    p.settings.tolerance = 1e-4;
    return p;
}

/* Parameters: W row by row times sqrt(1 - lambda), then the diagonal times sqrt(lambda), then a
 * multiple of the identity times sqrt(identity). */
static double exact(const problem *p, double lambda, double identity)
{
    static double A[M * Q * ORACLE_CONE_MOST];
    double Y[M * Q], x[Q], theta[ORACLE_CONE_MOST];
    int t = Q * Q + (lambda > 0 ? Q : 0) + (identity > 0);
    reference_cone c = {M, Q, t, A, Y, p->settings.epsilon};

    memset(A, 0, sizeof A);
    for (int i = 0; i < M; i++) {
        unit_row(0, i, Q, x);
        unit_row(0, i, Q, Y + i * Q);
        for (int k = 0; k < Q; k++) {
            double *row = A + (i * Q + k) * t;
            for (int j = 0; j < Q; j++)
                row[k * Q + j] = sqrt(1 - lambda) * x[j];
            if (lambda > 0)
                row[Q * Q + k] = sqrt(lambda) * x[k];
            if (identity > 0)
                row[t - 1] = sqrt(identity) * x[k];
        }
    }
    return reference_cone_solve(&c, theta);
}

static void cutting_planes_reach_the_exact_cones(dkm_ctx *ctx)
{
    const char *joints[] = {"linear", "diag(lambda=0.5)", "diag(lambda=0.9)",
                            "sum(linear, scale(identity, by=0.5))",
                            "sum(scale(identity, by=0.2), diag(lambda=0.5))"};
    const double lambdas[] = {0, 0.5, 0.9, 0, 0.5}, identities[] = {0, 0, 0, 0.5, 0.2};

    for (int k = 0; k < 5; k++) {
        problem p = sphere(joints[k], M, Q, Q, 0.3);
        dkm_model *model = NULL;
        dkm_jkm_info info = {0};
        double optimum = exact(&p, lambdas[k], identities[k]);
        CHECK_OK(ctx, fit(ctx, &p, &model, &info));
        CHECK_CLOSE(info.dual, optimum, 3e-4 * optimum);
        CHECK(info.dual <= optimum * (1 + 1e-7)); /* never above */
        CHECK(info.primal >= optimum * (1 - 1e-7));
        CHECK(info.violation <= 1e-4);
        dkm_model_destroy(&model);
    }
}

/* Along the diagonal alone one input tells all there is to know of an output. */
static void identity_is_learnt_along_the_diagonal(dkm_ctx *ctx)
{
    problem p = sphere("diag(lambda=1)", 8, 12, 12, 0.15);
    dkm_model *model = NULL;
    dkm_jkm_info info = {0};
    dkm_data *X = NULL, *Y = NULL;

    CHECK_OK(ctx, fit(ctx, &p, &model, &info));
    CHECK_OK(ctx, make_rows(ctx, 7, 9, 12, &X));
    CHECK_OK(ctx, dkm_model_predict(model, X, &Y));
    for (dkm_idx k = 0; Y && k < dkm_data_local_rows(Y) * 12; k++)
        CHECK_CLOSE(dkm_data_values_const(Y)[k], dkm_data_values_const(X)[k], 1e-2);
    CHECK(info.support >= 6 && info.support <= 24);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
    dkm_model_destroy(&model);
}

/* Each rank fits by itself as well: what comes out must be what all find together. */
static void same_as_alone(dkm_ctx *ctx, const problem *p)
{
    dkm_ctx *alone = NULL;
    dkm_model *model = NULL;
    dkm_jkm_info one = {0}, all = {0};
    problem own = *p;

    own.settings.layout = (dkm_layout){0};
    CHECK_OK(ctx, fit(ctx, p, &model, &all));
    dkm_model_destroy(&model);
    CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
    CHECK_OK(alone, fit(alone, &own, &model, &one));
    dkm_model_destroy(&model);
    dkm_ctx_destroy(&alone);
    CHECK(one.rounds == all.rounds && one.constraints == all.constraints);
    CHECK(one.support == all.support);
    CHECK(one.dual == all.dual); /* to the last bit */
}

static void rounds_do_not_depend_on_the_ranks(dkm_ctx *ctx)
{
    problem linear = sphere("linear", 7, 12, 12, 0.5);
    problem diagonal = sphere("diag(lambda=0.5)", 7, 12, 12, 0.5);
    problem patch = sphere("patch(lambda=0.8, shape=3x4, size=2, step=1)", 7, 12, 12, 0.5);
    problem identity = sphere("sum(identity, scale(linear, by=0.1))", 7, 12, 12, 0.5);
    problem span = sphere("tensor", 7, 5, 30, 0.5);

    span.kx = "rbf(sigma=1)";
    same_as_alone(ctx, &linear);
    same_as_alone(ctx, &diagonal);
    same_as_alone(ctx, &patch);
    same_as_alone(ctx, &identity);
    same_as_alone(ctx, &span);
}

/* Through the features (5 of them) and through the kernel matrix. */
static void classes_do_not_depend_on_the_ranks(dkm_ctx *ctx)
{
    const dkm_jkm_slacks slacks[] = {DKM_JKM_SLACKS_EACH, DKM_JKM_SLACKS_ONE};

    for (int k = 0; k < 4; k++) {
        problem p = sphere("tensor", 40, 5, 5, 0);
        p.classes = 3;
        p.kx = k < 2 ? "linear" : "rbf(sigma=1)";
        p.settings.C = 0.5;
        p.settings.tolerance = 1e-3;
        p.settings.slacks = slacks[k % 2];
        same_as_alone(ctx, &p);
    }
}

/* Columns of the kernel matrix on several ranks, more of them than one block. */
static void grids_do_not_change_steps(dkm_ctx *ctx)
{
    int size = dkm_ctx_size(ctx);

    for (int C = 1; C <= size; C++) {
        problem p = sphere("tensor", 600, 5, 5, 0);
        if (size % C != 0)
            continue;
        p.classes = 3;
        p.kx = "rbf(sigma=1)";
        p.settings.C = 0.5;
        p.settings.rounds = 3;
        p.settings.slacks = DKM_JKM_SLACKS_ONE;
        p.settings.layout = (dkm_layout){.P = size / C, .Q = C};
        same_as_alone(ctx, &p);
    }
}

/* Scores of 16 constraints are kept here, further ones are applied anew: the optimum is that of a slack per
 * example, and every step the same on any number of ranks. */
static void more_constraints_than_scores_are_kept_of(dkm_ctx *ctx)
{
    problem p = sphere("tensor", 40, 5, 5, 0);
    dkm_model *model = NULL;
    dkm_jkm_info one = {0}, each = {0};

    p.classes = 3;
    p.kx = "rbf(sigma=1)";
    p.settings.C = 20;
    p.settings.tolerance = 1e-4;
    p.settings.slacks = DKM_JKM_SLACKS_EACH;
    CHECK_OK(ctx, fit(ctx, &p, &model, &each));
    dkm_model_destroy(&model);
    p.settings.slacks = DKM_JKM_SLACKS_ONE;
    CHECK_OK(ctx, fit(ctx, &p, &model, &one));
    dkm_model_destroy(&model);
    CHECK(one.rounds > 20 && one.constraints > 18);
    CHECK_CLOSE(one.dual, each.dual, 1e-3 * each.dual);
    same_as_alone(ctx, &p);
}

/* A Gram matrix in pieces on all ranks is the one that rank 0 would have: every step is the same.
 */
static void a_spread_program_takes_the_same_steps(dkm_ctx *ctx)
{
    problem kinds[4] = {sphere("diag(lambda=0.5)", 7, 12, 12, 0.5),
                        sphere("linear", 7, 12, 12, 0.5), sphere("tensor", 40, 5, 5, 0),
                        sphere("diag(lambda=0.5)", 7, 12, 12, 0.5)};

    kinds[2].classes = 3;
    kinds[2].settings.C = 0.5;
    kinds[2].settings.slacks = DKM_JKM_SLACKS_EACH;
    kinds[3].settings.threshold = 1;
    for (int k = 0; k < 4; k++) {
        problem p = kinds[k];
        dkm_jkm_info here = {0}, far = {0};
        dkm_model *model = NULL;
        p.settings.tolerance = 0.1;
        CHECK_OK(ctx, fit(ctx, &p, &model, &here));
        dkm_model_destroy(&model);
        p.settings.spread = k == 1 ? 1 : 10; /* from the beginning, and with some on rank 0 */
        CHECK_OK(ctx, fit(ctx, &p, &model, &far));
        dkm_model_destroy(&model);
        CHECK(!here.spread && far.spread && here.constraints > 10);
        CHECK(here.rounds == far.rounds && here.constraints == far.constraints);
        CHECK(here.support == far.support && here.dual == far.dual);
        same_as_alone(ctx, &p);
    }
}

/* The best of the other examples' outputs, as among candidates. */
static int find_among_outputs(void *user, dkm_idx example, dkm_idx r, const double *g,
                              const double *y, double *found, double *margin)
{
    const problem *p = user;
    double row[16], most = -INFINITY;

    (void)y;
    (void)margin; /* as it is */
    for (dkm_idx j = 0; j < p->m; j++) {
        double score = 0;
        unit_row(0, j, r, row);
        for (dkm_idx k = 0; k < r; k++)
            score += g[k] * row[k];
        if (j == example || score <= most)
            continue;
        most = score;
        memcpy(found, row, (size_t)r * sizeof *row);
    }
    return 1;
}

static void a_users_oracle_finds_what_candidates_do(dkm_ctx *ctx)
{
    problem p = sphere("diag(lambda=0.5)", 7, 12, 12, 0), user = p;
    dkm_jkm_info one = {0}, other = {0};
    dkm_model *model = NULL;

    p.settings.outputs = DKM_JKM_CANDIDATES;
    CHECK_OK(ctx, fit(ctx, &p, &model, &one));
    dkm_model_destroy(&model);
    user.settings.oracle = (dkm_jkm_oracle){&user, find_among_outputs};
    CHECK_OK(ctx, fit(ctx, &user, &model, &other));
    dkm_model_destroy(&model);
    CHECK(strcmp(one.outputs, "candidates") == 0 && strcmp(other.outputs, "oracle") == 0);
    CHECK(one.dual > 0);
    CHECK_CLOSE(one.dual, other.dual, 1e-6 * one.dual);
    CHECK(one.rounds == other.rounds && one.support == other.support);
}

static void annealing_ends_at_the_same_optimum(dkm_ctx *ctx)
{
    problem p = sphere("diag(lambda=0.5)", M, Q, Q, 0.3);
    dkm_model *model = NULL;
    dkm_jkm_info info = {0};
    double optimum = exact(&p, 0.5, 0);

    p.settings.anneal = 1.2;
    CHECK_OK(ctx, fit(ctx, &p, &model, &info));
    CHECK(info.epsilon == 0.3);
    CHECK_CLOSE(info.dual, optimum, 3e-4 * optimum);
    dkm_model_destroy(&model);
}

/* Fit with and without annealing, and compare the objectives. */
static void anneal_both_ways(dkm_ctx *ctx, const problem *p, double from)
{
    problem annealed = *p;
    dkm_model *model = NULL;
    dkm_jkm_info plain = {0}, info = {0};

    annealed.settings.anneal = from;
    CHECK_OK(ctx, fit(ctx, p, &model, &plain));
    dkm_model_destroy(&model);
    CHECK_OK(ctx, fit(ctx, &annealed, &model, &info));
    dkm_model_destroy(&model);
    CHECK(plain.primal > 0 && info.epsilon == p->settings.epsilon);
    CHECK_CLOSE(info.primal, plain.primal, 3e-4 * plain.primal);
    CHECK_CLOSE(info.dual, plain.dual, 3e-4 * plain.dual);
    CHECK(info.gap >= -1e-6 && info.gap <= 1e-4);
}

static void annealing_goes_with_both_kinds_of_slacks(dkm_ctx *ctx)
{
    const dkm_jkm_rescale rescale[] = {DKM_JKM_PLAIN, DKM_JKM_RESCALE_MARGIN};
    const double C[] = {0.02, 1};

    for (int k = 0; k < 8; k++) {
        problem p = sphere("tensor", 14, 3, 4, 0.2);
        p.kx = "rbf(sigma=1)";
        p.settings.outputs = DKM_JKM_CANDIDATES;
        p.settings.C = C[k % 2];
        p.settings.rescale = rescale[k / 2 % 2];
        p.settings.slacks = k / 4 ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
        anneal_both_ways(ctx, &p, 1.1);
    }
    for (int one = 0; one < 2; one++) { /* classes, by features */
        problem p = sphere("tensor", 20, 3, 3, 0.2);
        p.classes = 3;
        p.settings.C = 0.1;
        p.settings.slacks = one ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
        anneal_both_ways(ctx, &p, 1.1);
    }
}

static void annealing_goes_with_free_outputs(dkm_ctx *ctx)
{
    const double C[] = {0.1, 1, 0};

    for (int k = 0; k < 3; k++) {
        problem p = sphere("tensor", 14, 3, 4, 0.2);
        p.kx = "rbf(sigma=0.5)";
        p.settings.outputs = DKM_JKM_FREE;
        p.settings.C = C[k];
        anneal_both_ways(ctx, &p, 1.5);
    }
}

/* Finds what violates most at first, and nothing later on. */
static int find_once(void *user, dkm_idx example, dkm_idx r, const double *g, const double *y,
                     double *found, double *margin)
{
    double size = 0;

    for (dkm_idx k = 0; k < r; k++)
        size += fabs(g[k]);
    return size == 0 && find_among_outputs(user, example, r, g, y, found, margin);
}

static void gaps_are_never_negative(dkm_ctx *ctx)
{
    for (int k = 0; k < 2; k++) {
        problem p = sphere("diag(lambda=0.5)", 7, 12, 12, 0);
        dkm_jkm_info info = {0};
        dkm_model *model = NULL;
        p.settings.oracle = (dkm_jkm_oracle){&p, find_once};
        p.settings.C = k ? 0.01 : 0;
        CHECK_OK(ctx, fit(ctx, &p, &model, &info));
        dkm_model_destroy(&model);
        CHECK(info.dual > 0 && info.primal >= info.dual * (1 - 1e-6) && info.gap >= -1e-6);
    }
}

static void annealing_is_refused_with_an_oracle(dkm_ctx *ctx)
{
    problem p = sphere("linear", 7, 12, 12, 0.2);
    dkm_model *model = NULL;

    p.settings.anneal = 1;
    p.settings.oracle = (dkm_jkm_oracle){&p, find_among_outputs};
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_UNSUPPORTED && !model);
}

/* Twenty points of the plane cannot be turned into twenty others by one linear map. */
static void what_is_not_separable_is_said(dkm_ctx *ctx)
{
    problem p = sphere("linear", 20, 2, 3, 0.05);
    dkm_model *model = NULL;

    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_NUMERIC && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "not separable at epsilon = 0.05"));
    CHECK(strstr(dkm_ctx_message(ctx), "allow slack"));
}

static void wrong_settings_are_refused(dkm_ctx *ctx)
{
    problem p = sphere("linear", M, Q, Q, 2.0);
    dkm_model *model = NULL;

    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "at most 2 apart"));
    p = sphere("linear", M, Q, Q, 0.3);
    p.settings.C = -1;
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    p = sphere("diag(lambda=1.5)", M, Q, Q, 0.3);
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "lambda must be from 0 to 1"));
    p = sphere("patch(shape=2x2, size=3)", M, 4, 4, 0.3);
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "larger than the image"));
    p = sphere("patch(shape=9999999999999999999x2)", M, 4, 4, 0.3);
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "an integer from 1 to 1000000"));
    p = sphere("scale(scale(linear, by=1e200), by=1e200)", M, Q, Q, 0.3);
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "multiply to inf"));
    p = sphere("patch(shape=3x3, size=2, step=1)", M, 4, 4, 0.3);
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "x has 4 columns"));
    p = sphere("linear", M, Q, Q, 0.3);
    p.settings.tolerance = 1;
    CHECK(fit(ctx, &p, &model, NULL) == DKM_ERR_ARG && !model);
}

static dkm_status fit_and_predict(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    problem p = sphere("patch(lambda=0.5, shape=2x2, size=1, step=1)", 4, 4, 4, 0.8);
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL;

    p.settings.rounds = 2;
    p.settings.spread = 5;
    DKM_TRY(fit(ctx, &p, &model, NULL));
    DKM_TRY(make_rows(ctx, 1, 3, 4, &X));
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
    CASE(cutting_planes_reach_the_exact_cones),
    CASE(identity_is_learnt_along_the_diagonal),
    CASE(rounds_do_not_depend_on_the_ranks),
    CASE(classes_do_not_depend_on_the_ranks),
    CASE(grids_do_not_change_steps),
    CASE(more_constraints_than_scores_are_kept_of),
    CASE(a_spread_program_takes_the_same_steps),
    CASE(a_users_oracle_finds_what_candidates_do),
    CASE(annealing_ends_at_the_same_optimum),
    CASE(annealing_goes_with_both_kinds_of_slacks),
    CASE(annealing_goes_with_free_outputs),
    CASE(gaps_are_never_negative),
    CASE(annealing_is_refused_with_an_oracle),
    CASE(what_is_not_separable_is_said),
    CASE(wrong_settings_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
