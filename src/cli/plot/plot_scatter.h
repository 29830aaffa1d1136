/** @file plot_scatter.h  Points: predicted against true numbers, and coordinates of objects. */
#ifndef DKMAP_CLI_PLOT_PLOT_SCATTER_H
#define DKMAP_CLI_PLOT_PLOT_SCATTER_H

#include "cli/plot/gnuplot.h"
#include "cli/plot/plot_reliability.h"
#include "cli/plot/plot_sample.h"

enum { SCATTER_PANELS = 4 };

typedef struct scatter_picture {
    const sample *points;         /**< the true numbers of each panel, then the predicted ones */
    dkm_idx columns;              /**< there are */
    int panels;                   /**< as many of them as are drawn */
    const reliability *intervals; /**< of predicted distributions: one panel more; or NULL */
} scatter_picture;

/** A panel for each of the first columns. Local; borrows @p s. */
drawing scatter_drawing(const scatter_picture *s);

/** Write how many of the rows are drawn, as a title. */
void scatter_put_title(FILE *script, const sample *points);

#endif
