/** @file kmer_counts.h  Strings as counts of their p-mers: lists of (number of the p-mer, how
 * often). */
#ifndef DKMAP_KERNELS_STRING_KMER_COUNTS_H
#define DKMAP_KERNELS_STRING_KMER_COUNTS_H

#include "kernels/evaluation/panel.h"

/** Lists under construction, one string after the other. */
typedef struct dkm_counts {
    dkm_objs *objs;   /**< sparse, with the sum of squared counts as extra */
    dkm_idx done;     /**< strings whose lists are complete */
    dkm_idx capacity; /**< entries that fit */
    uint64_t *code;   /**< numbers of one string's p-mers, repeats and all */
} dkm_counts;

/** Begin lists for @p n strings of at most @p most p-mers each. Local; dkm_counts_close() frees the
 *  work space alone, also after a failure. */
DKM_NODISCARD dkm_local dkm_counts_open(dkm_counts *c, dkm_ctx *ctx, dkm_idx n, dkm_idx most,
                                        dkm_objs *objs);

/** The next string has the first @p count of the numbers in `code`. Local. */
DKM_NODISCARD dkm_local dkm_counts_add(dkm_counts *c, dkm_idx count);

void dkm_counts_close(dkm_counts *c);

/** k(x, x) of counted strings: their extra. Local. */
/** C(i, j) = sum over p-mers of both counts multiplied. Local. */
DKM_NODISCARD dkm_local dkm_counts_tile(const dkm_node *node, const dkm_tile_task *task,
                                        const dkm_tile *C);

#endif
