/** @file mpi_calls.h  Errors of MPI calls, and communication with 64-bit counts.
 *
 *  Every communicator of a context, and every one derived from it, carries an error handler of this
 *  library. An MPI call that fails is recorded in the context, which stays failed from then on: the
 *  next agreement returns DKM_ERR_MPI on all ranks, with MPI's own text. Then the error is passed
 *  to the handler that the caller's communicator had, so that a program that aborts on MPI errors
 *  (MPI's default) still does. No call needs its return code looked at.
 *
 *  Communication of a context has no defined state after an error. When it hit one rank only, the
 *  others may wait for it for ever: only a handler that aborts is a way out of that.
 */
#ifndef DKMAP_CORE_MPI_CALLS_H
#define DKMAP_CORE_MPI_CALLS_H

#include <dkmap/context.h>

/** Record errors on @p comm, a communicator derived from that of @p ctx, in @p ctx. Takes
 *  MPI_COMM_NULL. Local.
 *  @return an MPI error code */
int dkm_mpi_watch(dkm_ctx *ctx, MPI_Comm comm);

/** Let go of what dkm_ctx_create() took for the error handler. Local. */
void dkm_mpi_unwatch(dkm_ctx *ctx);

/** Split the communicator of @p ctx as MPI_Comm_split(); errors on the new one are recorded in
 *  @p ctx. Collective. */
void dkm_mpi_split(dkm_ctx *ctx, int color, int key, MPI_Comm *comm);

/** The same for the ranks that share a node, as MPI_Comm_split_type(). Collective. */
void dkm_mpi_split_node(dkm_ctx *ctx, MPI_Comm *comm);

/** Put the caller's own error handler on @p comm, or MPI's fatal one where the caller's returns:
 *  for libraries that do not look at MPI's return codes and derive communicators of their own.
 *  dkm_mpi_watch() ends that. Local. */
void dkm_mpi_lend(dkm_ctx *ctx, MPI_Comm comm);

/** Record that an MPI call of this rank failed with @p code; the error handler does so. Local. */
void dkm_mpi_record(dkm_ctx *ctx, int code);

/** Most elements of one MPI call below; longer arrays are sent in several. */
#define DKM_MPI_MOST ((dkm_idx)1 << 28)

/** MPI_Allreduce() in place, MPI_Reduce(), MPI_Bcast(), MPI_Send() and MPI_Recv() of any number of
 *  elements, at most @p most of them at once. */
void dkm_mpi_allreduce_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
void dkm_mpi_reduce_by(dkm_idx most, const void *a, void *sum, dkm_idx count, MPI_Datatype type,
                       MPI_Op op, int root, MPI_Comm comm);
void dkm_mpi_bcast_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, int root,
                      MPI_Comm comm);
void dkm_mpi_send_by(dkm_idx most, const void *a, dkm_idx count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm);
void dkm_mpi_recv_by(dkm_idx most, void *a, dkm_idx count, MPI_Datatype type, int from, int tag,
                     MPI_Comm comm);
/** MPI_Allgatherv() with 64-bit counts and starts, known to all ranks: one call where the total is
 *  at most @p most, else a broadcast from each rank. With @p own NULL every rank's part is in its
 *  place in @p all already.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_mpi_allgatherv_by(dkm_idx most, dkm_ctx *ctx, const void *own,
                                               void *all, const dkm_idx *counts,
                                               const dkm_idx *starts, MPI_Datatype type);

/** MPI_Reduce_scatter() with 64-bit counts, known to all ranks: one call where the total is at most
 *  @p most, else a reduction to each rank. Part r begins at @p starts [r] of @p all.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_mpi_reduce_scatter_by(dkm_idx most, dkm_ctx *ctx, const void *all,
                                                   void *own, const dkm_idx *counts,
                                                   const dkm_idx *starts, MPI_Datatype type,
                                                   MPI_Op op);

#define dkm_mpi_allreduce(...)      dkm_mpi_allreduce_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_reduce(...)         dkm_mpi_reduce_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_bcast(...)          dkm_mpi_bcast_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_send(...)           dkm_mpi_send_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_recv(...)           dkm_mpi_recv_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_allgatherv(...)     dkm_mpi_allgatherv_by(DKM_MPI_MOST, __VA_ARGS__)
#define dkm_mpi_reduce_scatter(...) dkm_mpi_reduce_scatter_by(DKM_MPI_MOST, __VA_ARGS__)

#endif
