/** @file cv_tally.h  What was lost over the splits of cross-validation. */
#ifndef DKMAP_SELECTION_CV_CV_TALLY_H
#define DKMAP_SELECTION_CV_CV_TALLY_H

#include <dkmap/cv.h>

typedef struct dkm_cv_tally {
    double loss, root, rows;       /* sums over all held-out examples, and how many there were */
    double splits, means, squares; /* number of splits, sum of their mean losses, and of squares */
} dkm_cv_tally;

/** Count a split: sums of losses and of their roots over some rows. Local. */
void dkm_cv_tally_add(dkm_cv_tally *t, const double sums[2], double rows);
/** Mean, standard error over splits, and mean root. Local. */
dkm_cv_score dkm_cv_tally_score(const dkm_cv_tally *t);

/** The first of the points with the least loss, or the greatest, but for rounding; NaN is never the
 *  best. Local. */
dkm_idx dkm_cv_best(dkm_idx points, const double *loss, int greater_is_better);

#endif
