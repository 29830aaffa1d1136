/** @file score_plot.h  Pictures of predictions beside the truth. */
#ifndef DKMAP_CLI_PLOT_SCORE_PLOT_H
#define DKMAP_CLI_PLOT_SCORE_PLOT_H

#include <dkmap/categories.h>
#include <dkmap/score.h>

#include "cli/core/run.h"

/** Truth and predictions, and what the latter are. */
typedef struct score_picture {
    const dkm_data *truth, *pred;
    const dkm_categories *names; /**< of classes, or NULL */
    dkm_loss_input takes; /**< of labels, of scores, of normals; of objects: as their types say */
} score_picture;

/** Draw, where --plot asks for it: the confusion matrix of classes, predicted against true numbers,
 *  a reliability diagram of probabilities of classes, and of the intervals of normal distributions.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for other objects; DKM_ERR_ARG for scores that are no
 *          probabilities; as of gnuplot_write() */
DKM_NODISCARD dkm_status score_plot(run *r, const score_picture *what);

#endif
