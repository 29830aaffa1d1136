/** @file state_table.h  The state of a computation as a table of named fields.
 *
 *  A computation lists once what its state consists of; saving and loading walk the same table. A
 *  field that is missing, of another kind, of another count or out of range is DKM_ERR_FORMAT and
 *  named in the message. Where a count is known only from the state itself, it is a field of a
 *  first table, and the arrays that depend on it are those of a second one.
 */
#ifndef DKMAP_IO_CHECKPOINT_STATE_TABLE_H
#define DKMAP_IO_CHECKPOINT_STATE_TABLE_H

#include "io/archive/archive.h"

typedef enum dkm_state_type {
    DKM_STATE_INT,   /**< int >= 0 */
    DKM_STATE_COUNT, /**< dkm_idx >= 0 */
    DKM_STATE_INDEX, /**< dkm_idx >= -1 */
    DKM_STATE_REAL,  /**< double; like the types above the same on every rank */
    DKM_STATE_ROWS,  /**< double: this rank's rows of a matrix in slabs */
    DKM_STATE_LOWER  /**< dkm_dmat: its lower triangle, in its own precision */
} dkm_state_type;

typedef struct dkm_state_field {
    const char *name;
    dkm_state_type type;
    void *at;      /**< borrowed until the state has been saved or loaded */
    dkm_idx count; /**< numbers; of ROWS, rows over all ranks */
    dkm_idx cols;  /**< of ROWS */
    dkm_idx ld;    /**< of ROWS: numbers from one row to the next */
} dkm_state_field;

/** Fields of one number, of an array, of rows without gaps and of a matrix. */
#define DKM_STATE_ONE(name, type, at)                                                              \
    {                                                                                              \
        (name), (type), (at), 1, 0, 0                                                              \
    }
#define DKM_STATE_ARRAY(name, type, at, count)                                                     \
    {                                                                                              \
        (name), (type), (at), (count), 0, 0                                                        \
    }
#define DKM_STATE_SLAB(name, at, rows, cols)                                                       \
    {                                                                                              \
        (name), DKM_STATE_ROWS, (at), (rows), (cols), (cols)                                       \
    }
#define DKM_STATE_MATRIX(name, A)                                                                  \
    {                                                                                              \
        (name), DKM_STATE_LOWER, (A), 0, 0, 0                                                      \
    }

/** A table and its length, as two arguments. */
#define DKM_STATE_TABLE(fields) (dkm_idx)(sizeof(fields) / sizeof *(fields)), (fields)

/** Bytes of all fields, over all ranks. Local. */
double dkm_state_bytes(dkm_idx count, const dkm_state_field *fields);

/** Add the fields to a state; rows and matrices are borrowed until it is saved. Local.
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_state_put(dkm_archive *state, dkm_idx count,
                                      const dkm_state_field *fields);

/** Set the fields from a state. Collective.
 *  @return DKM_OK; DKM_ERR_FORMAT; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_state_get(const dkm_archive *state, dkm_idx count,
                                       const dkm_state_field *fields);

#endif
