#include <math.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/score.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "support/check.h"

/* What a test says object g is: its items written out, and how many there are. */
typedef dkm_idx (*describe)(dkm_idx g, dkm_idx items[64]);

static dkm_local make_slab(dkm_ctx *ctx, dkm_type type, dkm_idx m, describe object, dkm_objs *objs)
{
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx items[64], d = object(0, items), total = 0;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < n; i++)
        total += object(first + i, items);
    DKM_STEP(dkm_objs_init(objs, ctx, type, n, d, total));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx count = object(first + i, items), at = i * d;
        if (objs->start) {
            at = objs->start[i];
            objs->start[i + 1] = at + count;
        }
        for (dkm_idx k = 0; k < count; k++) {
            if (objs->values)
                objs->values[at + k] = (double)items[k];
            if (objs->col)
                objs->col[at + k] = items[k];
            if (objs->bytes)
                objs->bytes[at + k] = (char)items[k];
        }
    }
out:
    return local;
}

static dkm_status make(dkm_ctx *ctx, dkm_type type, dkm_idx m, describe object, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, make_slab(ctx, type, m, object, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

/* Score objects made by two descriptions. */
static dkm_status score(dkm_ctx *ctx, dkm_type type, dkm_idx m, describe y, describe p,
                        dkm_loss loss, dkm_score *out)
{
    dkm_status status = DKM_OK;
    dkm_data *truth = NULL, *pred = NULL;

    DKM_TRY(make(ctx, type, m, y, &truth));
    DKM_TRY(make(ctx, type, m, p, &pred));
    DKM_TRY(dkm_score_predictions(truth, pred, loss, NULL, out));
out:
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    return status;
}

static dkm_idx text(const char *letters, dkm_idx items[64])
{
    dkm_idx n = (dkm_idx)strlen(letters);

    for (dkm_idx k = 0; k < n; k++)
        items[k] = letters[k];
    return n;
}

static dkm_idx counting(dkm_idx g, dkm_idx items[64])
{
    items[0] = g;
    items[1] = -g;
    return 2;
}

/* Off by 3 in the first column of every second row. */
static dkm_idx counting_amiss(dkm_idx g, dkm_idx items[64])
{
    items[0] = g + (g % 2 ? 3 : 0);
    items[1] = -g;
    return 2;
}

static void squares_have_their_closed_forms(dkm_ctx *ctx)
{
    enum { M = 10 };
    dkm_score s = {0};
    double spread = 2.0 * (M * M - 1) / 12.0; /* of both columns, a row */

    CHECK_OK(ctx, score(ctx, DKM_DENSE, M, counting, counting_amiss, DKM_LOSS_MSE, &s));
    CHECK(s.rows == M && s.extras == 2);
    CHECK_CLOSE(s.mean, 9.0 / 4, 1e-14);
    /* losses are 0 and 9/2, half of each: variance (9/4)^2 M / (M - 1) */
    CHECK_CLOSE(s.stderror, 9.0 / 4 / sqrt(M - 1), 1e-14);
    CHECK(strcmp(s.extra[0].name, "rmse") == 0 && strcmp(s.extra[1].name, "r2") == 0);
    CHECK_CLOSE(s.extra[0].value, 1.5, 1e-14);
    CHECK_CLOSE(s.extra[1].value, 1.0 - 4.5 / spread, 1e-13);
}

static dkm_idx constant(dkm_idx g, dkm_idx items[64])
{
    (void)g;
    items[0] = 7;
    return 1;
}

static void a_truth_that_does_not_vary_has_no_r2(dkm_ctx *ctx)
{
    dkm_score s = {0};

    CHECK_OK(ctx, score(ctx, DKM_DENSE, 5, constant, constant, DKM_LOSS_MSE, &s));
    CHECK(s.mean == 0.0 && s.extras == 1);
    CHECK_OK(ctx, score(ctx, DKM_DENSE, 1, constant, constant, DKM_LOSS_MSE, &s));
    CHECK(s.rows == 1 && s.mean == 0.0 && s.stderror == 0.0);
}

static void zero_one_counts_rows_that_differ(dkm_ctx *ctx)
{
    dkm_score s = {0};

    CHECK_OK(ctx, score(ctx, DKM_DENSE, 10, counting, counting_amiss, DKM_LOSS_ZERO_ONE, &s));
    CHECK_CLOSE(s.mean, 0.5, 1e-15);
    CHECK_OK(ctx, score(ctx, DKM_DENSE, 10, counting, counting_amiss, DKM_LOSS_HAMMING, &s));
    CHECK_CLOSE(s.mean, 0.25, 1e-15);
    CHECK_OK(ctx, score(ctx, DKM_LABELS, 5, constant, constant, DKM_LOSS_ZERO_ONE, &s));
    CHECK(s.mean == 0.0);
}

static const char *const words[] = {"kitten", "", "abc", "flaw", "same", "xx"};
static const char *const typed[] = {"sitting", "ab", "", "lawn", "same", "y"};
static const double edits[] = {3, 2, 3, 2, 0, 2}; /* by hand */

static dkm_idx word(dkm_idx g, dkm_idx items[64])
{
    return text(words[g % 6], items);
}

static dkm_idx misspelt(dkm_idx g, dkm_idx items[64])
{
    return text(typed[g % 6], items);
}

static void edit_distances_are_the_known_ones(dkm_ctx *ctx)
{
    dkm_score s = {0};
    double mean = 0, relative = 0;

    for (int k = 0; k < 6; k++) {
        double length = (double)strlen(words[k]);
        mean += edits[k] / 6;
        relative += edits[k] / (length > 1 ? length : 1) / 6;
    }
    CHECK_OK(ctx, score(ctx, DKM_STRINGS, 12, word, misspelt, DKM_LOSS_EDIT, &s));
    CHECK_CLOSE(s.mean, mean, 1e-14);
    CHECK(s.extras == 1);
    CHECK_CLOSE(s.extra[0].value, relative, 1e-14);
    CHECK_OK(ctx, score(ctx, DKM_STRINGS, 12, misspelt, word, DKM_LOSS_EDIT, &s));
    CHECK_CLOSE(s.mean, mean, 1e-14);
    CHECK_OK(ctx, score(ctx, DKM_STRINGS, 6, word, misspelt, DKM_LOSS_ZERO_ONE, &s));
    CHECK_CLOSE(s.mean, 5.0 / 6, 1e-15);
}

static dkm_idx four(dkm_idx g, dkm_idx items[64])
{
    return text(g == 3 ? "abcd" : "abba", items);
}

static dkm_idx another_four(dkm_idx g, dkm_idx items[64])
{
    return text(g == 3 ? "abca" : "abab", items);
}

static void letters_are_compared_in_strings_of_one_length(dkm_ctx *ctx)
{
    dkm_score s = {0};

    CHECK_OK(ctx, score(ctx, DKM_STRINGS, 4, four, another_four, DKM_LOSS_HAMMING, &s));
    CHECK_CLOSE(s.mean, (3 * 0.5 + 0.25) / 4, 1e-15);
    CHECK(score(ctx, DKM_STRINGS, 6, word, misspelt, DKM_LOSS_HAMMING, &s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "row 0") != NULL);
}

static dkm_idx set_of(dkm_idx g, dkm_idx items[64])
{
    items[0] = 1;
    items[1] = 5;
    items[2] = 100;
    return g % 2 ? 3 : 1;
}

/* {5, 7}: of {1, 5, 100} it misses two and adds one; of {1} it misses one and adds two. */
static dkm_idx other_set(dkm_idx g, dkm_idx items[64])
{
    (void)g;
    items[0] = 5;
    items[1] = 7;
    return 2;
}

static void label_sets_differ_out_of_all_labels(dkm_ctx *ctx)
{
    dkm_score s = {0};

    CHECK_OK(ctx, score(ctx, DKM_LABEL_SETS, 8, set_of, other_set, DKM_LOSS_HAMMING, &s));
    CHECK_CLOSE(s.mean, 3.0 / 4, 1e-15); /* the labels are 1, 5, 7 and 100 */
    CHECK_OK(ctx, score(ctx, DKM_LABEL_SETS, 8, set_of, set_of, DKM_LOSS_ZERO_ONE, &s));
    CHECK(s.mean == 0.0);
    CHECK_OK(ctx, score(ctx, DKM_LABEL_SETS, 8, set_of, other_set, DKM_LOSS_ZERO_ONE, &s));
    CHECK(s.mean == 1.0);
}

static void a_number_of_labels_can_be_given(dkm_ctx *ctx)
{
    const dkm_score_settings ten = {.loss = DKM_LOSS_HAMMING, .labels = 10};
    const dkm_score_settings two = {.loss = DKM_LOSS_HAMMING, .labels = 2};
    dkm_data *truth = NULL, *pred = NULL;
    dkm_score s = {0};
    dkm_idx count = 0;

    CHECK_OK(ctx, make(ctx, DKM_LABEL_SETS, 8, set_of, &truth));
    CHECK_OK(ctx, make(ctx, DKM_LABEL_SETS, 8, other_set, &pred));
    CHECK_OK(ctx, dkm_score_by(truth, pred, &ten, &s));
    CHECK_CLOSE(s.mean, 3.0 / 10, 1e-15);
    CHECK_OK(ctx, dkm_score_by(truth, pred, &two, &s)); /* four occur */
    CHECK_CLOSE(s.mean, 3.0 / 4, 1e-15);
    CHECK_OK(ctx, dkm_score_count_labels(truth, pred, &count));
    CHECK(count == 4);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
}

/* Of the rows (0, 7), (1, 8), (2, 7), (1, 8), (2, 7), (0, 9), (2, 9), ... (1, 8) comes first and is
 * as frequent as (2, 7); of the columns 2 and 7 are the most frequent. */
static dkm_idx pairs(dkm_idx g, dkm_idx items[64])
{
    static const dkm_idx rows[7][2] = {{0, 7}, {1, 8}, {2, 7}, {1, 8}, {2, 7}, {0, 9}, {2, 9}};

    items[0] = rows[g % 7][0];
    items[1] = rows[g % 7][1];
    return 2;
}

static void check_baseline(dkm_ctx *ctx, dkm_loss loss, double first, double second, double mean)
{
    dkm_data *truth = NULL, *pred = NULL;
    dkm_score s = {0};

    CHECK_OK(ctx, make(ctx, DKM_DENSE, 7, pairs, &truth));
    CHECK_OK(ctx, dkm_score_baseline_by(truth, loss, 0, &pred));
    for (dkm_idx i = 0; pred && i < pred->mine.n; i++) {
        CHECK_CLOSE(pred->mine.values[2 * i], first, 1e-15);
        CHECK_CLOSE(pred->mine.values[2 * i + 1], second, 1e-15);
    }
    CHECK_OK(ctx, dkm_score_predictions(truth, pred, loss, NULL, &s));
    CHECK_CLOSE(s.mean, mean, 1e-15);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
}

static void the_baseline_of_rows_goes_by_the_loss(dkm_ctx *ctx)
{
    check_baseline(ctx, DKM_LOSS_ZERO_ONE, 1, 8, 5.0 / 7);
    check_baseline(ctx, DKM_LOSS_HAMMING, 2, 7, 8.0 / 14);
}

static dkm_idx classes(dkm_idx g, dkm_idx items[64])
{
    items[0] = g < 4 ? -3 : g < 9 ? 12 : 5;
    return 1;
}

static void the_baseline_is_the_mean_or_the_commonest_label(dkm_ctx *ctx)
{
    dkm_data *truth = NULL, *pred = NULL;
    dkm_score s = {0};

    CHECK_OK(ctx, make(ctx, DKM_LABELS, 11, classes, &truth));
    CHECK_OK(ctx, dkm_score_baseline(truth, &pred));
    CHECK_OK(ctx, dkm_score_predictions(truth, pred, DKM_LOSS_ZERO_ONE, NULL, &s));
    CHECK_CLOSE(s.mean, 6.0 / 11, 1e-15);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    CHECK_OK(ctx, make(ctx, DKM_DENSE, 11, counting, &truth));
    CHECK_OK(ctx, dkm_score_baseline(truth, &pred));
    CHECK_OK(ctx, dkm_score_predictions(truth, pred, DKM_LOSS_MSE, NULL, &s));
    CHECK_CLOSE(s.mean, (11.0 * 11 - 1) / 12, 1e-13);
    CHECK_CLOSE(s.extra[1].value, 0.0, 1e-14);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
    CHECK_OK(ctx, make(ctx, DKM_STRINGS, 6, word, &truth));
    CHECK(dkm_score_baseline(truth, &pred) == DKM_ERR_UNSUPPORTED && !pred);
    dkm_data_destroy(&truth);
}

static void what_cannot_be_compared_is_refused(dkm_ctx *ctx)
{
    dkm_data *a = NULL, *b = NULL, *strings = NULL, *empty = NULL;
    dkm_score s;

    CHECK_OK(ctx, make(ctx, DKM_DENSE, 10, counting, &a));
    CHECK_OK(ctx, make(ctx, DKM_DENSE, 9, counting, &b));
    CHECK(dkm_score_predictions(a, b, DKM_LOSS_MSE, NULL, &s) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "10") && strstr(dkm_ctx_message(ctx), "9"));
    dkm_data_destroy(&b);
    CHECK_OK(ctx, make(ctx, DKM_DENSE, 10, constant, &b));
    CHECK(dkm_score_predictions(a, b, DKM_LOSS_MSE, NULL, &s) == DKM_ERR_ARG);
    CHECK_OK(ctx, make(ctx, DKM_STRINGS, 10, word, &strings));
    CHECK(dkm_score_predictions(a, strings, DKM_LOSS_MSE, NULL, &s) == DKM_ERR_UNSUPPORTED);
    CHECK(dkm_score_predictions(strings, strings, DKM_LOSS_MSE, NULL, &s) == DKM_ERR_UNSUPPORTED);
    CHECK(dkm_score_predictions(a, a, DKM_LOSS_EDIT, NULL, &s) == DKM_ERR_UNSUPPORTED);
    CHECK_OK(ctx, make(ctx, DKM_DENSE, 0, counting, &empty));
    CHECK(dkm_score_predictions(empty, empty, DKM_LOSS_MSE, NULL, &s) == DKM_ERR_ARG);
    dkm_data_destroy(&empty);
    dkm_data_destroy(&strings);
    dkm_data_destroy(&b);
    dkm_data_destroy(&a);
}

static void a_kernel_loss_is_a_distance_in_feature_space(dkm_ctx *ctx)
{
    dkm_data *truth = NULL, *pred = NULL;
    dkm_kernel *ky = NULL;
    dkm_score s = {0};

    CHECK_OK(ctx, make(ctx, DKM_DENSE, 10, counting, &truth));
    CHECK_OK(ctx, make(ctx, DKM_DENSE, 10, counting_amiss, &pred));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &ky));
    CHECK_OK(ctx, dkm_score_predictions(truth, pred, DKM_LOSS_KERNEL, ky, &s));
    CHECK_CLOSE(s.mean, 4.5, 1e-12);
    CHECK_CLOSE(s.extra[0].value, sqrt(4.5), 1e-12);
    dkm_kernel_destroy(&ky);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1)", &ky));
    CHECK_OK(ctx, dkm_score_predictions(truth, pred, DKM_LOSS_KERNEL, ky, &s));
    CHECK_CLOSE(s.mean, 0.5 * (2 - 2 * exp(-4.5)), 1e-13);
    CHECK(dkm_score_predictions(truth, pred, DKM_LOSS_KERNEL, NULL, &s) == DKM_ERR_ARG);
    dkm_kernel_destroy(&ky);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&truth);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_data *labels = NULL, *pred = NULL, *dense = NULL;
    dkm_kernel *ky = NULL;
    dkm_score s;

    DKM_TRY(score(ctx, DKM_DENSE, 7, counting, counting_amiss, DKM_LOSS_MSE, &s));
    DKM_TRY(score(ctx, DKM_STRINGS, 7, word, misspelt, DKM_LOSS_EDIT, &s));
    DKM_TRY(score(ctx, DKM_LABEL_SETS, 7, set_of, other_set, DKM_LOSS_HAMMING, &s));
    DKM_TRY(make(ctx, DKM_LABELS, 7, classes, &labels));
    DKM_TRY(dkm_score_baseline(labels, &pred));
    DKM_TRY(make(ctx, DKM_DENSE, 7, counting, &dense));
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1)", &ky));
    DKM_TRY(dkm_score_predictions(dense, dense, DKM_LOSS_KERNEL, ky, &s));
out:
    dkm_kernel_destroy(&ky);
    dkm_data_destroy(&dense);
    dkm_data_destroy(&pred);
    dkm_data_destroy(&labels);
    return status;
}

static void every_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, attempt);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(squares_have_their_closed_forms),
    CASE(a_truth_that_does_not_vary_has_no_r2),
    CASE(zero_one_counts_rows_that_differ),
    CASE(edit_distances_are_the_known_ones),
    CASE(letters_are_compared_in_strings_of_one_length),
    CASE(label_sets_differ_out_of_all_labels),
    CASE(a_number_of_labels_can_be_given),
    CASE(the_baseline_of_rows_goes_by_the_loss),
    CASE(the_baseline_is_the_mean_or_the_commonest_label),
    CASE(a_kernel_loss_is_a_distance_in_feature_space),
    CASE(what_cannot_be_compared_is_refused),
    CASE(every_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
