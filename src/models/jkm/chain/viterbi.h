/** @file viterbi.h  The label sequence of greatest score along a chain. */
#ifndef DKMAP_MODELS_JKM_CHAIN_VITERBI_H
#define DKMAP_MODELS_JKM_CHAIN_VITERBI_H

#include <dkmap/context.h>

/** Memory for chains of up to a given length. */
typedef struct dkm_viterbi {
    dkm_idx k;     /**< labels */
    double *score; /**< 2 k: of the best way to each label, here and one position before */
    int32_t *from; /**< length x k: the label before on that way */
} dkm_viterbi;

/** Make ready for chains of at most @p length positions. Local; dkm_viterbi_close() frees, also
 *  after a failure. */
DKM_NODISCARD dkm_local dkm_viterbi_open(dkm_viterbi *v, dkm_ctx *ctx, dkm_idx k, dkm_idx length);
void dkm_viterbi_close(dkm_viterbi *v);

/** path = argmax over y of sum_t g_t(y_t) + sum_t transition(y_(t-1), y_t), to which every label
 *  that differs from @p truth adds 1; the lowest label of equals. Local.
 *
 *  @param[in]  G           length x k
 *  @param[in]  transition  k x k, row: the label before
 *  @param[in]  truth       length; NULL: no loss is added
 *  @param[out] path        length */
void dkm_viterbi_search(dkm_viterbi *v, dkm_idx length, const double *G, const double *transition,
                        const int32_t *truth, int32_t *path);

/** By how much the best label sequence with each label at each position scores below the best of
 *  all; 0 along that one. Local.
 *  @param[out] margins  length x k */
void dkm_viterbi_margins(dkm_viterbi *v, dkm_idx length, const double *G, const double *transition,
                         double *margins);

#endif
