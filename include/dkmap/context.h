/** @file context.h  The one object every dkmap call hangs from: communicator, messages, log,
 * phases.
 *
 *  A context duplicates the communicator it is given and holds all state of the library: there are
 *  no globals. Objects made from a context must be destroyed before it.
 */
#ifndef DKMAP_CONTEXT_H
#define DKMAP_CONTEXT_H

#include <mpi.h>

#include <dkmap/status.h>
#include <dkmap/version.h>

DKM_API_BEGIN

typedef enum dkm_level { DKM_WARN, DKM_INFO, DKM_DEBUG } dkm_level;

/** Where messages and progress go; each function may be NULL. Called on rank 0 only. */
typedef struct dkm_listener {
    void *user;
    void (*message)(void *user, dkm_level level, const char *text);
    /** @p left is the expected time to the end of the phase in seconds, negative when unknown. */
    void (*progress)(void *user, const char *phase, double fraction, double left);
} dkm_listener;

/** Make a context on a copy of @p comm. Collective on @p comm.
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_MPI */
DKM_NODISCARD dkm_status dkm_ctx_create(MPI_Comm comm, dkm_ctx **ctx);

/** The same for the Fortran handle of a communicator (MPI_Comm_c2f(), mpi4py's py2f()), an integer
 *  in every MPI: for Fortran, and for bindings that do not know MPI_Comm. Collective. */
DKM_NODISCARD dkm_status dkm_ctx_create_f(MPI_Fint comm, dkm_ctx **ctx);

void dkm_ctx_set_listener(dkm_ctx *ctx, dkm_listener listener);

/** Let calls be interrupted: @p asked says whether this rank is to stop, by a signal for instance.
 *
 *  It is asked at safe points, the agreements of ranks between the phases of a computation and
 *  between iterations. Where any rank is to stop, the call that is at hand frees what it holds and
 *  returns DKM_ERR_STOPPED on all of them. Local; NULL, as it begins, lets nothing interrupt.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] asked  must not communicate; stays in force until it is replaced
 *  @param[in] user  handed to @p asked */
void dkm_ctx_set_interrupt(dkm_ctx *ctx, int (*asked)(void *user), void *user);

/** Seed of every random choice made under this context (default 0). Logically collective. */
void dkm_ctx_set_seed(dkm_ctx *ctx, uint64_t seed);

/** Threads of a rank; 0 shares the cores of a node among its ranks, up to OMP_NUM_THREADS.
 *  Logically collective. */
void dkm_ctx_set_threads(dkm_ctx *ctx, int threads);

/** Which Cholesky factorization of distributed matrices is used, dkmap's own or ScaLAPACK's
 * p?potrf. Both send about the same; DKM_FACTOR_AUTO, the default, takes the one that is faster as
 * a rule. A context on a communicator split from another context's takes its choice. Logically
 *  collective. */
typedef enum dkm_factor { DKM_FACTOR_AUTO, DKM_FACTOR_OWN, DKM_FACTOR_SCALAPACK } dkm_factor;
void dkm_ctx_set_factor(dkm_ctx *ctx, dkm_factor factor);

/** From what number the indices of svmlight files count: 0, 1 or, as it begins, DKM_SVM_BASE_AUTO.
 *
 *  Then the first file whose features are read decides for all that are read after it, inputs and
 *  outputs apart: from 0 if the index 0 occurs in it, else from 1. A file that contradicts the base
 *  is refused. Setting it again, also to DKM_SVM_BASE_AUTO, forgets what was decided. Logically
 *  collective. */
#define DKM_SVM_BASE_AUTO (-1)
void dkm_ctx_set_svm_base(dkm_ctx *ctx, int base);
/** The base that is set or decided for inputs; DKM_SVM_BASE_AUTO when neither. Local. */
int dkm_ctx_svm_base(const dkm_ctx *ctx);

/** Bytes that all ranks of a node together may take, where that is less than the node has free; 0,
 *  as it begins, sets no limit. What dkm_memory_fits() and dkm_memory_check() say heeds it.
 *  Logically collective. */
void dkm_ctx_set_memory(dkm_ctx *ctx, double bytes);

int dkm_ctx_rank(const dkm_ctx *ctx);
int dkm_ctx_size(const dkm_ctx *ctx);
MPI_Comm dkm_ctx_comm(const dkm_ctx *ctx);
uint64_t dkm_ctx_seed(const dkm_ctx *ctx);
int dkm_ctx_threads(const dkm_ctx *ctx);
dkm_factor dkm_ctx_factor(const dkm_ctx *ctx);

/** Message of the last failure agreed on: one line, the same on every rank. Local. */
const char *dkm_ctx_message(const dkm_ctx *ctx);

/** Blocks allocated and not yet freed on this rank: zero when all objects are gone. Local. */
dkm_idx dkm_ctx_live_blocks(const dkm_ctx *ctx);
/** Bytes in those blocks, and the most there ever were. Local. */
int64_t dkm_ctx_live_bytes(const dkm_ctx *ctx);
int64_t dkm_ctx_peak_bytes(const dkm_ctx *ctx);

/** Bytes of the largest block that was asked for since the last call. Local. */
int64_t dkm_ctx_take_largest(dkm_ctx *ctx);

/** Let @p budget more allocations of this rank succeed and the rest fail; negative ends that.
 * Local. */
void dkm_ctx_fail_after(dkm_ctx *ctx, dkm_idx budget);

/** Tell the user something. Local; only rank 0's listener hears it. */
void dkm_log(dkm_ctx *ctx, dkm_level level, const char *format, ...) DKM_PRINTF(3, 4);

/** Communication of a process. */
typedef struct dkm_comm_counts {
    double seconds;     /**< in calls of MPI, waiting included */
    double bytes;       /**< given to them to be sent, to one rank or in a collective */
    double messages;    /**< from one rank to another, those inside collectives left out */
    double collectives; /**< calls of them */
} dkm_comm_counts;

/** Reads what this process has communicated so far. Local. */
typedef void (*dkm_comm_reader)(dkm_comm_counts *so_far);

/** Let phases count communication, for programs that can count it; NULL ends that. The library
 * counts nothing itself. Logically collective. */
void dkm_ctx_set_comm_reader(dkm_ctx *ctx, dkm_comm_reader reader);
dkm_comm_reader dkm_ctx_comm_reader(const dkm_ctx *ctx);

/** Start counting seconds for the phase @p name (a string that outlives the context).
 *  Local. A phase entered again adds up; phases may nest. */
void dkm_phase_begin(dkm_ctx *ctx, const char *name);
/** End the innermost phase. Local. */
void dkm_phase_end(dkm_ctx *ctx);
/** Add floating point operations of this rank to the innermost phase. Local. */
void dkm_phase_flops(dkm_ctx *ctx, double flops);
/** Forget all phases so far, for a run that measures several things one after the other. Local; no
 *  phase may be open. */
void dkm_phase_clear(dkm_ctx *ctx);
/** Tell how far the innermost phase is. Local; rank 0's listener hears it a few times a second. Of
 *  phases inside one that has reported it, the outer one counts. A phase that does not begin at
 *  nothing reports at once where it does: the time left is reckoned from there. */
void dkm_progress(dkm_ctx *ctx, double done, double total);

/** One phase, summed up over the ranks. */
typedef struct dkm_phase_summary {
    const char *name;
    dkm_idx calls;
    double min, mean, max;                         /**< seconds */
    double flops;                                  /**< of all ranks together */
    dkm_comm_counts comm_min, comm_mean, comm_max; /**< of the ranks; 0 when not counted */
    double outermost_bytes; /**< the mean of a rank's, of the calls that were in no other phase */
} dkm_phase_summary;

/** Summaries of up to @p capacity phases in order of first entry. Collective.
 *  @return how many there are */
int dkm_phase_summaries(dkm_ctx *ctx, int capacity, dkm_phase_summary *out);

/** Most bytes ever resident on this rank, as the system counts them. Local. */
int64_t dkm_peak_resident(void);

/** The same without pages of libraries and of memory shared with other ranks (MPI's, within a node), as
 *  they are now: what this rank had to itself, at most. Local. */
int64_t dkm_peak_private(void);
/** The same with its part of pages that it shares: those that n processes map count 1/n (proportional set
 *  size), which is what it takes of its node. 0 where the system does not tell. Local. */
int64_t dkm_peak_proportional(void);

/** Whether every node can hold @p bytes more on each rank of its own. Collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] bytes  wanted by this rank */
int dkm_memory_fits(dkm_ctx *ctx, double bytes);

/** Refuse a job whose nodes cannot hold @p bytes more on every rank of theirs.
 *
 *  Collective. The message names @p what, the bytes needed and the bytes free.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] bytes  wanted by this rank
 *  @param[in] what  for the message
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_memory_check(dkm_ctx *ctx, double bytes, const char *what);

/** Free the context. Collective; takes NULL and nulls. */
void dkm_ctx_destroy(dkm_ctx **ctx);

DKM_API_END

#endif
