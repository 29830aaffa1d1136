/** @file figures.h  Lines and bars of a page. */
#ifndef DKMAP_CLI_REPORT_FIGURES_H
#define DKMAP_CLI_REPORT_FIGURES_H

#include "cli/plot/gnuplot.h"

enum { FIGURE_LINES = 4 };

/** One or more functions of x. Borrows all it points to. */
typedef struct lines_figure {
    dkm_idx count;
    const double *x;
    int lines;
    const double *y[FIGURE_LINES];
    const char *name[FIGURE_LINES];
    const char *x_label, *y_label;
    int logarithmic; /**< both axes, where all numbers are > 0; else y alone, where they are */
    double marked;   /**< an x that a vertical line marks; NaN for none */
} lines_figure;

/** A horizontal bar for each of some names, from the first at the top, with least and most. */
typedef struct bars_figure {
    int count;
    const char *const *name;
    const double *least, *mean, *most;
    const char *label;
} bars_figure;

drawing lines_drawing(const lines_figure *f);
drawing bars_drawing(const bars_figure *f);

#endif
