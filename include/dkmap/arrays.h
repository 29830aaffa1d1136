/** @file arrays.h  Objects from a program's own memory, and back to it.
 *
 *  Each rank passes the objects it has, any number of them or none. The objects of rank 0 come
 *  first, then those of rank 1, and so on. A program that holds all objects on rank 0 passes none
 *  on the other ranks. Objects are moved to the ranks that will hold them; where each rank already
 *  has as many as dkm_slab_count() says, nothing is sent.
 *
 *  dkm_rows_get() is the way back: it brings any objects to any rank.
 */
#ifndef DKMAP_ARRAYS_H
#define DKMAP_ARRAYS_H

#include <dkmap/data.h>

DKM_API_BEGIN

/** Rows of numbers in memory: element (i, j) is values[i * row_stride + j * col_stride]. */
typedef struct dkm_array {
    const void *values;      /**< of double (DKM_F64) or float (DKM_F32) */
    dkm_precision precision; /**< of the values */
    dkm_idx rows;            /**< of this rank */
    dkm_idx cols;            /**< the same on every rank that has rows */
    dkm_idx row_stride;      /**< in elements; both strides 0: row-major without gaps */
    dkm_idx col_stride;
    int borrow; /**< use the array in place where possible: see dkm_data_from_array() */
} dkm_array;

/** Row-major and column-major arrays of double, to be copied. Local. */
dkm_array dkm_array_row_major(const double *values, dkm_idx rows, dkm_idx cols);
dkm_array dkm_array_col_major(const double *values, dkm_idx rows, dkm_idx cols);

/** Lists of (column, value) in compressed sparse row form. */
typedef struct dkm_csr {
    dkm_idx rows;         /**< of this rank */
    dkm_idx cols;         /**< the same on every rank; 0: one more than the largest column */
    const dkm_idx *start; /**< rows + 1 offsets: row i has entries start[i] to start[i + 1] - 1 */
    const dkm_idx *col;   /**< column of each entry, from 0, in any order, none twice in a row */
    const double *value;  /**< of each entry; NULL: ones */
} dkm_csr;

/** Dense rows, rows of a Gram or distance matrix, or labels (one column) from an array.
 *
 *  Collective.
 *
 *  An array of double, row-major without gaps, is used in place where its `borrow` is set and no
 *  object has to move. It must then stay as it is until the data, and every model fitted to them,
 *  are destroyed. All other arrays are copied.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  type   DKM_DENSE, DKM_GRAM, DKM_DISTANCE or DKM_LABELS, the same on every rank
 *  @param[in] array  this rank's rows, borrowed as its `borrow` says
 *  @param[out] data   new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for another type, ranks that differ in columns, a number that is
 *          not finite, or a label that is no integer; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_data_from_array(dkm_ctx *ctx, dkm_type type, const dkm_array *array,
                                             dkm_data **data);

/** Labels from integers. Collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] n  labels of this rank
 *  @param[in] labels  n numbers, copied
 *  @param[out] data  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_data_from_labels(dkm_ctx *ctx, dkm_idx n, const int64_t *labels,
                                              dkm_data **data);

/** Sparse rows, label sets or a graph from lists, which are copied.
 *
 *  Collective. Row i of a graph lists the neighbors of vertex i and the weights of the edges, which
 *  are positive and the same in both directions.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  type  DKM_SPARSE, DKM_LABEL_SETS (values are not looked at) or DKM_GRAPH
 *  @param[in] lists  this rank's rows
 *  @param[out] data  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for lists that are not as described; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_data_from_csr(dkm_ctx *ctx, dkm_type type, const dkm_csr *lists,
                                           dkm_data **data);

/** Strings, sets given as words with blanks between them, or graphs given as the labels of their
 *  vertices and their edges (`C C O | 0-1 1-2:double`), which are copied.
 *
 *  Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  type     DKM_STRINGS, DKM_SETS or DKM_GRAPHS
 *  @param[in]  n        strings of this rank
 *  @param[in] strings  n of them
 *  @param[in]  lengths  in bytes; NULL: each string ends with a zero byte
 *  @param[out] data     new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_data_from_strings(dkm_ctx *ctx, dkm_type type, dkm_idx n,
                                               const char *const *strings, const dkm_idx *lengths,
                                               dkm_data **data);

/** A copy of all objects, which borrows nothing. Collective.
 *  @param[in] data  borrowed
 *  @param[out] copy  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_data_copy(const dkm_data *data, dkm_data **copy);

/** Whether the data use a caller's array in place on this rank. Local. */
int dkm_data_is_borrowed(const dkm_data *data);

/** Row @p il of this rank's sparse rows, label sets or graph. Local.
 *  @param[in] data  borrowed
 *  @param[in] il  local row, from 0
 *  @param[out] cols    ascending columns
 *  @param[out] values  of the entries; NULL for label sets
 *  @return the number of entries */
dkm_idx dkm_data_entries(const dkm_data *data, dkm_idx il, const dkm_idx **cols,
                         const double **values);

/** Objects at hand on one rank. */
typedef struct dkm_rows dkm_rows;

/** Bring objects [first, first + count) of @p data to this rank.
 *
 *  Collective; each rank asks for what it wants, which may be nothing.
 *
 *  @param[in] data  borrowed
 *  @param[in] first  of the global rows
 *  @param[in] count  0 for a rank that wants none
 *  @param[out] rows  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for objects that are not there; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_rows_get(const dkm_data *data, dkm_idx first, dkm_idx count,
                                      dkm_rows **rows);

dkm_type dkm_rows_type(const dkm_rows *rows);
dkm_idx dkm_rows_count(const dkm_rows *rows);
dkm_idx dkm_rows_cols(const dkm_rows *rows); /**< as dkm_data_cols() */
/** Row @p i of dense rows, Gram rows, distances or labels: dkm_rows_cols() numbers. Local. */
const double *dkm_rows_values(const dkm_rows *rows, dkm_idx i);
/** Row @p i of sparse rows, label sets or a graph, as dkm_data_entries(). Local. */
dkm_idx dkm_rows_entries(const dkm_rows *rows, dkm_idx i, const dkm_idx **cols,
                         const double **values);
/** String, set or graph @p i: @p length bytes, with no zero byte after them. Local. */
const char *dkm_rows_string(const dkm_rows *rows, dkm_idx i, dkm_idx *length);

/** Free. Local; takes NULL and nulls. */
void dkm_rows_destroy(dkm_rows **rows);

DKM_API_END

#endif
