/** @file ssk_batch.h  The gapped subsequence kernel of several pairs of strings at once.
 *
 *  The kernel of Lodhi et al. (2002) is the sum over index tuples i_1 < ... < i_r of s and
 *  j_1 < ... < j_r of t that spell the same characters, of lambda^(l(i) + l(j)), where l(i) = i_r -
 *  i_1 + 1. Computed here is that sum divided by lambda^(2 r), which weights by the characters
 * skipped, l(i) - r: what matches without gaps counts 1, and small lambda does not drive all values
 *  towards zero.
 *
 *  Each lane is one pair, and there are 4 or 8 of them. Time O(r |s| |t|) for all of them
 *  together, memory O(r (|s| + |t|)).
 */
#ifndef DKMAP_KERNELS_STRING_SSK_BATCH_H
#define DKMAP_KERNELS_STRING_SSK_BATCH_H

#include <dkmap/context.h>

#include "core/simd.h"

enum {
    DKM_SSK_LANES = 8,  /**< at most */
    DKM_SSK_FEW = 4,    /**< where that is enough */
    DKM_SSK_CHUNK = 64, /**< characters of t at a time */
};

typedef struct dkm_ssk {
    dkm_ctx *ctx;
    dkm_idx r;
    double lambda;
    dkm_idx lanes;       /**< in use: dkm_ssk_use() */
    double *s, *t;       /**< characters as numbers, the lanes side by side */
    double *ones, *sums; /**< S_0; S_1 ... S_(r-1) of a batch of t */
    double *run_edge,
        *s_edge; /**< what one batch of t hands on to the next, for each character of s */
} dkm_ssk;

/** The evaluation for one instruction set. */
typedef struct dkm_ssk_kernels {
    void (*run)(const dkm_ssk *k, dkm_idx s_length, dkm_idx t_length, double *values);
} dkm_ssk_kernels;

DKM_SIMD_DECLARE(dkm_ssk_kernels, dkm_ssk_kernels);

/** Memory for strings of up to @p s_most and @p t_most characters. Local; dkm_ssk_close() frees, also
 *  after a failure. */
DKM_NODISCARD dkm_local dkm_ssk_open(dkm_ssk *k, dkm_ctx *ctx, dkm_idx r, double lambda,
                                     dkm_idx s_most, dkm_idx t_most);

/** Use the fewest lanes that are enough for @p count pairs, at most DKM_SSK_LANES. Local; what was
 *  put in lanes before is lost. */
void dkm_ssk_use(dkm_ssk *k, dkm_idx count);

/** Put a string in one lane of @p characters (k->s or k->t), filled up to @p padded characters with
 * ones that match nothing: -1 in s, -2 in t. Local. */
void dkm_ssk_put(const dkm_ssk *k, double *chars, dkm_idx lane, const char *text, dkm_idx length,
                 dkm_idx padded);

/** Evaluate all lanes over @p s_length and @p t_length characters. Local.
 *  @param[out] values  a number a lane */
void dkm_ssk_run(const dkm_ssk *k, dkm_idx s_length, dkm_idx t_length, double *values);

void dkm_ssk_close(dkm_ssk *k);

#endif
