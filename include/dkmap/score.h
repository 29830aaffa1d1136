/** @file score.h  How far predictions are from the truth.
 *
 *  Every loss is a number a row, and a score their mean with its standard error:
 *
 *    mse       (1/d) sum_j (y_j - p_j)^2 of dense rows. Beside the mean: its root, and
 *              r2 = 1 - sum ||y - p||^2 / sum ||y - mean(y)||^2 over all rows and columns
 *    zero-one  1 where the prediction differs at all, else 0. Dense rows, labels, label sets,
 *              strings and sets
 *    hamming   share that differs: of the columns of dense rows; of the letters of strings, which
 *              must be of equal length; of label sets |Y xor P| / L, where L is how many labels
 *              there are: as many as dkm_score_settings says, and at least those that occur in the
 *              truth or the predictions; labels as zero-one
 *    edit      least number of letters inserted, deleted or changed to make the prediction the true
 *              string. Beside the mean: the mean of edit / max(1, length of the true string)
 *    kernel    ||Phi(y) - Phi(p)||^2 = l(y, y) - 2 l(y, p) + l(p, p) in the space of a kernel l on
 *              outputs of any type it is for. Beside the mean: its root, and the mean of the
 *              roots of all rows
 *    rank      place of the true candidate in a list of candidates, 1 for the first: half way
 *              between the places of those as near as it is. The truth is labels, the number of a
 *              candidate each; predictions are dense rows of index, distance, index, distance, ...
 *              best first, or of index and score. A candidate that is not in a list of N has the
 *              place N + 1. Beside the mean: the share of those
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
    X(DKM_LOSS_RANK, "rank")

#define DKM_LOSS_ENUM(code, name) code,
typedef enum dkm_loss { DKM_LOSS_LIST(DKM_LOSS_ENUM) DKM_LOSS_COUNT } dkm_loss;
#undef DKM_LOSS_ENUM

/** Name of a loss. Local. */
const char *dkm_loss_name(dkm_loss loss);

typedef struct dkm_score {
    dkm_idx rows;
    double mean;
    double stderror; /**< standard deviation / sqrt(rows); 0 for one row */
    int extras;      /**< how many of these there are */
    struct {
        const char *name;
        double value;
    } extra[2];
} dkm_score;

/** Score predictions. Collective.
 *
 *  @param[in]  truth, pred  as many rows each, of one type and as many columns
 *  @param[in]  ky           of the kernel loss; else NULL
 *  @param[out] score        the same on every rank
 *  @return DKM_OK; DKM_ERR_ARG for other sizes (both are told) or no rows; DKM_ERR_UNSUPPORTED when
 *          the loss is not one for these objects; DKM_ERR_MEMORY
 */
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
} dkm_score_settings;

/** The same by settings. Collective. */
DKM_NODISCARD dkm_status dkm_score_by(const dkm_data *truth, const dkm_data *pred,
                                      const dkm_score_settings *settings, dkm_score *score);
DKM_NODISCARD dkm_status dkm_score_rows_by(const dkm_data *truth, const dkm_data *pred,
                                           const dkm_score_settings *settings, double *losses);

/** How many labels occur in label sets. Collective.
 *  @param[in]  more   other label sets, or NULL
 *  @param[out] count  0 for objects of other types
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_score_count_labels(const dkm_data *truth, const dkm_data *more,
                                                dkm_idx *count);

/** The best prediction that looks at no input: the mean of dense rows, the most frequent of labels
 *  (the smallest of several), repeated for every row.
 *
 *  Collective.
 *
 *  @param[out] pred  new, owned by the caller; as many rows as @p truth; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for no rows; DKM_ERR_UNSUPPORTED for other objects; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_score_baseline(const dkm_data *truth, dkm_data **pred);

/** The best such prediction under a loss: of dense rows the most frequent one for zero-one, and the
 *  most frequent value of each column for hamming, the first of several; else as
 *  dkm_score_baseline(). Collective. */
DKM_NODISCARD dkm_status dkm_score_baseline_by(const dkm_data *truth, dkm_loss loss,
                                               dkm_data **pred);

DKM_API_END

#endif
