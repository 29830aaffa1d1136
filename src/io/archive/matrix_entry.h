/** @file matrix_entry.h  Rows of numbers too many for one rank, on their way to a file or lying in
 * one.
 *
 *  A distributed matrix or a slab is written in row order, in its own precision, whatever the
 * number of ranks; of a symmetric or triangular matrix row i can be cut to its i + 1 first numbers.
 * Rows travel in batches of bounded size, so that no rank holds more than before.
 */
#ifndef DKMAP_IO_ARCHIVE_MATRIX_ENTRY_H
#define DKMAP_IO_ARCHIVE_MATRIX_ENTRY_H

#include <dkmap/dmat.h>

#include "io/atomic_file.h"

typedef struct dkm_matrix_entry {
    dkm_idx m, n;
    dkm_precision precision;
    int lower;     /**< row i has i + 1 numbers */
    dkm_idx first; /**< the first row that is here; those before lie elsewhere */
    const struct dkm_matrix_entry
        *copied;            /**< to be written: rows of another file, as they are... */
    const dkm_dmat *matrix; /**< ...or those of this... */
    const dkm_dmat *rest;   /**< ...and after either of them the rows of this; all borrowed */
    const double *slab;     /**< or the rows of this rank; borrowed */
    dkm_idx ld;             /**< of the slab */
    char *path;             /**< where they lie, for reading */
    int64_t offset;         /**< in the file */
} dkm_matrix_entry;

/** The lower triangle of a square matrix, which is borrowed. Local. */
dkm_matrix_entry dkm_matrix_entry_lower(const dkm_dmat *A);

/** Numbers of this part before row @p i; of row m, all of them. Local. */
dkm_idx dkm_matrix_entry_before(const dkm_matrix_entry *part, dkm_idx i);

/** Bytes of all rows. Local. */
double dkm_matrix_entry_bytes(const dkm_matrix_entry *part);

/** Write all rows from @p offset on. Collective.
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_matrix_entry_write(const dkm_matrix_entry *part, dkm_atomic_file *out,
                                                int64_t offset);

/** Read the rows into a matrix of the same shape; what a cut row lacks stays as it is. Collective.
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY; DKM_ERR_FORMAT for another shape or precision */
DKM_NODISCARD dkm_status dkm_matrix_entry_read_matrix(const dkm_matrix_entry *part, dkm_dmat *A);

/** The file of some rows, held open to be read here and there. */
typedef struct dkm_rows_file {
    dkm_ctx *ctx;
    const dkm_matrix_entry *part;
    int fd; /**< below 0: not open */
} dkm_rows_file;

/** Local; dkm_rows_file_close() closes, also after a failure. The part is borrowed. */
DKM_NODISCARD dkm_local dkm_rows_file_open(dkm_rows_file *file, dkm_ctx *ctx,
                                           const dkm_matrix_entry *part);
void dkm_rows_file_close(dkm_rows_file *file);
/** @p count numbers, of all rows one after the other, from the @p at-th on, in double whatever the
 *  precision of the part. Local.
 *  @return ok; DKM_ERR_IO */
DKM_NODISCARD dkm_local dkm_rows_file_read(const dkm_rows_file *file, dkm_idx at, dkm_idx count,
                                           double *numbers);

/** Read this rank's rows, each @p ld numbers after the one before. Local.
 *  @param[in] n  columns that are expected
 *  @return ok; DKM_ERR_IO; DKM_ERR_MEMORY; DKM_ERR_FORMAT for another shape */
DKM_NODISCARD dkm_local dkm_matrix_entry_read_slab(dkm_ctx *ctx, const dkm_matrix_entry *part,
                                                   dkm_idx n, dkm_idx ld, double *rows);

#endif
