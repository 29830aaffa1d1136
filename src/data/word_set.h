/** @file word_set.h  Sets of words in one form, so that equal sets are equal strings: words sorted
 * by their bytes, each once, one blank between two. */
#ifndef DKMAP_DATA_WORD_SET_H
#define DKMAP_DATA_WORD_SET_H

#include "data/builder.h"

typedef struct dkm_word {
    const char *at;
    dkm_idx length;
} dkm_word;

/** Memory for the words of the longest text seen; zeroed at first. DKM_FREE(list) frees it. */
typedef struct dkm_words {
    dkm_idx capacity, count;
    dkm_word *list;
} dkm_words;

/** Add the set of the words of a text to the object being made. Local. */
DKM_NODISCARD dkm_local dkm_word_set_add(dkm_builder *g, const char *text, dkm_idx length,
                                         dkm_words *w);

#endif
