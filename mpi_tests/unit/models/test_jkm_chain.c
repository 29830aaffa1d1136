/* Chains against the enumeration of all label sequences. */
#include <math.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/random.h>

#include "models/jkm/chain/chain.h"
#include "models/registry/model_impl.h"
#include "support/check.h"
#include "support/fixture_checkpoint.h"

enum { K = 3, LONGEST = 6, M = 9, WINDOW = 3, STEPS = 4000 };

static double uniform(uint64_t stream, dkm_idx i, dkm_idx j)
{
    return dkm_random_uniform(11, stream, (uint64_t)i, (uint64_t)j);
}

static dkm_idx length_of(dkm_idx i)
{
    return 1 + (5 * i + 2) % LONGEST;
}

static dkm_idx sequences_of(dkm_idx k, dkm_idx length)
{
    dkm_idx count = 1;

    while (length-- > 0)
        count *= k;
    return count;
}

/* The n-th of all label sequences, and its score. */
static double sequence(dkm_idx n, dkm_idx k, dkm_idx length, const double *G, const double *T,
                       const int32_t *truth, int32_t *y)
{
    double sum = 0;

    for (dkm_idx t = 0; t < length; t++, n /= k) {
        y[t] = (int32_t)(n % k);
        sum += G[t * k + y[t]] + (truth && truth[t] != y[t] ? 1 : 0);
        sum += t > 0 ? T[y[t - 1] * k + y[t]] : 0;
    }
    return sum;
}

static double best_of_all(dkm_idx k, dkm_idx length, const double *G, const double *T,
                          const int32_t *truth, int32_t *best)
{
    double most = -HUGE_VAL;
    int32_t y[LONGEST];

    for (dkm_idx n = 0; n < sequences_of(k, length); n++) {
        double score = sequence(n, k, length, G, T, truth, y);
        if (score > most) {
            most = score;
            memcpy(best, y, sizeof y);
        }
    }
    return most;
}

static void viterbi_is_the_best_of_all_sequences(dkm_ctx *ctx)
{
    double G[LONGEST * 4], T[16];
    int32_t truth[LONGEST], path[LONGEST], best[LONGEST];

    for (dkm_idx round = 0; round < 200; round++) {
        dkm_idx k = 1 + round % 4, length = length_of(round);
        dkm_viterbi v = {0};
        for (dkm_idx j = 0; j < LONGEST * 4; j++)
            G[j] = 2 * uniform(0, round, j) - 1;
        for (dkm_idx j = 0; j < 16; j++)
            T[j] = 3 * uniform(1, round, j);
        for (dkm_idx t = 0; t < LONGEST; t++)
            truth[t] = (int32_t)(uniform(2, round, t) * (double)k);
        CHECK_OK(ctx, dkm_agree(ctx, dkm_viterbi_open(&v, ctx, k, LONGEST)));
        for (int loss = 0; loss < 2; loss++) {
            best_of_all(k, length, G, T, loss ? truth : NULL, best);
            dkm_viterbi_search(&v, length, G, T, loss ? truth : NULL, path);
            CHECK(memcmp(path, best, (size_t)length * sizeof *path) == 0);
        }
        dkm_viterbi_close(&v);
    }
}

static void margins_are_those_of_all_sequences(dkm_ctx *ctx)
{
    double G[LONGEST * K], T[K * K], margins[LONGEST * K], slow[LONGEST * K], most;
    int32_t y[LONGEST];
    dkm_viterbi v = {0};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_viterbi_open(&v, ctx, K, LONGEST)));
    for (dkm_idx round = 0; round < 50; round++) {
        dkm_idx length = length_of(round);
        for (dkm_idx j = 0; j < LONGEST * K; j++) {
            G[j] = 2 * uniform(6, round, j) - 1;
            slow[j] = -HUGE_VAL;
        }
        for (dkm_idx j = 0; j < K * K; j++)
            T[j] = 3 * uniform(7, round, j);
        most = best_of_all(K, length, G, T, NULL, y);
        for (dkm_idx n = 0; n < sequences_of(K, length); n++) {
            double score = sequence(n, K, length, G, T, NULL, y);
            for (dkm_idx t = 0; t < length; t++)
                slow[t * K + y[t]] = fmax(slow[t * K + y[t]], score);
        }
        dkm_viterbi_margins(&v, length, G, T, margins);
        for (dkm_idx j = 0; j < length * K; j++)
            CHECK(fabs(margins[j] - (most - slow[j])) <= 1e-12);
    }
    dkm_viterbi_close(&v);
}

static char letter(dkm_idx i, dkm_idx t)
{
    return (char)('a' + (int)(uniform(3, i, t) * 3));
}

static int turned; /* of other outputs for the same inputs */

/* The label follows the letter before, but for some noise. */
static int label(dkm_idx i, dkm_idx t)
{
    int plain =
        uniform(4, i, t) < 0.2 ? (int)(uniform(5, i, t) * K) : letter(i, t > 0 ? t - 1 : t) - 'a';

    return turned && i % 2 ? K - 1 - plain : plain;
}

static void make_strings(dkm_ctx *ctx, int outputs, dkm_data **data)
{
    dkm_idx lengths[M], first = dkm_slab_first(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)), n;

    for (dkm_idx i = 0; i < dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)); i++)
        lengths[i] = length_of(first + i);
    CHECK_OK(ctx, dkm_data_create_strings(ctx, M, lengths, data));
    for (dkm_idx i = 0; i < dkm_data_local_rows(*data); i++) {
        char *text = dkm_data_string(*data, i, &n);
        for (dkm_idx t = 0; t < n; t++)
            text[t] = outputs ? (char)('X' + label(first + i, t)) : letter(first + i, t);
    }
}

static dkm_idx total(void)
{
    dkm_idx sum = 0;

    for (dkm_idx i = 0; i < M; i++)
        sum += length_of(i);
    return sum;
}

/* One-hot rows of the windows as dense positions, the number of the sequence in the second column:
 * what the strings are to the learner. */
static void make_rows(dkm_ctx *ctx, dkm_data **X, dkm_data **Y)
{
    dkm_idx at = 0, first, n;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, total(), 4 * WINDOW + 1, X));
    CHECK_OK(ctx, dkm_data_create_labels(ctx, total(), Y));
    first = dkm_data_local_first(*X);
    n = dkm_data_local_rows(*X);
    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx t = 0; t < length_of(i); t++, at++) {
            double row[4 * WINDOW] = {0};
            if (at < first || at >= first + n)
                continue;
            for (dkm_idx o = 0; o < WINDOW; o++) {
                dkm_idx q = t + o - 1;
                row[4 * o + (q < 0 || q >= length_of(i) ? 3 : letter(i, q) - 'a')] = 1;
            }
            for (dkm_idx j = 0; j < 4 * WINDOW; j++)
                dkm_data_values(*X)[(at - first) * (4 * WINDOW + 1) + j + (j >= 1)] = row[j];
            dkm_data_values(*X)[(at - first) * (4 * WINDOW + 1) + 1] = 7.0 - (double)i;
            dkm_data_values(*Y)[at - first] = label(i, t) - 1;
        }
}

static dkm_status fit(dkm_ctx *ctx, int strings, dkm_model **model, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *X = NULL, *Y = NULL;
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;

    s.outputs = DKM_JKM_CHAIN;
    s.C = 0.3;
    s.tolerance = 1e-6;
    s.window = strings ? WINDOW : 0;
    s.sequence_column = strings ? -1 : 1;
    if (strings) {
        make_strings(ctx, 0, &X);
        make_strings(ctx, 1, &Y);
    } else {
        make_rows(ctx, &X, &Y);
    }
    DKM_TRY(dkm_kernel_parse(ctx, strings ? "weighted-degree(degree=1)" : "linear", &kx));
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, &s, model, info));
out:
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* Scores of the positions of an example under weights w, by the definition. */
static void scores(const double *w, dkm_idx i, double *G)
{
    for (dkm_idx t = 0; t < length_of(i); t++)
        for (dkm_idx c = 0; c < K; c++) {
            G[t * K + c] = 0;
            for (dkm_idx o = 0; o < WINDOW; o++) {
                dkm_idx q = t + o - 1, x = q < 0 || q >= length_of(i) ? 3 : letter(i, q) - 'a';
                G[t * K + c] += w[(4 * o + x) * K + c];
            }
        }
}

/* Objective of w by enumeration; subtracts step times its subgradient where there is a step. */
static double objective(double *w, double C, double step)
{
    enum { SIZE = (4 * WINDOW + K) * K };
    double sum = 0, slack = 0, gradient[SIZE], *T = w + 4 * WINDOW * K;

    for (dkm_idx j = 0; j < SIZE; j++) {
        sum += w[j] * w[j] / 2;
        gradient[j] = w[j];
    }
    for (dkm_idx i = 0; i < M; i++) {
        double G[LONGEST * K], own = 0;
        int32_t truth[LONGEST] = {0}, best[LONGEST];
        scores(w, i, G);
        for (dkm_idx t = 0; t < length_of(i); t++) {
            truth[t] = label(i, t);
            own += G[t * K + truth[t]] + (t > 0 ? T[truth[t - 1] * K + truth[t]] : 0);
        }
        slack += best_of_all(K, length_of(i), G, T, truth, best) - own;
        for (dkm_idx t = 0; t < length_of(i); t++) {
            for (dkm_idx o = 0; o < WINDOW; o++) {
                dkm_idx q = t + o - 1, x = q < 0 || q >= length_of(i) ? 3 : letter(i, q) - 'a';
                gradient[(4 * o + x) * K + best[t]] += C;
                gradient[(4 * o + x) * K + truth[t]] -= C;
            }
            if (t > 0) {
                gradient[4 * WINDOW * K + best[t - 1] * K + best[t]] += C;
                gradient[4 * WINDOW * K + truth[t - 1] * K + truth[t]] -= C;
            }
        }
    }
    for (dkm_idx j = 0; step > 0 && j < SIZE; j++)
        w[j] -= step * gradient[j];
    return sum + C * slack;
}

/* The optimum as subgradient descent finds it, which is slow and never below. */
static double slow_optimum(void)
{
    double w[(4 * WINDOW + K) * K] = {0}, best = HUGE_VAL;

    for (int step = 1; step <= STEPS; step++)
        best = fmin(best, objective(w, 0.3, 1.0 / (step + 10)));
    return best;
}

static void the_objective_is_that_of_enumeration(dkm_ctx *ctx)
{
    dkm_model *model = NULL;
    dkm_jkm_info info = {0};
    double slow = slow_optimum(), value;

    for (int strings = 0; strings < 2; strings++) {
        CHECK_OK(ctx, fit(ctx, strings, &model, &info));
        if (!model)
            return;
        value = objective(((dkm_jkm_chain *)model->state)->w, 0.3, 0);
        CHECK(info.m == M && info.positions == total() && info.r == K);
        CHECK(fabs(value - info.primal) <= 1e-9 * value);
        CHECK(info.gap <= 1e-6 && slow >= info.dual && slow <= 1.02 * value);
        dkm_model_destroy(&model);
    }
}

static void predictions_are_the_best_of_all_sequences(dkm_ctx *ctx)
{
    dkm_model *model = NULL;
    dkm_data *X = NULL, *Y = NULL, *P = NULL;
    double G[LONGEST * K], *w;
    int32_t best[LONGEST];
    dkm_idx at = 0, n;

    for (int strings = 0; strings < 2; strings++, at = 0) {
        CHECK_OK(ctx, fit(ctx, strings, &model, NULL));
        if (strings)
            make_strings(ctx, 0, &X);
        else
            make_rows(ctx, &X, &Y);
        CHECK_OK(ctx, dkm_model_predict(model, X, &P));
        w = ((dkm_jkm_chain *)model->state)->w;
        for (dkm_idx i = 0; P && i < M; i++) {
            scores(w, i, G);
            best_of_all(K, length_of(i), G, w + 4 * WINDOW * K, NULL, best);
            for (dkm_idx t = 0; t < length_of(i); t++, at++) {
                dkm_idx row = (strings ? i : at) - dkm_data_local_first(P);
                if (row < 0 || row >= dkm_data_local_rows(P))
                    continue;
                CHECK(strings ? dkm_data_string_const(P, row, &n)[t] == 'X' + best[t]
                              : dkm_data_values_const(P)[row] == best[t] - 1);
            }
        }
        dkm_data_destroy(&P);
        dkm_data_destroy(&X);
        dkm_data_destroy(&Y);
        dkm_model_destroy(&model);
    }
}

static void any_number_of_ranks_learns_the_same(dkm_ctx *ctx)
{
    for (int strings = 0; strings < 2; strings++) {
        dkm_ctx *alone = NULL;
        dkm_model *model = NULL, *one = NULL;
        dkm_jkm_info all = {0}, single = {0};
        CHECK_OK(ctx, fit(ctx, strings, &model, &all));
        CHECK(dkm_ctx_create(MPI_COMM_SELF, &alone) == DKM_OK);
        CHECK_OK(alone, fit(alone, strings, &one, &single));
        CHECK(all.rounds == single.rounds && all.dual == single.dual &&
              all.primal == single.primal);
        CHECK(model && one &&
              memcmp(((dkm_jkm_chain *)model->state)->w, ((dkm_jkm_chain *)one->state)->w,
                     (4 * WINDOW + K) * K * sizeof(double)) == 0);
        dkm_model_destroy(&one);
        dkm_model_destroy(&model);
        dkm_ctx_destroy(&alone);
    }
}

static void states_of_other_outputs_are_not_resumed(dkm_ctx *ctx)
{
    for (int strings = 0; strings < 2; strings++) {
        char dir[FILES_PATH];
        dkm_checkpoint *c = NULL;
        dkm_model *model = NULL;
        dkm_jkm_info plain = {0}, turned_plain = {0}, resumed = {0};
        files_open(ctx, dir);
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 0, -1, &c));
        CHECK_OK(ctx, fit(ctx, strings, &model, &plain));
        dkm_model_destroy(&model);
        dkm_checkpoint_close(&c);
        CHECK(checkpoint_states(ctx, dir) > 0);
        turned = 1;
        CHECK_OK(ctx, fit(ctx, strings, &model, &turned_plain));
        dkm_model_destroy(&model);
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
        CHECK_OK(ctx, fit(ctx, strings, &model, &resumed));
        dkm_model_destroy(&model);
        dkm_checkpoint_close(&c);
        turned = 0;
        CHECK(plain.dual != turned_plain.dual);
        CHECK(resumed.dual == turned_plain.dual && resumed.rounds == turned_plain.rounds);
        checkpoint_clear(ctx, dir);
    }
}

/* The features of (<x, x'> + 1)^2: products of all pairs of columns, columns times sqrt(2), and 1. The
 * number of the sequence comes first. */
static void square_rows(dkm_ctx *ctx, const dkm_data *X, dkm_data **squared)
{
    enum { D = 4 * WINDOW, COLS = 1 + D * D + D + 1 };

    CHECK_OK(ctx, dkm_data_create_dense(ctx, total(), COLS, squared));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        const double *x = dkm_data_values_const(X) + i * (D + 1);
        double *row = dkm_data_values(*squared) + i * COLS, part[D];
        for (int j = 0; j < D; j++)
            part[j] = x[j + (j >= 1)];
        *row++ = x[1];
        for (int j = 0; j < D; j++) {
            for (int l = 0; l < D; l++)
                *row++ = part[j] * part[l];
            *row++ = sqrt(2) * part[j];
        }
        *row = 1;
    }
}

static dkm_status fit_rows(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const char *kernel,
                           dkm_jkm_settings *s, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kx = NULL;
    dkm_joint *joint = NULL;
    dkm_model *model = NULL;

    s->outputs = DKM_JKM_CHAIN;
    s->tolerance = 1e-7;
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &kx));
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, NULL, joint, s, &model, info));
out:
    dkm_model_destroy(&model);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kx);
    return status;
}

static void a_kernel_learns_what_its_features_do(dkm_ctx *ctx)
{
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_jkm_info kernel = {0}, features = {0}, few = {0};
    dkm_data *X = NULL, *Y = NULL, *squared = NULL;

    s.C = 0.3;
    make_rows(ctx, &X, &Y);
    square_rows(ctx, X, &squared);
    s.sequence_column = 1;
    CHECK_OK(ctx, fit_rows(ctx, X, Y, "poly(degree=2, c=1)", &s, &kernel));
    s.landmarks = 5;
    CHECK_OK(ctx, fit_rows(ctx, X, Y, "poly(degree=2, c=1)", &s, &few));
    s.landmarks = 0;
    s.sequence_column = 0;
    CHECK_OK(ctx, fit_rows(ctx, squared, Y, "linear", &s, &features));
    CHECK(kernel.landmarks == total() && features.landmarks == 0 && few.landmarks == 5);
    CHECK(fabs(kernel.primal - features.primal) <= 1e-6 * features.primal);
    CHECK(fabs(kernel.dual - features.dual) <= 1e-6 * features.dual);
    CHECK(few.dual > kernel.dual); /* fewer features fit less well */
    dkm_data_destroy(&squared);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

/* All weights 2 are C twice; rows of one sequence that weigh differently are refused. */
static void weights_multiply_slacks(dkm_ctx *ctx)
{
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_jkm_info weighted = {0}, plain = {0};
    dkm_data *X = NULL, *Y = NULL, *w = NULL;

    make_rows(ctx, &X, &Y);
    CHECK_OK(ctx, dkm_data_create_dense(ctx, total(), 1, &w));
    for (dkm_idx i = 0; i < dkm_data_local_rows(w); i++)
        dkm_data_values(w)[i] = 2;
    s.sequence_column = 1;
    s.C = 0.6;
    CHECK_OK(ctx, fit_rows(ctx, X, Y, "linear", &s, &plain));
    s.C = 0.3;
    s.weights = w;
    CHECK_OK(ctx, fit_rows(ctx, X, Y, "linear", &s, &weighted));
    CHECK(fabs(weighted.primal - plain.primal) <= 1e-6 * plain.primal);
    if (dkm_data_local_first(w) <= 3 && 3 < dkm_data_local_first(w) + dkm_data_local_rows(w))
        dkm_data_values(w)[3 - dkm_data_local_first(w)] = 1;
    CHECK(fit_rows(ctx, X, Y, "linear", &s, &weighted) == DKM_ERR_ARG);
    dkm_data_destroy(&w);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

static dkm_data *rows, *labels;
static dkm_kernel *linear, *square;
static dkm_joint *tensor;

static dkm_status fit_once(dkm_ctx *ctx)
{
    dkm_model *model = NULL;
    dkm_status status;
    dkm_jkm_settings s = dkm_jkm_settings_default();

    s.outputs = DKM_JKM_CHAIN;
    s.C = 0.3;
    s.tolerance = 0.5;
    s.sequence_column = 1;
    status = dkm_jkm_fit(ctx, rows, labels, linear, NULL, tensor, &s, &model, NULL);
    if (status == DKM_OK) {
        dkm_model_destroy(&model);
        s.landmarks = 3;
        status = dkm_jkm_fit(ctx, rows, labels, square, NULL, tensor, &s, &model, NULL);
    }
    dkm_model_destroy(&model);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    make_rows(ctx, &rows, &labels);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &linear));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "poly(degree=2, c=1)", &square));
    CHECK_OK(ctx, dkm_joint_parse(ctx, "tensor", &tensor));
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, fit_once);
    dkm_joint_destroy(&tensor);
    dkm_kernel_destroy(&square);
    dkm_kernel_destroy(&linear);
    dkm_data_destroy(&labels);
    dkm_data_destroy(&rows);
}

static const check_case cases[] = {
    CASE(viterbi_is_the_best_of_all_sequences), CASE(margins_are_those_of_all_sequences),
    CASE(the_objective_is_that_of_enumeration), CASE(predictions_are_the_best_of_all_sequences),
    CASE(any_number_of_ranks_learns_the_same),  CASE(states_of_other_outputs_are_not_resumed),
    CASE(a_kernel_learns_what_its_features_do), CASE(weights_multiply_slacks),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
