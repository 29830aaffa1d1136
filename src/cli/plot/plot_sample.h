/** @file plot_sample.h  Some rows of distributed data, for a picture of points.
 *
 *  Of m rows at most SAMPLE_ROWS are drawn: one at random from each of as many ranges of equal
 *  length. Which ones depends on m alone, not on the ranks. Every rank holds the sample.
 */
#ifndef DKMAP_CLI_PLOT_PLOT_SAMPLE_H
#define DKMAP_CLI_PLOT_PLOT_SAMPLE_H

#include <dkmap/data.h>

#include "cli/core/run.h"

enum { SAMPLE_ROWS = 5000 };

typedef struct sample {
    run *r;
    dkm_idx m;      /**< rows there are */
    dkm_idx count;  /**< rows in the sample */
    int width;      /**< numbers of each */
    double *values; /**< count x width */
} sample;

/** An empty sample. Collective; sample_close() frees it, also after a failure.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status sample_open(sample *s, run *r, dkm_idx m, int width);
void sample_close(sample *s);

/** Take numbers of those rows of @p data that are in the sample. Local.
 *  @param[in] first   number of the first row of @p data, all ranks together
 *  @param[in] column  of the data, from which on @p width columns are taken
 *  @param[in] at      where they go in the rows of the sample */
void sample_take(sample *s, const dkm_data *data, dkm_idx first, dkm_idx column, int at, int width);

/** Bring what all ranks took together. Collective. */
void sample_gather(sample *s);

#endif
