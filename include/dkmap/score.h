/** @file score.h  How far predictions are from the truth.
 *
 *  Most losses are a number per row, and a score their mean with its standard error. Measures of
 *  which more is better are called losses here as well.
 *
 *    mse       (1/d) sum_j (y_j - p_j)^2 of dense rows. Beside the mean: its root, and
 *              r2 = 1 - sum ||y - p||^2 / sum ||y - mean(y)||^2 over all rows and columns
 *    zero-one  1 where the prediction differs at all, else 0. Dense rows, labels, label sets,
 *              strings and sets
 *    hamming   share that differs: of the columns of dense rows; of the bytes of strings, which
 *              must be of equal length; of label sets |Y xor P| / L, where L is how many labels
 *              there are: as many as dkm_score_settings says, and at least those that occur in the
 *              truth or the predictions; labels as zero-one
 *    edit      least number of characters (of UTF-8) inserted, deleted or changed to make the
 *              prediction the true string. Beside the mean: the mean of edit / max(1, length of the true string)
 *    kernel    ||Phi(y) - Phi(p)||^2 = l(y, y) - 2 l(y, p) + l(p, p) in the space of a kernel l on
 *              outputs of any type it is for. Beside the mean: its root, and the mean of the
 *              roots of all rows
 *    rank      place of the true candidate in a list of candidates, 1 for the first: half way
 *              between the places of those as near as it is. The truth is labels, the number of a
 *              candidate each; predictions are dense rows of index, distance, index, distance, ...
 *              best first, or of index and score. A candidate that is not in a list of N has the
 *              place N + 1. Beside the mean: the share of those
 *    mrr       the mean reciprocal rank, of such lists; 0 for a candidate that is not in its list
 *    mae, median, r2, spearman  of dense rows: mean absolute error; median absolute error; explained
 *              variance; correlation of ranks. The last three are means over the columns
 *    accuracy  1 - zero-one
 *    balanced-accuracy  mean recall of the classes that occur in the truth
 *    precision, recall, f1  of two classes, for the greater one; of more classes and of label sets,
 *              over all labels together. -macro: the mean over the labels. -examples: the mean over
 *              the rows
 *    auc, average-precision  of scores: dense rows with one column per class or label (the labels
 *              are the numbers of the columns, or else as many as there are columns, in ascending
 *              order), or one column for the greater of two classes. The mean over the columns
 *    top-1, top-3, top-5, top-10  of scores: 1 where the true class is among the k greatest
 *    nll       of scores that are probabilities: -log of that of the true class
 *    gaussian-nll  of numbers and predicted normal distributions, rows of all means and then all
 *              standard deviations: -log of the density of the truth, the mean over the columns
 *    calibration  of the same: the mean of |q - share of the truth in the central interval of
 *              probability q| over q = 0.05, ..., 0.95
 *    coverage  of prediction sets: the share of the truth in them. Numbers have rows of all lower
 *              and then all upper ends, each column counted by itself; labels have label sets.
 *              Beside the mean: the mean width of intervals, or number of elements
 *    bleu, chrf  of strings: common n-grams of words, of all rows together; F score of common
 *              n-grams of characters
 */
#ifndef DKMAP_SCORE_H
#define DKMAP_SCORE_H

#include <dkmap/data.h>
#include <dkmap/kernel.h>

DKM_API_BEGIN

/** Every loss with the name users type. */
#define DKM_LOSS_LIST(X)                                                                           \
    X(DKM_LOSS_MSE, "mse")                                                                         \
    X(DKM_LOSS_ZERO_ONE, "zero-one")                                                               \
    X(DKM_LOSS_HAMMING, "hamming")                                                                 \
    X(DKM_LOSS_EDIT, "edit")                                                                       \
    X(DKM_LOSS_KERNEL, "kernel")                                                                   \
    X(DKM_LOSS_RANK, "rank")                                                                       \
    X(DKM_LOSS_MRR, "mrr")                                                                         \
    X(DKM_LOSS_MAE, "mae")                                                                         \
    X(DKM_LOSS_MEDIAN, "median")                                                                   \
    X(DKM_LOSS_R2, "r2")                                                                           \
    X(DKM_LOSS_SPEARMAN, "spearman")                                                               \
    X(DKM_LOSS_ACCURACY, "accuracy")                                                               \
    X(DKM_LOSS_BALANCED_ACCURACY, "balanced-accuracy")                                             \
    X(DKM_LOSS_PRECISION, "precision")                                                             \
    X(DKM_LOSS_PRECISION_MACRO, "precision-macro")                                                 \
    X(DKM_LOSS_PRECISION_EXAMPLES, "precision-examples")                                           \
    X(DKM_LOSS_RECALL, "recall")                                                                   \
    X(DKM_LOSS_RECALL_MACRO, "recall-macro")                                                       \
    X(DKM_LOSS_RECALL_EXAMPLES, "recall-examples")                                                 \
    X(DKM_LOSS_F1, "f1")                                                                           \
    X(DKM_LOSS_F1_MACRO, "f1-macro")                                                               \
    X(DKM_LOSS_F1_EXAMPLES, "f1-examples")                                                         \
    X(DKM_LOSS_AUC, "auc")                                                                         \
    X(DKM_LOSS_AVERAGE_PRECISION, "average-precision")                                             \
    X(DKM_LOSS_TOP_1, "top-1")                                                                     \
    X(DKM_LOSS_TOP_3, "top-3")                                                                     \
    X(DKM_LOSS_TOP_5, "top-5")                                                                     \
    X(DKM_LOSS_TOP_10, "top-10")                                                                   \
    X(DKM_LOSS_NLL, "nll")                                                                         \
    X(DKM_LOSS_BLEU, "bleu")                                                                       \
    X(DKM_LOSS_CHRF, "chrf")                                                                       \
    X(DKM_LOSS_GAUSSIAN_NLL, "gaussian-nll")                                                       \
    X(DKM_LOSS_CALIBRATION, "calibration")                                                         \
    X(DKM_LOSS_COVERAGE, "coverage")

#define DKM_LOSS_ENUM(code, name) code,
typedef enum dkm_loss { DKM_LOSS_LIST(DKM_LOSS_ENUM) DKM_LOSS_COUNT } dkm_loss;
#undef DKM_LOSS_ENUM

/** Name of a loss. Local. */
const char *dkm_loss_name(dkm_loss loss);

/** What truth and predictions of a loss are. */
typedef enum dkm_loss_input {
    DKM_LOSS_OF_OBJECTS, /**< both of one type and width */
    DKM_LOSS_OF_LABELS,  /**< classes, label sets, or dense rows that are a class or 0 and 1 */
    DKM_LOSS_OF_SCORES,  /**< such a truth, and dense rows with a number per class or label */
    DKM_LOSS_OF_LISTS,   /**< labels, and lists of candidates */
    DKM_LOSS_OF_NORMALS, /**< numbers, and as many means and then standard deviations */
    DKM_LOSS_OF_PREDICTION_SETS /**< numbers, and as many lower and then upper ends; or labels, and
                                     sets of them */
} dkm_loss_input;

dkm_loss_input dkm_loss_takes(dkm_loss loss);

/** Whether the score is the mean of a number per row: those take weights. Local. */
int dkm_loss_is_mean(dkm_loss loss);

/** Whether more is better. Local. */
int dkm_loss_greater_is_better(dkm_loss loss);

/** The loss to take for outputs of a type when none is named. Local. */
dkm_loss dkm_loss_default(dkm_type type);

typedef struct dkm_score {
    dkm_idx rows;
    double mean;
    double stderror; /**< standard deviation / sqrt(rows); 0 for one row; NaN where the loss is not
                          a mean over rows */
    int extras;      /**< how many of these there are */
    struct {
        const char *name;
        double value;
    } extra[2];
} dkm_score;

/** Score predictions. Collective.
 *
 *  @param[in]  truth, pred  as many rows each, of one type and as many columns
 *  @param[in] loss  one that suits these objects
 *  @param[in]  ky           of the kernel loss; else NULL
 *  @param[out] score        the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG for other sizes (both are named) or no rows; DKM_ERR_UNSUPPORTED when
 *          the loss is not one for these objects; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_predictions(const dkm_data *truth, const dkm_data *pred,
                                               dkm_loss loss, const dkm_kernel *ky,
                                               dkm_score *score);

/** The loss of each row of this rank's slab, dkm_data_local_rows() of them. Collective; arguments
 *  and failures as of dkm_score_predictions(). */
DKM_NODISCARD dkm_status dkm_score_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss,
                                        const dkm_kernel *ky, double *losses);

/** How to score. */
typedef struct dkm_score_settings {
    dkm_loss loss;
    const dkm_kernel *ky; /**< of the kernel loss; else NULL */
    dkm_idx labels; /**< hamming of label sets: how many labels there are; 0: those that occur */
    const dkm_data
        *weights; /**< of the rows, a column of numbers > 0, for losses that are means over
                                  rows; NULL: all weigh 1 */
} dkm_score_settings;

/** The same by settings. Collective. */
DKM_NODISCARD dkm_status dkm_score_by(const dkm_data *truth, const dkm_data *pred,
                                      const dkm_score_settings *settings, dkm_score *score);
DKM_NODISCARD dkm_status dkm_score_rows_by(const dkm_data *truth, const dkm_data *pred,
                                           const dkm_score_settings *settings, double *losses);

/** How many labels occur in label sets. Collective.
 *  @param[in] truth  true outputs
 *  @param[in]  more   other label sets, or NULL
 *  @param[out] count  0 for objects of other types
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_count_labels(const dkm_data *truth, const dkm_data *more,
                                                dkm_idx *count);

/** Which labels occur in labels, label sets or a dense column of integers. Collective.
 *  @param[in] data  borrowed
 *  @param[out] count   0 for other objects
 *  @param[out] labels  new, ascending, the same on every rank; dkm_score_labels_free() frees it
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_distinct_labels(const dkm_data *data, dkm_idx *count,
                                                   dkm_idx **labels);
void dkm_score_labels_free(dkm_idx **labels);

/** The value of each column of r2, spearman, median, auc or average-precision, whose score is their
 *  mean. Collective.
 *  @param[in] truth  true outputs
 *  @param[in] pred  predictions, as many rows as @p truth
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] count   0 for other losses
 *  @param[out] values  new, NaN where there is none; dkm_score_values_free() frees it */
DKM_NODISCARD dkm_status dkm_score_columns(const dkm_data *truth, const dkm_data *pred,
                                           const dkm_score_settings *settings, dkm_idx *count,
                                           double **values);
void dkm_score_values_free(double **values);

/** How often each class was taken for each other. */
typedef struct dkm_confusion {
    dkm_idx classes;
    dkm_idx *label; /**< ascending */
    dkm_idx *count; /**< classes x classes, row-major: true class by predicted class */
} dkm_confusion;

/** Count. Collective; the matrix is replicated.
 *  @param[in]  truth, pred  labels, or dense columns of integers
 *  @param[out] confusion    dkm_confusion_free() frees what it holds, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED for other objects; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_confusion(const dkm_data *truth, const dkm_data *pred,
                                             dkm_confusion *confusion);
void dkm_confusion_free(dkm_confusion *confusion);

/** The best prediction that looks at no input: the mean of dense rows, the most frequent of labels
 *  (the smallest of several), repeated for every row.
 *
 *  Collective.
 *
 *  @param[in] truth  true outputs
 *  @param[out] pred  new, owned by the caller; as many rows as @p truth; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for no rows; DKM_ERR_UNSUPPORTED for other objects; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_baseline(const dkm_data *truth, dkm_data **pred);

/** A prediction that looks at no input and suits a loss. Collective.
 *
 *  Dense rows: the most frequent one for zero-one and accuracy, the most frequent value of each
 *  column for hamming, its median for mae and median, else its mean. Labels: the most frequent.
 *  Label sets: the labels that half of the rows have or, without any, the most frequent label.
 *  Strings and sets: the most frequent. Of several as frequent, the first. Scores: the share of
 *  each class or label.
 *
 *  @param[in] truth  true outputs
 *  @param[in] loss  that the prediction is best for
 *  @param[in]  columns  of scores: how many; else not read
 *  @param[out] pred     new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED where dkm_score_has_baseline() is 0; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_baseline_by(const dkm_data *truth, dkm_loss loss,
                                               dkm_idx columns, dkm_data **pred);

/** Whether there is one for such a loss of such a truth. Local. */
int dkm_score_has_baseline(dkm_type truth, dkm_loss loss);

/** How many different labels there are in labels or label sets. Collective.
 *  @param[in] labels  borrowed
 *  @param[out] count  the same on every rank
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_count_labels(const dkm_data *labels, dkm_idx *count);

DKM_API_END

#endif
