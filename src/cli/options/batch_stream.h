/** @file batch_stream.h  Objects from a file through a model to a file, in batches. */
#ifndef DKMAP_CLI_OPTIONS_BATCH_STREAM_H
#define DKMAP_CLI_OPTIONS_BATCH_STREAM_H

#include "cli/core/run.h"

/** What passes through the model, and what comes out. */
typedef struct streaming {
    const char *only; /**< the methods the model may be of, as in "kpca or kde"; NULL: any */
    const char *from; /**< the option that names the file to read */
    dkm_status (*prepare)(run *r,
                          dkm_model *model); /**< called with the loaded model; may be NULL */
    dkm_status (*apply)(dkm_model *model, const dkm_data *X, dkm_data **Y);
    dkm_type (*type)(const dkm_model *model);
    dkm_idx (*cols)(const dkm_model *model);
    /** Called with the loaded model and the number of rows, with every batch that comes out and the
     *  number of its first row, and at the end; all may be NULL. Collective. */
    dkm_status (*begin)(void *watcher, dkm_idx rows, dkm_idx cols);
    void (*watch)(void *watcher, dkm_idx first, const dkm_data *Y);
    dkm_status (*end)(void *watcher);
    void *watcher;
} streaming;

/** Read the file, take it through the model of the first positional argument and write what comes
 * out to
 *  --output. Collective; memory does not grow with the number of rows. */
DKM_NODISCARD dkm_status stream_through_model(run *r, const streaming *through);

#endif
