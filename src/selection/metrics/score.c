#include <dkmap/score.h>

#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "kernels/evaluation/kernel_impl.h"
#include "selection/metrics/baseline.h"
#include "selection/metrics/distinct_labels.h"
#include "selection/metrics/losses.h"

const char *dkm_loss_name(dkm_loss loss)
{
#define LOSS_NAME(code, name) [code] = name,
    static const char *const names[] = {DKM_LOSS_LIST(LOSS_NAME)};
#undef LOSS_NAME

    return loss < DKM_LOSS_COUNT ? names[loss] : "unknown";
}

static dkm_local score_check_lists(const dkm_data *truth, const dkm_data *pred)
{
    if (truth->mine.type == DKM_LABELS && pred->mine.type == DKM_DENSE && pred->mine.d > 0 &&
        pred->mine.d % 2 == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                    "the loss rank takes labels (numbers of candidates) and lists of index, "
                    "distance, ..., as predict --top writes them; these are %s and %s of %lld "
                    "columns",
                    dkm_type_name(truth->mine.type), dkm_type_name(pred->mine.type),
                    (long long)pred->mine.d);
}

static dkm_local score_check_pair(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                  const dkm_kernel *ky)
{
    dkm_type type = truth->mine.type;

    if (loss == DKM_LOSS_KERNEL && !ky)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "the loss kernel needs a kernel of the outputs");

    if (truth->m != pred->m)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "%lld rows of truth but %lld predictions",
                        (long long)truth->m, (long long)pred->m);
    if (truth->m == 0)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "no rows: there is nothing to score");
    if (loss == DKM_LOSS_RANK)
        return score_check_lists(truth, pred);
    if (type != pred->mine.type)
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED,
                        "the truth is %s but the predictions are %s", dkm_type_name(type),
                        dkm_type_name(pred->mine.type));
    if (loss >= DKM_LOSS_COUNT || !dkm_loss_fits(loss, type))
        return dkm_fail(truth->ctx, DKM_ERR_UNSUPPORTED, "the loss %s is not one for %s",
                        dkm_loss_name(loss), dkm_type_name(type));
    if (type == DKM_DENSE && truth->mine.d != pred->mine.d)
        return dkm_fail(truth->ctx, DKM_ERR_ARG, "%lld columns of truth but %lld of predictions",
                        (long long)truth->mine.d, (long long)pred->mine.d);
    return DKM_LOCAL_OK;
}

/* l(y, y) - 2 l(y, p) + l(p, p); rounding must not make a square negative. */
static dkm_status kernel_rows(const dkm_data *truth, const dkm_data *pred, const dkm_kernel *ky,
                              double *losses)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_prepared *Y = NULL, *P = NULL;
    dkm_idx n = truth->mine.n;
    double *selves = NULL;

    if (dkm_kernel_has_better_distances(ky)) {
        DKM_TRY(dkm_kernel_clone(truth->ctx, ky, &kernel));
        dkm_kernel_use_distances(kernel);
    }
    DKM_TRY(dkm_kernel_prepare(kernel ? kernel : ky, truth, &Y));
    DKM_TRY(dkm_kernel_prepare_new(Y, pred, &P));
    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, 2 * n, &selves));
    DKM_TRY(dkm_kernel_diagonal(Y, selves));
    DKM_TRY(dkm_kernel_diagonal(P, selves + n));
    DKM_TRY(dkm_kernel_elementwise(P, Y, losses));
    for (dkm_idx i = 0; i < n; i++)
        losses[i] = fmax(0.0, selves[i] - 2.0 * losses[i] + selves[n + i]);
out:
    DKM_FREE(selves);
    dkm_prepared_destroy(&P);
    dkm_prepared_destroy(&Y);
    dkm_kernel_destroy(&kernel);
    return status;
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

dkm_status dkm_score_rows_by(const dkm_data *truth, const dkm_data *pred,
                             const dkm_score_settings *settings, double *losses)
{
    dkm_status status = DKM_OK;
    dkm_loss loss = settings->loss;
    dkm_idx labels = 0;

    DKM_AGREE(truth->ctx, score_check_pair(truth, pred, loss, settings->ky));
    if (loss == DKM_LOSS_KERNEL)
        return kernel_rows(truth, pred, settings->ky, losses);
    if (loss == DKM_LOSS_HAMMING)
        DKM_TRY(dkm_score_count_labels(truth, pred, &labels));
    labels = labels > settings->labels ? labels : settings->labels;
    DKM_AGREE(truth->ctx, dkm_loss_rows(truth, pred, loss, labels, losses));
out:
    return status;
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

/* Mean, and the square root of the unbiased variance over the number of rows. */
static void score_summarise(dkm_ctx *ctx, const double *losses, dkm_idx n, dkm_idx m,
                            dkm_score *score)
{
    double sum = 0.0, squares = 0.0;

    for (dkm_idx i = 0; i < n; i++)
        sum += losses[i];
    score->rows = m;
    score->mean = score_sum_over_ranks(ctx, sum) / (double)m;
    for (dkm_idx i = 0; i < n; i++)
        squares += (losses[i] - score->mean) * (losses[i] - score->mean);
    squares = score_sum_over_ranks(ctx, squares);
    score->stderror = m > 1 ? sqrt(squares / (double)(m - 1) / (double)m) : 0.0;
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

static void add_normalised_edit(const dkm_data *truth, const double *losses, dkm_score *score)
{
    const dkm_idx *start = truth->mine.start;
    double sum = 0.0;

    for (dkm_idx i = 0; i < truth->mine.n; i++)
        sum += losses[i] / fmax(1.0, (double)(start[i + 1] - start[i]));
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
    DKM_AGREE(truth->ctx, dkm_alloc(truth->ctx, truth->mine.n, &losses));
    DKM_TRY(dkm_score_rows_by(truth, pred, settings, losses));
    score_summarise(truth->ctx, losses, truth->mine.n, truth->m, score);
    if (loss == DKM_LOSS_MSE) {
        score_add_extra(score, "rmse", sqrt(score->mean));
        DKM_TRY(add_r2(truth, score));
    } else if (loss == DKM_LOSS_ZERO_ONE) {
        warn_of_fractions(truth, pred, score->mean);
    } else if (loss == DKM_LOSS_EDIT) {
        add_normalised_edit(truth, losses, score);
    } else if (loss == DKM_LOSS_KERNEL) {
        add_roots(truth, losses, score);
    } else if (loss == DKM_LOSS_RANK) {
        add_missed(truth, pred, losses, score);
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
