/** @file encode_plot.h  The first two coordinates of objects as a picture, coloured by labels. */
#ifndef DKMAP_CLI_PLOT_ENCODE_PLOT_H
#define DKMAP_CLI_PLOT_ENCODE_PLOT_H

#include <dkmap/categories.h>

#include "cli/plot/plot_sample.h"

/** What is collected while the coordinates are written: at most SAMPLE_ROWS points. */
typedef struct encode_plot {
    run *r;
    sample points; /**< two coordinates and a colour each */
    dkm_data *Y;   /**< labels or numbers that colour them; NULL for none */
    dkm_categories *names;
    int coordinates; /**< that are drawn: 2, or 1 against the number of the row */
} encode_plot;

/** Read the labels of --y. Collective; encode_plot_close() frees what it holds. */
DKM_NODISCARD dkm_status encode_plot_open(encode_plot *p, run *r);
void encode_plot_close(encode_plot *p);

/** What streams call with an encode_plot: see batch_stream.h. Collective. */
DKM_NODISCARD dkm_status encode_plot_begin(void *watcher, dkm_idx rows, dkm_idx cols);
void encode_plot_watch(void *watcher, dkm_idx first, const dkm_data *Z);
DKM_NODISCARD dkm_status encode_plot_end(void *watcher);

#endif
