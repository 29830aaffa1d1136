/** @file context_windows.h  Characters of output strings, each with a window on the input string
 * around it.
 *
 *  Where input and output are of the same length, the character at place p of the output has the
 * window about place p of the input; where they are not, positions go in proportion. Windows are
 * packed into words, so that characters are compared eight at a time; each place has a weight.
 */
#ifndef DKMAP_PREIMAGE_STRINGS_CONTEXT_WINDOWS_H
#define DKMAP_PREIMAGE_STRINGS_CONTEXT_WINDOWS_H

#include "data/objects.h"

typedef struct dkm_context_windows {
    dkm_idx n;        /**< strings */
    dkm_idx words;    /**< a window */
    dkm_idx *start;   /**< n + 1: where the characters of each string begin */
    uint64_t *window; /**< `words` for each character */
    char *letter;     /**< characters of the outputs; blanks where they are not known */
} dkm_context_windows;

/** The part of an output that is to be found: what follows a TAB, or all of it. Local. */
const char *dkm_context_windows_output(const char *bytes, dkm_idx length, dkm_idx *found);

/** Windows of @p width characters (odd) on @p X. Local; dkm_context_windows_close() frees, also
 * after a failure.
 *
 *  @param[in] X        inputs
 *  @param[in] Y        their outputs, or NULL where only @p lengths are known
 *  @param[in] lengths  of outputs that are not known
 */
DKM_NODISCARD dkm_local dkm_context_windows_open(dkm_context_windows *w, const dkm_objs *X,
                                                 const dkm_objs *Y, const dkm_idx *lengths,
                                                 dkm_idx width);
void dkm_context_windows_close(dkm_context_windows *w);

/** Which of eight characters differ, a bit each, the first the lowest. Local. */
static inline unsigned dkm_context_windows_mask(uint64_t a, uint64_t b)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t x = a ^ b; /* the high bit of each byte that is not zero, gathered in one byte */

    x = (x | ((x & low) + low)) & ~low;
    return (unsigned)((x >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/** Sums of the weights of characters that differ, for every mask of a word: words x 256. Local.
 *  @param[in]  weights  of the places of a window of @p width characters; NULL: 1 each
 *  @param[in]  step     numbers from one sum to the next in @p table */
void dkm_context_windows_table(dkm_idx width, const double *weights, dkm_idx step, double *table);

/** The weights of characters that differ between two windows, added up. Local. */
static inline double dkm_context_windows_distance(const uint64_t *a, const uint64_t *b,
                                                  dkm_idx words, const double *table)
{
    double sum = 0;

    for (dkm_idx k = 0; k < words; k++)
        sum += table[256 * k + dkm_context_windows_mask(a[k], b[k])];
    return sum;
}

#endif
