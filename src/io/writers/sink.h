/** @file sink.h  What a writer of one file format provides. */
#ifndef DKMAP_IO_WRITERS_SINK_H
#define DKMAP_IO_WRITERS_SINK_H

#include "data/objects.h"
#include "io/atomic_file.h"

struct dkm_sink {
    dkm_ctx *ctx;
    const struct dkm_writer *writer;
    dkm_type type;
    dkm_idx m, d;
    dkm_idx done; /**< objects written */
    dkm_idx end;  /**< where the next byte of text, or the first number, goes */
    char *path, *dataset;
    dkm_atomic_file out;
};

/** Types stored as numbers. */
#define DKM_TYPE_NUMBERS                                                                           \
    (DKM_TYPE_BIT(DKM_DENSE) | DKM_TYPE_BIT(DKM_GRAM) | DKM_TYPE_BIT(DKM_DISTANCE) |               \
     DKM_TYPE_BIT(DKM_LABELS))

typedef struct dkm_writer {
    const char *ending;
    unsigned types; /**< a DKM_TYPE_BIT() for each that it can hold */
    /** Write what stands before the objects and set @p end. On rank 0 only; local. */
    dkm_local (*begin)(dkm_sink *sink);
    /** Write some objects behind those written. Collective. */
    dkm_status (*write)(dkm_sink *sink, const dkm_data *data);
    char between; /**< of text: what stands between the items of an object */
} dkm_writer;

/** Numbers as they are in memory, low byte first: npy and HDF5. */
dkm_local dkm_sink_begin_npy(dkm_sink *sink);
dkm_local dkm_sink_begin_hdf5(dkm_sink *sink);
dkm_status dkm_sink_write_raw(dkm_sink *sink, const dkm_data *data);

/** A first line that names the column of strings, without which the first string would be taken for
 *  a name. */
dkm_local dkm_sink_begin_table(dkm_sink *sink);
/** Text, one object per line. */
dkm_status dkm_sink_write_text(dkm_sink *sink, const dkm_data *data);
/** Text, one sparse row a line. */
dkm_status dkm_sink_write_svmlight(dkm_sink *sink, const dkm_data *data);

#endif
