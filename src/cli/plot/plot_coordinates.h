/** @file plot_coordinates.h  Points in the plane, coloured by class or number. */
#ifndef DKMAP_CLI_PLOT_PLOT_COORDINATES_H
#define DKMAP_CLI_PLOT_PLOT_COORDINATES_H

#include <dkmap/categories.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/plot_sample.h"

enum { COORDINATES_CLASSES = 16 }; /* with a colour and a shape each; more are drawn as numbers */

typedef struct coordinates_picture {
    const sample *points; /**< two coordinates and a label or number each */
    int coordinates;      /**< 2, or 1: the rows are numbered along the other axis */
    int coloured;
    dkm_idx classes; /**< 0: colours stand for numbers */
    const dkm_idx *label;
    const dkm_categories *names; /**< of the classes, or NULL */
} coordinates_picture;

/** Local; borrows @p c. */
drawing coordinates_drawing(const coordinates_picture *c);

#endif
