/** @file mtx.h  Matrix Market files: the coordinate form is a graph (mtx.c), the array form dense
 *  rows (mtx_array.c). */
#ifndef DKMAP_IO_FORMATS_MTX_H
#define DKMAP_IO_FORMATS_MTX_H

#include "io/formats/format.h"

typedef struct dkm_mtx {
    dkm_idx rows, cols, promised; /**< promised: entries that should follow */
    int array, symmetric, pattern;
    dkm_idx offset, number; /**< of the first line after the sizes */
    int ended;              /**< there is no such line */
} dkm_mtx;

/** Say that an array is dense rows. Local. */
DKM_NODISCARD dkm_local dkm_mtx_array_settle(dkm_file *file);

/** As read() of a format. Local. */
DKM_NODISCARD dkm_local dkm_mtx_array_read(dkm_file *file, dkm_idx first, dkm_idx step,
                                           dkm_idx count, dkm_idx c0, dkm_idx c1, dkm_objs *objs);

#endif
