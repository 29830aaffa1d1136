#include <dkmap/score.h>

#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/kernel_impl.h"
#include "selection/metrics/baseline.h"
#include "selection/metrics/distinct_labels.h"
#include "selection/metrics/score_inputs.h"
#include "selection/metrics/utf8.h"

const char *dkm_loss_name(dkm_loss loss)
{
#define LOSS_NAME(code, name) [code] = name,
    static const char *const names[] = {DKM_LOSS_LIST(LOSS_NAME)};
#undef LOSS_NAME

    return loss < DKM_LOSS_COUNT ? names[loss] : "unknown";
}

/* l(y, y) - 2 l(y, p) + l(p, p); rounding must not make a square negative. */
static dkm_status kernel_rows(const dkm_data *truth, const dkm_data *pred, const dkm_kernel *ky,
                              double *losses)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_prepared *Y = NULL, *P = NULL;
    dkm_idx n = truth->mine.n;
    double *diagonal = NULL;

    if (dkm_kernel_has_better_distances(ky)) {
        DKM_TRY(dkm_kernel_clone(truth->ctx, ky, &kernel));
        dkm_kernel_use_distances(kernel);
    }
    DKM_TRY(dkm_kernel_prepare(kernel ? kernel : ky, truth, &Y));
    DKM_TRY(dkm_kernel_prepare_new(Y, pred, &P));
    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, 2 * n, &diagonal));
    DKM_TRY(dkm_kernel_diagonal(Y, diagonal));
    DKM_TRY(dkm_kernel_diagonal(P, diagonal + n));
    DKM_TRY(dkm_kernel_elementwise(P, Y, losses));
    for (dkm_idx i = 0; i < n; i++)
        losses[i] = fmax(0.0, diagonal[i] - 2.0 * losses[i] + diagonal[n + i]);
out:
    DKM_FREE(diagonal);
    dkm_prepared_destroy(&P);
    dkm_prepared_destroy(&Y);
    dkm_kernel_destroy(&kernel);
    return status;
}

/* Collective: whether all numbers of a dense column are integers. */
static int is_integer_column(const dkm_data *data)
{
    int integer = data->mine.type == DKM_DENSE && data->mine.d == 1, all = 0;

    for (dkm_idx i = 0; integer && i < data->mine.n; i++)
        integer = data->mine.values[i] == rint(data->mine.values[i]);
    MPI_Allreduce(&integer, &all, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(data->ctx));
    return all;
}

dkm_status dkm_score_distinct_labels(const dkm_data *data, dkm_idx *count, dkm_idx **labels)
{
    dkm_status status = DKM_OK;
    dkm_type type = data->mine.type;
    dkm_distinct distinct = {0};
    dkm_data *sets = NULL;

    *count = 0;
    *labels = NULL;
    if (type != DKM_LABELS && type != DKM_LABEL_SETS && !is_integer_column(data))
        return DKM_OK;
    DKM_TRY(dkm_label_sets_of(data, &sets));
    DKM_TRY(dkm_distinct_labels(sets, NULL, &distinct));
    *count = distinct.count;
    *labels = distinct.numbers;
    distinct.numbers = NULL;
out:
    dkm_distinct_clear(&distinct);
    dkm_data_destroy(&sets);
    return status;
}

void dkm_score_labels_free(dkm_idx **labels)
{
    DKM_FREE(*labels);
}

dkm_status dkm_score_count_labels(const dkm_data *truth, const dkm_data *more, dkm_idx *count)
{
    dkm_status status = DKM_OK;
    dkm_distinct labels = {0};

    *count = 0;
    if (truth->mine.type != DKM_LABEL_SETS)
        return DKM_OK;
    DKM_TRY(dkm_distinct_labels(truth, more, &labels));
    *count = labels.count;
out:
    dkm_distinct_clear(&labels);
    return status;
}

static double mean_of_columns(dkm_idx count, const double *values)
{
    double sum = 0, defined = 0;

    for (dkm_idx j = 0; j < count; j++)
        if (!isnan(values[j])) {
            sum += values[j];
            defined++;
        }
    return defined > 0 ? sum / defined : NAN;
}

/* The value of a loss that is not a mean over rows. Collective. */
static dkm_status score_all_rows(const dkm_score_inputs *in, const dkm_score_settings *settings,
                                 double *value)
{
    dkm_status status = DKM_OK;
    const dkm_loss_class *class = dkm_loss_class_at(settings->loss);
    dkm_label_counts counts = {0};
    double *values = NULL;
    dkm_idx count = 0;

    if (class->column) {
        DKM_TRY(dkm_loss_columns(in->truth, in->pred, settings->loss, &count, &values));
        *value = mean_of_columns(count, values);
        DKM_REQUIRE(in->truth->ctx, !isnan(*value), DKM_ERR_ARG,
                    "%s has no value where all of the truth is equal",
                    dkm_loss_name(settings->loss));
    } else if (class->counts) {
        DKM_TRY(dkm_label_counts_make(in->truth, in->pred, in->classes, settings->labels, &counts));
        *value = class->counts(&counts);
    } else {
        DKM_TRY(class->total(in->truth, in->pred, value));
    }
out:
    DKM_FREE(values);
    dkm_label_counts_clear(&counts);
    return status;
}

/* The loss of each row; one that is not a mean over rows has its value in all of them. */
static dkm_status score_rows(const dkm_score_inputs *in, const dkm_score_settings *settings,
                             double *losses)
{
    dkm_status status = DKM_OK;
    dkm_loss loss = settings->loss;
    dkm_idx labels = 0;
    double value = 0;

    if (loss == DKM_LOSS_KERNEL)
        return kernel_rows(in->truth, in->pred, settings->ky, losses);
    if (!dkm_loss_class_at(loss)->rows) {
        DKM_TRY(score_all_rows(in, settings, &value));
        for (dkm_idx i = 0; i < in->truth->mine.n; i++)
            losses[i] = value;
        return DKM_OK;
    }
    if (loss == DKM_LOSS_HAMMING)
        DKM_TRY(dkm_score_count_labels(in->truth, in->pred, &labels));
    labels = labels > settings->labels ? labels : settings->labels;
    DKM_AGREE(in->truth->ctx, dkm_loss_rows(in->truth, in->pred, loss, labels, losses));
out:
    return status;
}

dkm_status dkm_score_rows_by(const dkm_data *truth, const dkm_data *pred,
                             const dkm_score_settings *settings, double *losses)
{
    dkm_status status = DKM_OK;
    dkm_score_inputs in = {0};

    DKM_TRY(dkm_score_inputs_make(truth, pred, settings, &in));
    DKM_TRY(score_rows(&in, settings, losses));
out:
    dkm_score_inputs_clear(&in);
    return status;
}

dkm_status dkm_score_columns(const dkm_data *truth, const dkm_data *pred,
                             const dkm_score_settings *settings, dkm_idx *count, double **values)
{
    dkm_status status = DKM_OK;
    dkm_score_inputs in = {0};

    *count = 0;
    *values = NULL;
    if (settings->loss >= DKM_LOSS_COUNT || !dkm_loss_class_at(settings->loss)->column)
        return DKM_OK;
    DKM_TRY(dkm_score_inputs_make(truth, pred, settings, &in));
    DKM_TRY(dkm_loss_columns(in.truth, in.pred, settings->loss, count, values));
out:
    dkm_score_inputs_clear(&in);
    return status;
}

void dkm_score_values_free(double **values)
{
    DKM_FREE(*values);
}

dkm_loss dkm_loss_default(dkm_type type)
{
    return type == DKM_DENSE        ? DKM_LOSS_MSE
           : type == DKM_LABELS     ? DKM_LOSS_ACCURACY
           : type == DKM_LABEL_SETS ? DKM_LOSS_F1_EXAMPLES
           : type == DKM_STRINGS    ? DKM_LOSS_EDIT
                                    : DKM_LOSS_ZERO_ONE;
}

dkm_status dkm_score_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                          const dkm_kernel *ky, double *losses)
{
    return dkm_score_rows_by(truth, pred, &(dkm_score_settings){.loss = loss, .ky = ky}, losses);
}

static double score_sum_over_ranks(dkm_ctx *ctx, double mine)
{
    double sum = 0.0;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    return sum;
}

/* Mean, and the square root of the unbiased variance over the number of rows; of rows with weights
 * w, sum w e / sum w and its standard error sqrt(m / (m - 1) sum (w (e - mean))^2) / sum w. */
static void score_summarise(const dkm_data *truth, const double *losses, const dkm_data *weights,
                            dkm_score *score)
{
    const double *w = weights ? weights->mine.values : NULL;
    dkm_idx n = truth->mine.n;
    double m = (double)truth->m, sum = 0.0, squares = 0.0, total = 0.0;

    for (dkm_idx i = 0; i < n; i++) {
        sum += (w ? w[i] : 1.0) * losses[i];
        total += w ? w[i] : 1.0;
    }
    total = score_sum_over_ranks(truth->ctx, total);
    score->rows = truth->m;
    score->mean = score_sum_over_ranks(truth->ctx, sum) / total;
    for (dkm_idx i = 0; i < n; i++) {
        double off = (w ? w[i] : 1.0) * (losses[i] - score->mean);
        squares += off * off;
    }
    squares = score_sum_over_ranks(truth->ctx, squares);
    score->stderror = m > 1 ? sqrt(squares * m / (m - 1)) / total : 0.0;
}

static dkm_status check_weights(const dkm_data *truth, const dkm_score_settings *settings)
{
    dkm_status status = DKM_OK;

    if (!settings->weights)
        return DKM_OK;
    DKM_REQUIRE(truth->ctx, dkm_loss_is_mean(settings->loss), DKM_ERR_UNSUPPORTED,
                "the loss %s is not a mean over rows: it takes no weights",
                dkm_loss_name(settings->loss));
    DKM_REQUIRE(truth->ctx, settings->weights->m == truth->m && settings->weights->mine.d == 1,
                DKM_ERR_ARG, "%lld weights of %lld rows: they must match",
                (long long)settings->weights->m, (long long)truth->m);
out:
    return status;
}

static void score_add_extra(dkm_score *score, const char *name, double value)
{
    score->extra[score->extras].name = name;
    score->extra[score->extras++].value = value;
}

/* r2 has no meaning when the truth does not vary: it is left out then. */
static dkm_status add_r2(const dkm_data *truth, dkm_score *score)
{
    const dkm_objs *y = &truth->mine;
    dkm_status status = DKM_OK;
    double *means = NULL, spread = 0.0;

    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, y->d, &means));
    DKM_TRY(dkm_column_means(truth, means));
    for (dkm_idx i = 0; i < y->n; i++)
        for (dkm_idx j = 0; j < y->d; j++) {
            double gap = y->values[i * y->d + j] - means[j];
            spread += gap * gap;
        }
    spread = score_sum_over_ranks(truth->ctx, spread);
    if (spread > 0.0)
        score_add_extra(score, "r2", 1.0 - score->mean * (double)truth->m * (double)y->d / spread);
out:
    DKM_FREE(means);
    return status;
}

static void add_normalized_edit(const dkm_data *truth, const double *losses, dkm_score *score)
{
    const dkm_objs *y = &truth->mine;
    double sum = 0.0;

    for (dkm_idx i = 0; i < y->n; i++) {
        dkm_idx length =
            dkm_utf8_decode(y->bytes + y->start[i], y->start[i + 1] - y->start[i], NULL);
        sum += losses[i] / fmax(1.0, (double)length);
    }
    score_add_extra(score, "normalised", score_sum_over_ranks(truth->ctx, sum) / (double)truth->m);
}

/* The mean of the roots of all rows, which is not the root of their mean. */
static void add_roots(const dkm_data *truth, const double *losses, dkm_score *score)
{
    double sum = 0.0;

    for (dkm_idx i = 0; i < truth->mine.n; i++)
        sum += sqrt(losses[i]);
    score_add_extra(score, "root", sqrt(score->mean));
    score_add_extra(score, "mean_root", score_sum_over_ranks(truth->ctx, sum) / (double)truth->m);
}

static void add_missed(const dkm_data *truth, const dkm_data *pred, const double *losses,
                       dkm_score *score)
{
    double missed = 0.0;

    for (dkm_idx i = 0; i < truth->mine.n; i++)
        missed += losses[i] > (double)(pred->mine.d / 2);
    score_add_extra(score, "missed", score_sum_over_ranks(truth->ctx, missed) / (double)truth->m);
}

static double count_words(const dkm_objs *p)
{
    double words = 0.0;

    for (dkm_idx i = 0; i < p->n; i++) {
        words += p->start[i + 1] > p->start[i];
        for (dkm_idx k = p->start[i]; k < p->start[i + 1]; k++)
            words += p->bytes[k] == ' ';
    }
    return words;
}

/* How large prediction sets are: the mean width of intervals, or number of elements. */
static void add_size(const dkm_data *truth, const dkm_data *pred, dkm_score *score)
{
    const dkm_objs *p = &pred->mine;
    dkm_idx d = truth->mine.d;
    double sum = 0.0;

    if (p->type != DKM_DENSE) {
        sum = p->n > 0 ? (double)(p->start[p->n] - p->start[0]) : 0.0;
        if (p->type == DKM_SETS)
            sum = count_words(p);
        sum = score_sum_over_ranks(truth->ctx, sum) / (double)truth->m;
        score_add_extra(score, "set_size", sum);
        return;
    }
    for (dkm_idx k = 0; k < p->n * d; k++)
        sum += p->values[k / d * p->d + d + k % d] - p->values[k / d * p->d + k % d];
    sum = score_sum_over_ranks(truth->ctx, sum) / ((double)truth->m * (double)d);
    score_add_extra(score, "width", sum);
}

/* Predictions of a regression are hardly ever equal to the truth, to the last bit. */
static void warn_of_fractions(const dkm_data *truth, const dkm_data *pred, double mean)
{
    double fractions = 0.0;

    if (truth->mine.type != DKM_DENSE || mean < 1.0)
        return;
    for (dkm_idx k = 0; k < pred->mine.n * pred->mine.d; k++)
        fractions += pred->mine.values[k] != rint(pred->mine.values[k]);
    if (score_sum_over_ranks(truth->ctx, fractions) > 0)
        dkm_log(truth->ctx, DKM_WARN,
                "zero-one compares numbers as they are, and no row is equal: are these predictions "
                "of real numbers? Predict labels, or score by mse");
}

dkm_status dkm_score_by(const dkm_data *truth, const dkm_data *pred,
                        const dkm_score_settings *settings, dkm_score *score)
{
    dkm_status status = DKM_OK;
    dkm_loss loss = settings->loss;
    double *losses = NULL;

    *score = (dkm_score){0};
    DKM_TRY(check_weights(truth, settings));
    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, truth->mine.n, &losses));
    DKM_TRY(dkm_score_rows_by(truth, pred, settings, losses));
    score_summarise(truth, losses, settings->weights, score);
    if (settings->weights)
        goto out; /* what comes beside the mean is not weighted */
    if (loss != DKM_LOSS_KERNEL && !dkm_loss_class_at(loss)->rows)
        score->stderror = NAN;
    if (loss == DKM_LOSS_MSE) {
        score_add_extra(score, "rmse", sqrt(score->mean));
        DKM_TRY(add_r2(truth, score));
    } else if (loss == DKM_LOSS_ZERO_ONE) {
        warn_of_fractions(truth, pred, score->mean);
    } else if (loss == DKM_LOSS_EDIT) {
        add_normalized_edit(truth, losses, score);
    } else if (loss == DKM_LOSS_KERNEL) {
        add_roots(truth, losses, score);
    } else if (loss == DKM_LOSS_RANK) {
        add_missed(truth, pred, losses, score);
    } else if (loss == DKM_LOSS_COVERAGE) {
        add_size(truth, pred, score);
    }
out:
    DKM_FREE(losses);
    return status;
}

dkm_status dkm_score_predictions(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                 const dkm_kernel *ky, dkm_score *score)
{
    return dkm_score_by(truth, pred, &(dkm_score_settings){.loss = loss, .ky = ky}, score);
}
