/** @file char_voters.h  The nearest characters of training outputs, which vote on one to be found. */
#ifndef DKMAP_PREIMAGE_STRINGS_CHAR_VOTERS_H
#define DKMAP_PREIMAGE_STRINGS_CHAR_VOTERS_H

#include <dkmap/data.h>

/** One of the nearest characters so far. */
typedef struct dkm_char_voter {
    double distance; /**< infinite: none yet */
    uint64_t tie;    /**< of equal distances, the lowest is nearest */
    char letter;
} dkm_char_voter;

/** @p count lists' worth of places where nobody votes yet. Local. */
void dkm_char_voters_clear(dkm_char_voter *voters, dkm_idx count);

/** Put a character among the k nearest of a list, nearest first, if it belongs there. Local. */
void dkm_char_voters_insert(dkm_char_voter *list, dkm_idx k, dkm_char_voter v);

/** The character with most votes; of several the one whose first voter is nearest. Local. */
char dkm_char_voters_elect(const dkm_char_voter *list, dkm_idx k);

/** By which ties between equally distant characters are broken. Local.
 *  @param[in] seed     of the context
 *  @param[in] string   hash of the input whose output is to be found
 *  @param[in] at       place of the character in that output
 *  @param[in] example  index of the training string, and
 *  @param[in] position of its character */
uint64_t dkm_char_voters_tie(uint64_t seed, uint64_t string, dkm_idx at, dkm_idx example,
                             dkm_idx position);

#endif
