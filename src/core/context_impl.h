/** @file context_impl.h  Body of the context, for src/core only. */
#ifndef DKMAP_CORE_CONTEXT_IMPL_H
#define DKMAP_CORE_CONTEXT_IMPL_H

#include <dkmap/context.h>

#include "core/ctx_private.h"

#define DKM_MESSAGE_LENGTH 1024
#define DKM_PHASE_LIMIT    64
#define DKM_PHASE_DEPTH    16

#define DKM_IDLE_BLOCKS 8

/** Memory that was given back and not yet to the system. */
typedef struct idle_block {
    void *raw;
    size_t mapped;
} idle_block;

typedef struct phase {
    const char *name;
    dkm_idx calls;
    double seconds, flops, entered;
    dkm_comm_counts comm, comm_entered;
    double outermost_bytes;             /* of calls that were in no other phase */
    int reported;                       /* since it was entered, how far it is */
    double began, began_at;             /* what was done at first, and when that was */
    double fraction, left, reported_at; /* as last reported; left is -1 when unknown */
} phase;

struct dkm_ctx {
    MPI_Comm comm, node;
    dkm_ctx *outer;                 /* whose communicator this one's was split from, or NULL */
    MPI_Errhandler callers_handler; /* of the communicator given to dkm_ctx_create() */
    int watching, mpi_error;        /* the first MPI error of this rank, MPI_SUCCESS for none */
    char mpi_text[MPI_MAX_ERROR_STRING];
    int rank, size, threads, fair_threads;
    int blas_serial; /* the BLAS library is to use one thread */
    uint64_t seed;
    dkm_factor factor;
    int svm_base[2]; /* of inputs and of outputs */
    double memory;   /* that ranks of a node may take together; 0: all there is */
    dkm_listener listener;
    int (*asked)(void *user); /* whether to stop at the next agreement; may be NULL */
    void *asked_user;
    char message[DKM_MESSAGE_LENGTH];
    dkm_idx live_blocks, budget;
    int64_t live_bytes, peak_bytes, largest;
    idle_block idle[DKM_IDLE_BLOCKS]; /* the oldest first */
    int idle_count;
    size_t idle_bytes, idle_more; /* held, and allowed beyond what always is */
    phase phases[DKM_PHASE_LIMIT];
    int phase_count, depth, open[DKM_PHASE_DEPTH];
    double last_progress;
    int attached;
    void (*attached_release)(int);
    void *checkpointer;
    void *kernels;
    void (*kernels_release)(void *);
    const void *lent[DKM_LENT_COUNT];
    dkm_comm_reader comm_reader;
};

/** Give memory back to the system that waits to be used again. Local. */
void dkm_alloc_release_idle(dkm_ctx *ctx);

/** Make the communicator of @p ctx, a copy of @p comm with the error handler of mpi_calls.h.
 *  Collective on @p comm.
 *  @return an MPI error code */
int dkm_mpi_duplicate(dkm_ctx *ctx, MPI_Comm comm);

#endif
