/** @file plot_confusion.h  A confusion matrix as a picture. */
#ifndef DKMAP_CLI_PLOT_PLOT_CONFUSION_H
#define DKMAP_CLI_PLOT_PLOT_CONFUSION_H

#include <dkmap/categories.h>
#include <dkmap/score.h>

#include "cli/plot/gnuplot.h"

enum { CONFUSION_CLASSES = 200 }; /* more cannot be read */

typedef struct confusion_picture {
    const dkm_confusion *counts;
    const dkm_categories *names; /**< or NULL */
} confusion_picture;

/** A square per pair of classes, as dark as the share of the true class that was so predicted, with
 *  the counts inside where there are at most 25 classes. Local; borrows @p c. */
drawing confusion_drawing(const confusion_picture *c);

/** The name of the k-th class for a person. Local. */
void confusion_name(const dkm_confusion *counts, const dkm_categories *names, dkm_idx k, char *out,
                    size_t size);

#endif
