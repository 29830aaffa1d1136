/** @file elimination.h  What a Cholesky factorisation on the tiles of each process works with.
 *
 *  Columns of L are made a strip at a time. Each process gathers a strip for its own rows and for
 *  its own columns, and takes their product off its part of the trailing triangle. The columns of
 *  the next strip lose it first; the rest is a backlog, done in pieces while this process would
 *  wait for others in the next strip. The pieces are the same whenever they are done, so that the
 *  factor does not depend on the clock.
 */
#ifndef DKMAP_ELIMINATION_H
#define DKMAP_ELIMINATION_H

#include "dmat/dmat_impl.h"

/** A strip of columns of L, from row @p at on. */
typedef struct dkm_strip {
    dkm_idx at, width;  /**< global columns */
    dkm_idx row0, col0; /**< local rows and columns before them */
    void *rows, *cols;  /**< of L, in this rank's rows and columns from there on */
} dkm_strip;

/** The product of columns [c, c + w) of a strip with themselves. */
typedef struct dkm_product_part {
    const dkm_strip *s;
    dkm_idx c, w;
} dkm_product_part;

/** Columns of the trailing triangle that have yet to lose a product. */
typedef struct dkm_region {
    dkm_product_part product;
    dkm_idx b, end; /**< local blocks of columns */
    dkm_idx row;    /**< where the next piece begins in those from b on; -1 at the diagonal */
} dkm_region;

typedef struct dkm_elimination {
    dkm_dmat *A;
    dkm_ctx *ctx;
    int p, q, P, Q;
    dkm_idx wide;     /**< columns of a strip, a multiple of the block */
    dkm_strip now;    /**< the one that is being factored */
    dkm_strip before; /**< whose product is the backlog */
    dkm_region backlog;
    void *sent, *got;      /**< a block of columns on its way to its transpose */
    void *corner;          /**< the factor of a diagonal block */
    int *infos;            /**< outcome of each block of the strip */
    MPI_Request *requests; /**< of sends, two a block of the strip */
    int pending;           /**< how many of them are under way */
    int *counts, *starts;  /**< one a grid row */
    size_t size;           /**< bytes of a number */
    MPI_Datatype type;
} dkm_elimination;

/** Room for strips of @p A. Local; dkm_elimination_close() frees, also after a failure. */
DKM_NODISCARD
dkm_local dkm_elimination_open(dkm_elimination *e, dkm_dmat *A);
void dkm_elimination_close(dkm_elimination *e);

/** Addresses in A, and of column @p k of a strip in a local row or column. Local. */
void *dkm_in_matrix(const dkm_elimination *e, dkm_idx il, dkm_idx jl);
void *dkm_in_rows(const dkm_elimination *e, const dkm_strip *s, dkm_idx il, dkm_idx k);
void *dkm_in_cols(const dkm_elimination *e, const dkm_strip *s, dkm_idx jl, dkm_idx k);

/** Leading dimensions of a strip's rows and columns. Local. */
static inline dkm_idx dkm_rows_ld(const dkm_elimination *e, const dkm_strip *s)
{
    return e->A->m_loc - s->row0;
}

static inline dkm_idx dkm_cols_ld(const dkm_elimination *e, const dkm_strip *s)
{
    return e->A->n_loc - s->col0;
}

/** Global columns [from, to) of A, multiples of the block or the end, lose a product. Local. */
void dkm_update_columns(dkm_elimination *e, const dkm_product_part *x, dkm_idx from, dkm_idx to);

/** The strip at hand becomes the one before: columns of the next lose its product, the rest is the
 *  backlog. There must be none when it is called. Local. */
void dkm_backlog_begin(dkm_elimination *e);

/** Do all of the backlog. Local. */
void dkm_backlog_finish(dkm_elimination *e);

/** Wait for requests, with the backlog in hand. */
void dkm_backlog_wait(dkm_elimination *e, int count, MPI_Request *requests);

#endif
