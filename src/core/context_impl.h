/** @file context_impl.h  Body of the context, for src/core only. */
#ifndef DKMAP_CONTEXT_IMPL_H
#define DKMAP_CONTEXT_IMPL_H

#include <dkmap/context.h>

#define DKM_MESSAGE_LENGTH 1024
#define DKM_PHASE_LIMIT    64
#define DKM_PHASE_DEPTH    16

typedef struct phase {
    const char *name;
    dkm_idx calls;
    double seconds, flops, entered, comm, comm_entered;
    int told;                       /* since it was entered, how far it is */
    double began, began_at;         /* what was done at first, and when that was */
    double fraction, left, told_at; /* as it was told last; left is -1 when unknown */
} phase;

struct dkm_ctx {
    MPI_Comm comm, node;
    int rank, size, threads, fair_threads;
    uint64_t seed;
    double memory; /* that ranks of a node may take together; 0: all there is */
    dkm_listener listener;
    char message[DKM_MESSAGE_LENGTH];
    dkm_idx live_blocks, budget;
    int64_t live_bytes, peak_bytes;
    phase phases[DKM_PHASE_LIMIT];
    int phase_count, depth, open[DKM_PHASE_DEPTH];
    double last_progress;
    int foreign;
    void (*foreign_release)(int);
    void *keeper;
    void (*hook)(void);
    double (*comm_clock)(void);
};

#endif
