/** @file sequences.h  Sequences of unequal length: every sequence lies on one rank.
 *
 *  Strings are sequences of characters; a string is where its row is. Dense rows are positions, a
 *  column of which numbers the sequences: a new one begins where the number changes. It belongs to
 *  the rank that has its first row, where the others are brought.
 */
#ifndef DKMAP_MODELS_JKM_CHAIN_SEQUENCES_H
#define DKMAP_MODELS_JKM_CHAIN_SEQUENCES_H

#include <dkmap/grid.h>

#include "data/objects.h"

typedef struct dkm_sequences {
    dkm_ctx *ctx;
    dkm_idx count, all; /**< own sequences, and those of all ranks */
    dkm_idx *start;     /**< count + 1: of the own positions */
    dkm_idx longest;    /**< positions of the longest own one */
    dkm_idx *first;     /**< ranks + 1: which of all positions are whose */
    const dkm_data *X;  /**< borrowed */
    dkm_idx d;          /**< of dense rows: numbers per position, without that of the sequence */
    double *rows;       /**< of dense rows: own positions x d */
} dkm_sequences;

/** Set up for strings, or for dense rows. Collective; dkm_sequences_close() frees, also after a
 *  failure.
 *  @param[in] column  of dense rows: which one has the numbers of the sequences
 *  @return DKM_OK; DKM_ERR_ARG, for an empty string naming its row; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_sequences_open(dkm_sequences *s, const dkm_data *X, dkm_idx column);
void dkm_sequences_close(dkm_sequences *s);

/** The column of sequence numbers of dense rows as data. Collective.
 *  @param[out] numbers  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_sequences_numbers(const dkm_data *X, dkm_idx column,
                                               dkm_data **numbers);

/** Own positions, and those of all ranks. Local. */
dkm_idx dkm_sequences_own(const dkm_sequences *s);
dkm_idx dkm_sequences_total(const dkm_sequences *s);

/** The rows of own positions. Collective.
 *  @param[in]  Y    a row for each position, in slabs
 *  @param[out] got  zeroed or fresh; to be cleared by the caller, also after a failure */
DKM_NODISCARD dkm_status dkm_sequences_fetch(const dkm_sequences *s, const dkm_data *Y,
                                             dkm_objs *got);

/** Objects of the own positions as data in slabs. Collective.
 *  @param[in]  own   an object for each own position
 *  @param[out] data  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_sequences_to_slabs(const dkm_sequences *s, const dkm_objs *own,
                                                dkm_data **data);

#endif
