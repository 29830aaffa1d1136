/** @file potrf_update.h  Workspace and trailing update of the right-looking Cholesky factorization.
 *
 *  Columns of L are computed a panel at a time. Each process gathers a panel for its own rows and
 *  for its own columns, and subtracts their product from its part of the trailing triangle. The
 *  columns of the next panel are updated first (look-ahead); the rest is deferred, and done in
 *  pieces while this process would otherwise wait for others in the next panel. The pieces are the
 *  same whenever they are done, so the factor does not depend on timing.
 */
#ifndef DKMAP_LINALG_FACTOR_POTRF_UPDATE_H
#define DKMAP_LINALG_FACTOR_POTRF_UPDATE_H

#include "comm/bcast_queue.h"
#include "matrix/dmat_impl.h"

enum { DKM_POTRF_DEPTH = 2, DKM_POTRF_SLOTS = 2 }; /**< most look-ahead; transposes under way */

/** A panel of columns of L, from row @p at on. */
typedef struct dkm_potrf_panel {
    dkm_idx at, width;  /**< global columns */
    dkm_idx row0, col0; /**< local rows and columns before them */
    void *rows, *cols;  /**< of L, in this rank's rows and columns from there on */
    dkm_bcast *bcasts;  /**< of the rows, one per block of columns */
} dkm_potrf_panel;

/** The product of columns [c, c + w) of a panel with themselves. */
typedef struct dkm_potrf_panel_part {
    const dkm_potrf_panel *s;
    dkm_idx c, w;
} dkm_potrf_panel_part;

/** Columns of the trailing triangle that have yet to be updated. */
typedef struct dkm_potrf_deferred {
    dkm_potrf_panel_part product;
    dkm_idx b, end; /**< local blocks of columns */
    dkm_idx split;  /**< no piece reaches across it: the end of the panel after the next */
    dkm_idx row;    /**< where the next piece begins in those from b on; -1 at the diagonal */
} dkm_potrf_deferred;

/** A block of columns of L on its way to its transpose. */
typedef struct dkm_potrf_slot {
    void *data;        /**< ordered by the grid row that sends it */
    dkm_bcast *bcasts; /**< one per grid row, and one for the block that is needed first */
    int count;
} dkm_potrf_slot;

typedef struct dkm_potrf_ws {
    dkm_dmat *A;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx panel_cols;             /**< columns of a panel, a multiple of the block */
    dkm_idx piece_rows, piece_cols; /**< of the trailing update between two looks at messages */
    int depth;                      /**< of look-ahead: panels whose updates may be deferred */
    int prompt; /**< the grid column that is next waits, and does nothing else */
    dkm_potrf_panel panels[DKM_POTRF_DEPTH + 1];
    dkm_potrf_panel *panel; /**< the one that is being factored */
    dkm_potrf_deferred deferred[DKM_POTRF_DEPTH + 1];
    int regions;  /**< of them, the oldest first */
    void *corner; /**< the factor of a diagonal block, and its info */
    dkm_bcast corner_bcast;
    dkm_potrf_slot slots[DKM_POTRF_SLOTS];
    int next_slot;
    dkm_bcast_queue queue;
    int row_tag, col_tag; /**< of the next broadcast in the grid row and column */
    int *counts, *starts; /**< one per grid row */
    size_t size;          /**< bytes of a number */
    MPI_Datatype type;
} dkm_potrf_ws;

/** Memory for panels of @p A. Local; dkm_potrf_ws_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A);
void dkm_potrf_ws_close(dkm_potrf_ws *e);

/** Addresses in A, and of column @p k of a panel in a local row or column. Local. */
void *dkm_potrf_in_matrix(const dkm_potrf_ws *e, dkm_idx il, dkm_idx jl);
void *dkm_potrf_in_panel_rows(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx il,
                              dkm_idx k);
void *dkm_potrf_in_panel_cols(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx jl,
                              dkm_idx k);

/** Leading dimensions of a panel's rows and columns. The rows have one more than there are: in the
 *  first column of a block it holds the info of the diagonal block. Local. */
static inline dkm_idx dkm_potrf_panel_rows_ld(const dkm_potrf_ws *e, const dkm_potrf_panel *s)
{
    return e->A->m_loc - s->row0 + 1;
}

static inline dkm_idx dkm_potrf_panel_cols_ld(const dkm_potrf_ws *e, const dkm_potrf_panel *s)
{
    return e->A->n_loc - s->col0;
}

/** Global columns [from, to) of A, multiples of the block or the end, are updated; broadcasts
 *  advance in between. */
void dkm_potrf_update_columns(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx from,
                              dkm_idx to);

/** The panel is factored: update the columns of the next one, with it and with the one before, and
 *  defer the rest. The next panel reuses the memory of the oldest one, whose deferred update and
 *  broadcasts are completed first. */
void dkm_potrf_update_schedule(dkm_potrf_ws *e);

/** Do all of the deferred updates. */
void dkm_potrf_update_drain(dkm_potrf_ws *e);

/** Wait until a broadcast has arrived, or until its buffer may be used again, with the deferred
 *  updates in hand. */
void dkm_potrf_wait_arrived(dkm_potrf_ws *e, const dkm_bcast *b);
void dkm_potrf_wait_complete(dkm_potrf_ws *e, const dkm_bcast *b);

#endif
