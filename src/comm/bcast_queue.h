/** @file bcast_queue.h  Broadcasts that advance while their ranks compute.
 *
 *  MPI_Ibcast() leaves the choice of algorithm to the library, which may send every copy from the
 *  root, and it advances all of them only inside MPI calls. A queue holds any number of broadcasts
 *  that are under way on one or more communicators, and one call of MPI_Testsome() moves all of
 *  them: what has arrived is sent on.
 *
 *  A chain passes the data from the root to the next rank and so on, in segments: every rank sends
 *  them once, and the rank after the root has them first. A tree is binomial: the root sends
 *  log2(size) copies, and all ranks have the data after log2(size) hops.
 *
 *  Segments of a broadcast have one tag, so they leave in their order: receives may complete in any
 *  order, and a segment that overtook another on the way would be matched in its place.
 *
 *  Sent by a rank: the data once in a chain, at most log2(size) times in a tree; messages: one
 *  per segment and receiver, none where there is nothing to send.
 */
#ifndef DKMAP_COMM_BCAST_QUEUE_H
#define DKMAP_COMM_BCAST_QUEUE_H

#include <dkmap/context.h>

typedef enum dkm_bcast_shape { DKM_BCAST_CHAIN, DKM_BCAST_TREE } dkm_bcast_shape;

enum { DKM_BCAST_CHILDREN = 32, DKM_BCAST_SEGMENTS = 8 };

/** One broadcast. The caller owns it and its buffer, and leaves both alone until it is complete. */
typedef struct dkm_bcast {
    MPI_Comm comm;
    MPI_Datatype type;
    int tag;
    char *buffer;
    size_t width;           /**< bytes of an element */
    dkm_idx rows, cols, ld; /**< column-major */
    int segments;
    int parent, children[DKM_BCAST_CHILDREN], child_count;
    int to_receive; /**< segments that have yet to arrive */
    unsigned there; /**< bit k: segment k has arrived */
    int forwarded;  /**< segments that were sent on */
    int to_send;    /**< messages that have yet to leave */
} dkm_bcast;

typedef struct dkm_bcast_request {
    dkm_bcast *of;
    int segment, is_receive;
} dkm_bcast_request;

typedef struct dkm_bcast_queue {
    MPI_Request *requests;
    dkm_bcast_request *meta; /**< of each request */
    int *completed;
    int count, capacity;
} dkm_bcast_queue;

/** Memory for @p broadcasts under way at a time on communicators of at most @p size ranks. Local;
 *  dkm_bcast_queue_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_bcast_queue_open(dkm_bcast_queue *queue, dkm_ctx *ctx,
                                             dkm_idx broadcasts, int size);
void dkm_bcast_queue_close(dkm_bcast_queue *queue);

/** What is broadcast: a column-major matrix, or a vector as a matrix of one column. Nothing moves
 *  between the columns. */
typedef struct dkm_bcast_data {
    void *a;
    dkm_idx rows, cols, ld;
    MPI_Datatype type;
} dkm_bcast_data;

/** Start a broadcast from @p root.
 *
 *  Every rank of @p comm calls it, and returns at once. Broadcasts under way at the same time on
 *  one communicator have different tags, each the same on all its ranks.
 */
void dkm_bcast_start(dkm_bcast_queue *queue, dkm_bcast *b, dkm_bcast_shape shape,
                     const dkm_bcast_data *data, int root, int tag, MPI_Comm comm);

/** Send on what has arrived of all broadcasts. Local. */
void dkm_bcast_progress(dkm_bcast_queue *queue);

/** The same, after waiting until something has arrived or left; there must be a request. */
void dkm_bcast_wait_some(dkm_bcast_queue *queue);

/** Wait until all of them are complete. */
void dkm_bcast_wait_all(dkm_bcast_queue *queue);

/** The data are there. Local. */
static inline int dkm_bcast_arrived(const dkm_bcast *b)
{
    return b->to_receive == 0;
}

/** The buffer may be used again. Local. */
static inline int dkm_bcast_complete(const dkm_bcast *b)
{
    return b->to_receive == 0 && b->to_send == 0;
}

#endif
