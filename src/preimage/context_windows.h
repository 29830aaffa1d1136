/** @file context_windows.h  Characters of output strings, each with a window on the input string
 * around it.
 *
 *  Where input and output are of the same length, the character at place p of the output has the
 * window about place p of the input; where they are not, positions go in proportion. Windows are
 * packed into words, so that characters which differ are counted eight at a time.
 */
#ifndef DKMAP_PREIMAGE_CONTEXT_WINDOWS_H
#define DKMAP_PREIMAGE_CONTEXT_WINDOWS_H

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

/** How many characters of two windows differ. Local. */
static inline int dkm_context_windows_differ(const uint64_t *a, const uint64_t *b, dkm_idx words)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    int count = 0;

    for (dkm_idx k = 0; k < words; k++) {
        uint64_t x = a[k] ^ b[k]; /* the high bit of each byte that is not zero */
        x = (x | ((x & low) + low)) & ~low;
        for (x >>= 7; x; x &= x - 1)
            count++;
    }
    return count;
}

#endif
