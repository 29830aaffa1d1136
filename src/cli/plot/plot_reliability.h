/** @file plot_reliability.h  How often what was predicted with some probability comes true. */
#ifndef DKMAP_CLI_PLOT_PLOT_RELIABILITY_H
#define DKMAP_CLI_PLOT_PLOT_RELIABILITY_H

#include <dkmap/data.h>

#include "cli/plot/gnuplot.h"

enum { RELIABILITY_BINS = 10, RELIABILITY_LEVELS = 20 };

/** Sums over all rows, the same on every rank. */
typedef struct reliability {
    double count[RELIABILITY_LEVELS];   /**< rows of each bin, or truths inside each interval */
    double promise[RELIABILITY_LEVELS]; /**< sum of their probabilities, or that of the interval */
    double true_count[RELIABILITY_LEVELS]; /**< how many came true */
    double rows;
    int two_classes; /**< probabilities are those of the greater one; else of the likeliest class */
} reliability;

/** Count by the predicted probability: of two classes, of the greater one, else of the likeliest.
 *  Collective.
 *  @param[in]  truth  classes: numbers of columns from 0, or as many as there are columns
 *  @param[in]  pred   dense, a column per class, or one for the greater of two
 *  @return DKM_OK; DKM_ERR_ARG for what are no probabilities, or other classes; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status reliability_of_classes(run *r, const dkm_data *truth, const dkm_data *pred,
                                                reliability *out);

/** Count how many truths are inside the central interval of each of twenty probabilities.
 *  Collective.
 *  @param[in] pred  all means, then all standard deviations */
void reliability_of_normals(const dkm_data *truth, const dkm_data *pred, reliability *out);

/** Share that came true against the probability, with a histogram of the predictions. Local. */
drawing reliability_drawing(const reliability *curve);

/** The commands of one panel: share of the truth inside intervals against their probability. */
void reliability_draw_intervals(FILE *script, const reliability *curve);

#endif
