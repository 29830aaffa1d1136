/** @file simulate.h  The distributed kernels of dkmap on simulated nodes: what its parts share.
 *
 *  All ranks live in one process of SimGrid's SMPI. The sources of dkmap are those of the library;
 *  the linker's --wrap puts the functions of this folder between their parts:
 *
 *    work.c      products and kernel values advance simulated time by what a calibration measured,
 *                and are computed only where their operands are real
 *    memory.c    large matrices share memory: every rank has the same block for them
 *    messages.c  messages of such blocks carry their length and nothing else; counts per rank
 *    sample.c    large factors by samples of their panels
 *    fits.c      the fits, their records and main()
 */
#ifndef DKMAP_SIMULATE_H
#define DKMAP_SIMULATE_H

#include <dkmap/context.h>

/** Seconds and rates of one rank, by name as in a calibration file. */
typedef struct sim_rates {
    double gemm_double, gemm_single; /**< flops per second of large products */
    double syrk, trsm, potrf;        /**< of one block, in double */
    double skinny_bytes;             /**< of a matrix per second, times few columns */
    double copy_bytes;               /**< moved per second */
    double map_element;              /**< seconds of exp() per element of a tile */
} sim_rates;

extern sim_rates sim_rate;

/** Read the rates that are in @p path; whether all of them were. */
int sim_rates_read(const char *path);

/** Flops per second of a large product in double, which efficiencies are held against. */
double sim_gemm_rate(void);

/** Let the simulated time of what this rank has computed pass. */
void sim_flush(void);

/** Share parts of matrices of at least so many bytes, and what goes with them; 0 shares none. */
void sim_share_from(size_t bytes);

/** Whether @p a lies in a shared block, whose numbers mean nothing. */
int sim_is_shared(const void *a);

/** This rank, among all of them. */
int sim_rank(void);

/** Make what is kept per rank; once, before MPI is used. */
void sim_open(int ranks);

/** Simulate so many panels of a factor at each of some places instead of all; 0: all. */
void sim_sample(dkm_idx panels, int ranks);

/** A diagonal block is factored. */
void sim_sample_block(void);

/** Take so many seconds off the clock of this rank. */
void sim_set_back(double seconds);

/** The counts of this rank. */
dkm_comm_counts *sim_counts(void);

#endif
