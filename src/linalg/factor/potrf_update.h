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

#include "matrix/dmat_impl.h"

/** A panel of columns of L, from row @p at on. */
typedef struct dkm_potrf_panel {
    dkm_idx at, width;  /**< global columns */
    dkm_idx row0, col0; /**< local rows and columns before them */
    void *rows, *cols;  /**< of L, in this rank's rows and columns from there on */
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
    dkm_idx row;    /**< where the next piece begins in those from b on; -1 at the diagonal */
} dkm_potrf_deferred;

typedef struct dkm_potrf_ws {
    dkm_dmat *A;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx panel_cols;         /**< columns of a panel, a multiple of the block */
    dkm_potrf_panel panel;      /**< the one that is being factored */
    dkm_potrf_panel last_panel; /**< whose product is the deferred update */
    dkm_potrf_deferred deferred;
    void *sent, *got;      /**< a block of columns on its way to its transpose */
    void *corner;          /**< the factor of a diagonal block */
    int *infos;            /**< outcome of each block of the panel */
    MPI_Request *requests; /**< of sends, two per block of the panel */
    int pending;           /**< how many of them are under way */
    int *counts, *starts;  /**< one per grid row */
    size_t size;           /**< bytes of a number */
    MPI_Datatype type;
} dkm_potrf_ws;

/** Room for panels of @p A. Local; dkm_potrf_ws_close() frees, also after a failure. */
DKM_NODISCARD
dkm_local dkm_potrf_ws_open(dkm_potrf_ws *e, dkm_dmat *A);
void dkm_potrf_ws_close(dkm_potrf_ws *e);

/** Addresses in A, and of column @p k of a panel in a local row or column. Local. */
void *dkm_potrf_in_matrix(const dkm_potrf_ws *e, dkm_idx il, dkm_idx jl);
void *dkm_potrf_in_panel_rows(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx il,
                              dkm_idx k);
void *dkm_potrf_in_panel_cols(const dkm_potrf_ws *e, const dkm_potrf_panel *s, dkm_idx jl,
                              dkm_idx k);

/** Leading dimensions of a panel's rows and columns. Local. */
static inline dkm_idx dkm_potrf_panel_rows_ld(const dkm_potrf_ws *e, const dkm_potrf_panel *s)
{
    return e->A->m_loc - s->row0;
}

static inline dkm_idx dkm_potrf_panel_cols_ld(const dkm_potrf_ws *e, const dkm_potrf_panel *s)
{
    return e->A->n_loc - s->col0;
}

/** Global columns [from, to) of A, multiples of the block or the end, are updated. Local. */
void dkm_potrf_update_columns(dkm_potrf_ws *e, const dkm_potrf_panel_part *x, dkm_idx from,
                              dkm_idx to);

/** The panel at hand becomes the one before: columns of the next are updated with it, the rest is
 * the deferred update. There must be none when it is called. Local. */
void dkm_potrf_update_schedule(dkm_potrf_ws *e);

/** Do all of the deferred update. Local. */
void dkm_potrf_update_drain(dkm_potrf_ws *e);

/** Wait for requests, with the deferred update in hand. */
void dkm_potrf_update_overlap(dkm_potrf_ws *e, int count, MPI_Request *requests);

#endif
