/** @file plot_trials.h  The loss of settings that were tried, against each of them. */
#ifndef DKMAP_CLI_PLOT_PLOT_TRIALS_H
#define DKMAP_CLI_PLOT_PLOT_TRIALS_H

#include "cli/plot/gnuplot.h"

typedef struct trial {
    const char *label; /**< as "s=0.1,gamma=1e-3" */
    double mean, stderror;
} trial;

typedef struct trials {
    dkm_idx count, best;
    const trial *trial;
    const char *loss;
    int greater_is_better;
} trials;

/** A panel for each setting: all trials as dots, and for each value the best one with its standard
 *  error. The best of all is circled. Local; borrows @p t. */
drawing trials_drawing(const trials *t);

#endif
