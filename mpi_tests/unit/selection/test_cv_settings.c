/* Cross-validation honors every setting of every method: its loss is that of fits and predictions
 * on the same folds. Driven by the methods' own tables: a setting without a value to try here
 * fails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/arrays.h>
#include <dkmap/cv.h>
#include <dkmap/grid.h>
#include <dkmap/method.h>
#include <dkmap/random.h>

#include "support/check.h"

enum { M = 30, D = 3, FOLDS = 3, TEXT = 200, LENGTH = 9 };

/* Of outputs: two columns of numbers, classes, or a string of labels for a string. */
typedef enum outputs { NUMBERS, LABELS, STRINGS, OUTPUTS } outputs;
static const char *const outputs_name[] = {"dense", "labels", "strings"};
static const dkm_loss loss_of[] = {DKM_LOSS_MSE, DKM_LOSS_ZERO_ONE, DKM_LOSS_HAMMING};

/* A value of a setting, and what else must be set for it to mean something: "name=value|...", where
 * no value unsets. */
typedef struct trial {
    const char *method, *setting, *value, *with;
} trial;

static const trial trials[] = {
    {"krr", "kx", "laplace(sigma=2)", ""},
    {"krr", "gamma", "0.01", ""},
    {"krr", "center", "yes", ""},
    {"krr", "weights", NULL, ""},
    {"krr", "nystroem", "9", ""},
    {"krr", "landmarks", "9", "solver=pcg|"},
    {"krr", "tolerance", "1e-2", "solver=pcg|landmarks=9|"},
    {"krr", "max-iter", "2", "solver=pcg|landmarks=9|"},
    {"krr", "rates", "1e-9,1e-9,1e-9", ""},
    {"kde", "kx", "laplace(sigma=2)", ""},
    {"kde", "ky", "scale(linear, by=2)", ""},
    {"kde", "ky", "scale(class, by=2)", ""},
    {"kde", "components", "all", ""},
    {"kde", "components", "70%", ""},
    {"kde", "weights", NULL, ""},
    {"kde", "unpaired-y", NULL, ""},
    {"kde", "shrink", "0.5", ""},
    {"kde", "regressor", "svr", "C=2|gamma=|tolerance=1e-9|"},
    {"kde", "C", "0.1", "regressor=svr|gamma=|tolerance=1e-9|"},
    {"kde", "svr-epsilon", "0.3", "regressor=svr|C=2|gamma=|tolerance=1e-9|"},
    {"kde", "tolerance", "1e-9", "regressor=svr|C=2|gamma=|tolerance=1e-9|"},
    {"kde", "gamma", "0.01", ""},
    {"kde", "landmarks", "9", "solver=pcg|"},
    {"kde", "tolerance", "1e-2", "solver=pcg|landmarks=9|"},
    {"kde", "max-iter", "2", "solver=pcg|landmarks=9|"},
    {"knn", "kx", "linear", ""},
    {"knn", "k", "4", ""},
    {"knn", "ky", "linear", "k=3|"},
    {"knn", "ky", "class", "k=3|"},
    {"svm", "kx", "linear", ""},
    {"svm", "C", "0.1", ""},
    {"svm", "weights", NULL, ""},
    {"svm", "tolerance", "0.5", ""},
    {"hopfield", "max-iter", "3", ""},
    {"jkm", "kx", "linear", ""},
    {"jkm", "ky", "class", ""},
    {"jkm", "ky", "scale(linear, by=2)", ""},
    {"jkm", "joint", "scale(tensor, by=2)", ""},
    {"jkm", "epsilon", "0.3", ""},
    {"jkm", "epsilon-start", "0.8", "epsilon=0.2|"},
    {"jkm", "C", "0.1", ""},
    {"jkm", "threshold", "yes", ""},
    {"jkm", "weights", NULL, ""},
    {"jkm", "candidates", NULL, "output-domain=candidates|"},
    {"jkm", "candidate-type", "labels", ""},
    {"jkm", "tolerance", "0.3", ""},
    {"jkm", "max-iter", "2", ""},
    {"jkm", "qp-distribute-above", "1", ""},
    {"jkm", "output-domain", "chain", ""},
    {"jkm", "window", "5", "output-domain=chain|"},
    {"jkm", "sequence-column", "0", "output-domain=chain|kx=linear|"},
    {"jkm", "landmarks", "5", "output-domain=chain|kx=weighted-degree(degree=2)|"},
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* What is set of every method that learns such outputs. */
static const struct base {
    const char *method, *settings[OUTPUTS];
} bases[] = {
    {"krr", {"kx=rbf(sigma=1)|gamma=0.2|", "kx=rbf(sigma=1)|gamma=0.2|", NULL}},
    {"kde",
     {"kx=rbf(sigma=1)|ky=linear|components=2|gamma=0.2|",
      "kx=rbf(sigma=1)|ky=class|components=2|gamma=0.2|", NULL}},
    {"knn", {"kx=rbf(sigma=1)|", "kx=rbf(sigma=1)|", NULL}},
    {"svm", {"kx=rbf(sigma=1)|C=1|", "kx=rbf(sigma=1)|C=1|", NULL}},
    {"hopfield", {"", "", NULL}},
    {"jkm",
     {"kx=rbf(sigma=1)|C=1|", "kx=rbf(sigma=1)|C=1|",
      "kx=weighted-degree(degree=1)|C=0.1|output-domain=chain|window=3|"}},
};

typedef struct sample {
    dkm_ctx *ctx;
    dkm_data *X, *Y;
    dkm_data *W; /* weights of the examples */
    outputs kind;
    char file[TEXT]; /* of more outputs */
} sample;

static double number(dkm_idx i, dkm_idx j)
{
    return 0.9 * sin(3.0 * dkm_random_normal(5, 0, (uint64_t)i, (uint64_t)j));
}

static double weight_of(dkm_idx i)
{
    return 1.0 + (double)(i % 3);
}

static double output(dkm_idx i, dkm_idx j, outputs kind)
{
    double value = 0.5 * (number(i, j % D) + number(i, 2) * number(i, 1));

    return kind == LABELS ? (value > 0.1) + (value > -0.2) : value;
}

/* Strings of unequal lengths, at least two characters long. */
static dkm_status make_strings(dkm_ctx *ctx, int of_labels, dkm_data **S)
{
    dkm_idx first = dkm_slab_first(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx rows = dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    char chars[M][LENGTH + 1] = {""};
    const char *strings[M];

    for (dkm_idx r = 0; r < rows; r++) {
        dkm_idx i = first + r, length = 2 + i % (LENGTH - 1);
        strings[r] = chars[r];
        for (dkm_idx t = 0; t < length; t++) {
            double here = number(i, t), before = t > 0 ? number(i, t - 1) : 0.0;
            char letter = (char)('a' + (here > -0.4) + (here > 0.3));
            chars[r][t] = !of_labels ? letter : here + 0.4 * before > 0 ? 'U' : 'D';
        }
    }
    return dkm_data_from_strings(ctx, DKM_STRINGS, rows, strings, NULL, S);
}

static dkm_status make_outputs(dkm_ctx *ctx, outputs kind, dkm_data **Y)
{
    dkm_idx cols = kind == LABELS ? 1 : 2;
    dkm_status status = DKM_OK;

    if (kind == STRINGS)
        return make_strings(ctx, 1, Y);
    DKM_TRY(kind == LABELS ? dkm_data_create_labels(ctx, M, Y)
                           : dkm_data_create_dense(ctx, M, 2, Y));
    for (dkm_idx k = 0; k < cols * dkm_data_local_rows(*Y); k++)
        dkm_data_values(*Y)[k] = output(dkm_data_local_first(*Y) + k / cols, k % cols, kind);
out:
    return status;
}

static dkm_status make_inputs(dkm_ctx *ctx, outputs kind, dkm_data **X)
{
    dkm_status status = DKM_OK;

    if (kind == STRINGS)
        return make_strings(ctx, 0, X);
    DKM_TRY(dkm_data_create_dense(ctx, M, D, X));
    for (dkm_idx k = 0; k < D * dkm_data_local_rows(*X); k++)
        dkm_data_values(*X)[k] = number(dkm_data_local_first(*X) + k / D, k % D);
out:
    return status;
}

static dkm_status sample_open(sample *s, dkm_ctx *ctx, outputs kind)
{
    dkm_status status = DKM_OK;

    *s = (sample){.ctx = ctx, .kind = kind};
    snprintf(s->file, sizeof s->file, "test_cv_settings_%d_%d.%s", dkm_ctx_size(ctx), (int)kind,
             kind == STRINGS ? "txt" : "npy");
    DKM_TRY(make_inputs(ctx, kind, &s->X));
    DKM_TRY(dkm_data_create_dense(ctx, M, 1, &s->W));
    for (dkm_idx k = 0; k < dkm_data_local_rows(s->W); k++)
        dkm_data_values(s->W)[k] = weight_of(dkm_data_local_first(s->W) + k);
    DKM_TRY(make_outputs(ctx, kind, &s->Y));
    DKM_TRY(dkm_data_write(s->Y, s->file));
out:
    return status;
}

static void sample_close(sample *s)
{
    if (dkm_ctx_rank(s->ctx) == 0)
        remove(s->file);
    dkm_data_destroy(&s->W);
    dkm_data_destroy(&s->Y);
    dkm_data_destroy(&s->X);
}

static int weighs(const trial *t)
{
    return strcmp(t->setting, "weights") == 0;
}

/* Set "name=value|name=value|...". */
static dkm_status set_all(dkm_settings *settings, const char *list)
{
    dkm_status status = DKM_OK;

    for (const char *c = list; *c && status == DKM_OK; c += strcspn(c, "|") + 1) {
        char text[TEXT], *value;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(c, "|"), c);
        value = strchr(text, '=');
        *value++ = '\0';
        status = dkm_settings_set(settings, text, *value ? value : NULL);
    }
    return status;
}

static const char *base_of(const char *method, outputs kind)
{
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        if (strcmp(bases[k].method, method) == 0)
            return bases[k].settings[kind];
    return NULL;
}

static dkm_status make_settings(const sample *s, const trial *t, dkm_settings **settings)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_settings_create(s->ctx, t->method, settings));
    DKM_TRY(set_all(*settings, base_of(t->method, s->kind)));
    DKM_TRY(set_all(*settings, t->with));
    DKM_TRY(weighs(t) ? dkm_settings_set_data(*settings, t->setting, s->W)
                      : dkm_settings_set(*settings, t->setting, t->value ? t->value : s->file));
out:
    return status;
}

static dkm_status validate(const sample *s, const trial *t, dkm_settings *settings,
                           dkm_cv_result *result, int *refits)
{
    dkm_status status = DKM_OK;
    dkm_cv_points points = {1, &settings, 1, &settings};
    dkm_cv_problem problem = {0};
    dkm_cv_search *search = NULL;

    *result = (dkm_cv_result){0};
    DKM_TRY(dkm_cv_search_create(s->ctx, &points, &search));
    *refits = dkm_cv_search_refits(search);
    DKM_TRY(dkm_cv_search_problem(search, s->X, s->Y, &problem));
    problem.folds = FOLDS;
    problem.weights = weighs(t) ? s->W : NULL;
    problem.loss = loss_of[s->kind];
    DKM_TRY(dkm_cross_validate(s->ctx, &problem, result));
out:
    dkm_cv_search_destroy(&search);
    return status;
}

/* The sum of the losses of one fold, by a fit to the others. */
static dkm_status fit_fold(const sample *s, const trial *t, dkm_settings *settings,
                           const dkm_idx *fold, dkm_idx which, double *sum)
{
    dkm_status status = DKM_OK;
    dkm_idx train[M], test[M], trained = 0, tested = 0;
    dkm_data *X = NULL, *Y = NULL, *T = NULL, *truth = NULL, *P = NULL, *W = NULL, *V = NULL;
    dkm_score_settings how = {.loss = loss_of[s->kind]};
    dkm_model *model = NULL;
    dkm_score score;
    double rows = 0;

    for (dkm_idx i = 0; i < M; i++)
        if (fold[i] == which) {
            test[tested++] = i;
            rows += weighs(t) ? weight_of(i) : 1.0;
        } else {
            train[trained++] = i;
        }
    if (weighs(t)) {
        DKM_TRY(dkm_data_select(s->W, trained, train, &W));
        DKM_TRY(dkm_data_select(s->W, tested, test, &V));
        DKM_TRY(dkm_settings_set_data(settings, "weights", W));
        how.weights = V;
    }
    DKM_TRY(dkm_data_select(s->X, trained, train, &X));
    DKM_TRY(dkm_data_select(s->Y, trained, train, &Y));
    DKM_TRY(dkm_data_select(s->X, tested, test, &T));
    DKM_TRY(dkm_data_select(s->Y, tested, test, &truth));
    DKM_TRY(dkm_fit(s->ctx, t->method, X, Y, settings, &model, NULL));
    DKM_TRY(dkm_model_predict(model, T, &P));
    DKM_TRY(dkm_score_by(truth, P, &how, &score));
    *sum += score.mean * rows / (weighs(t) ? 2.0 : 1.0); /* the mean weight is 2 */
out:
    dkm_data_destroy(&V);
    dkm_data_destroy(&W);
    dkm_data_destroy(&P);
    dkm_model_destroy(&model);
    dkm_data_destroy(&truth);
    dkm_data_destroy(&T);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* Folds are the same for all settings: those of the simplest problem. */
static dkm_status find_folds(const sample *s, dkm_cv_result *result)
{
    const trial neighbor = {"knn", "k", "1", ""}, chain = {"jkm", "C", "0.1", ""};
    const trial *simple = s->kind == STRINGS ? &chain : &neighbor;
    dkm_settings *settings = NULL;
    dkm_status status = DKM_OK;
    int refits;

    DKM_TRY(make_settings(s, simple, &settings));
    DKM_TRY(validate(s, simple, settings, result, &refits));
out:
    dkm_settings_destroy(&settings);
    return status;
}

/* Whether cv and fits do the same; both may refuse, each at what it meets first. Returns whether they
 * went through. */
static int compare(const sample *s, const trial *t, const dkm_idx *fold)
{
    dkm_cv_result result = {0};
    dkm_settings *settings = NULL;
    dkm_status by_cv, by_fits = DKM_OK;
    double sum = 0;
    int refits = 0, good;

    CHECK_OK(s->ctx, make_settings(s, t, &settings));
    by_cv = validate(s, t, settings, &result, &refits);
    if (strcmp(t->setting, "sequence-column") == 0 && by_cv == DKM_OK)
        fold = result.fold; /* sequences stay together: folds of their own */
    for (dkm_idx f = 0; f < FOLDS && by_fits == DKM_OK; f++)
        by_fits = fit_fold(s, t, settings, fold, f, &sum);
    good = by_cv == DKM_OK && by_fits == DKM_OK;
    if ((by_cv == DKM_OK) != (by_fits == DKM_OK) ||
        (good && !(fabs(result.table[0].mean - sum / M) <= 1e-6 * (1.0 + fabs(sum / M)))))
        fprintf(stderr, "%s --%s %s (%s), %s: cv %s %.15g, fits %s %.15g\n", t->method, t->setting,
                t->value ? t->value : s->file, refits ? "fits" : "closed form",
                outputs_name[s->kind], dkm_status_text(by_cv),
                by_cv == DKM_OK ? result.table[0].mean : NAN, dkm_status_text(by_fits), sum / M);
    CHECK((by_cv == DKM_OK) == (by_fits == DKM_OK));
    if (good)
        CHECK_CLOSE(result.table[0].mean, sum / M, 1e-6 * (1.0 + fabs(sum / M)));
    dkm_cv_result_free(&result);
    dkm_settings_destroy(&settings);
    return good;
}

/* A trial must go through for some outputs, and agree for all that the method learns. Even counts of
 * ranks meet every third trial: what a setting does to cv does not depend on them. */
static void try_value(const sample samples[OUTPUTS], const dkm_cv_result folds[OUTPUTS],
                      const trial *t)
{
    static int tried;
    int good = 0;

    if (dkm_ctx_size(samples[0].ctx) % 2 == 0 && tried++ % 3 != 0)
        return;
    for (int k = 0; k < OUTPUTS; k++)
        if (base_of(t->method, samples[k].kind))
            good += compare(&samples[k], t, folds[k].fold);
    if (!good)
        fprintf(stderr, "%s --%s %s: never went through\n", t->method, t->setting,
                t->value ? t->value : "FILE");
    CHECK(good);
}

/* Settings that cross-validation does not take are refused. */
static void check_refused(const sample *s, const char *method, const dkm_setting *row)
{
    char last[TEXT], least[TEXT];
    const char *value = row->kind == DKM_SETTING_CHOICE ? last
                        : row->kind == DKM_SETTING_FLAG ? "yes"
                        : row->kind == DKM_SETTING_DATA ? s->file
                                                        : least;
    trial t = {method, row->name, value, ""};
    dkm_settings *settings = NULL;
    dkm_cv_result result;
    int refits;

    for (const char *c = row->choices; c && *c; c += strcspn(c, "|") + 1)
        snprintf(last, sizeof last, "%.*s", (int)strcspn(c, "|"), c);
    snprintf(least, sizeof least, "%lld", row->min > 1 ? (long long)row->min : 1LL);
    CHECK_OK(s->ctx, make_settings(s, &t, &settings));
    CHECK(validate(s, &t, settings, &result, &refits) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(s->ctx), row->name) != NULL);
    dkm_cv_result_free(&result);
    dkm_settings_destroy(&settings);
}

static int has_trial(const char *method, const char *setting, const char *value)
{
    for (int k = 0; k < TRIALS; k++)
        if (strcmp(trials[k].method, method) == 0 && strcmp(trials[k].setting, setting) == 0 &&
            (!value || (trials[k].value && strcmp(trials[k].value, value) == 0)))
            return 1;
    return 0;
}

/* Every choice of a setting, with the first condition that it is subject to. */
static void try_choices(const sample samples[OUTPUTS], const dkm_cv_result folds[OUTPUTS],
                        const char *method, const dkm_setting *row)
{
    for (const char *c = row->choices; *c; c += strcspn(c, "|") + 1) {
        char value[TEXT], with[TEXT] = "";
        trial t = {method, row->name, value, with};
        snprintf(value, sizeof value, "%.*s", (int)strcspn(c, "|"), c);
        if (row->only_with)
            snprintf(with, sizeof with, "%.*s", (int)strcspn(row->only_with, "|") + 1,
                     row->only_with);
        /* landmarks, a few, and all of them as basis, are what pcg takes */
        if (strcmp(with, "solver=pcg|") == 0)
            snprintf(with, sizeof with, "solver=pcg|landmarks=9|");
        if (has_trial(method, row->name, value))
            continue;
        if (strcmp(method, "kde") == 0 && strcmp(row->name, "basis") == 0 &&
            strcmp(value, "all") == 0)
            continue; /* kde refuses it */
        try_value(samples, folds, &t);
    }
}

static void try_method(const sample samples[OUTPUTS], const dkm_cv_result folds[OUTPUTS],
                       const dkm_method *method)
{
    const char *name = dkm_method_name(method);
    const dkm_setting *row;

    for (int k = 0; (row = dkm_method_setting(method, k)); k++) {
        if (row->not_in_cv) {
            check_refused(&samples[LABELS], name, row);
        } else if (row->kind == DKM_SETTING_CHOICE) {
            try_choices(samples, folds, name, row);
        } else {
            if (!has_trial(name, row->name, NULL))
                fprintf(stderr, "%s --%s: no value to try\n", name, row->name);
            CHECK(has_trial(name, row->name, NULL));
        }
    }
    for (int k = 0; k < TRIALS; k++)
        if (strcmp(trials[k].method, name) == 0)
            try_value(samples, folds, &trials[k]);
}

static void cv_honors_every_setting(dkm_ctx *ctx)
{
    sample samples[OUTPUTS];
    dkm_cv_result folds[OUTPUTS];
    const dkm_method *method;

    for (int k = 0; k < OUTPUTS; k++) {
        CHECK_OK(ctx, sample_open(&samples[k], ctx, (outputs)k));
        CHECK_OK(ctx, find_folds(&samples[k], &folds[k]));
    }
    for (int k = 0; (method = dkm_method_at(k)); k++)
        if (dkm_method_outputs(method))
            try_method(samples, folds, method);
    for (int k = 0; k < OUTPUTS; k++) {
        dkm_cv_result_free(&folds[k]);
        sample_close(&samples[k]);
    }
}

static const check_case cases[] = {CASE(cv_honors_every_setting)};

CHECK_MAIN(cases)
