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

/** The words of a text, which they point into. Local. */
DKM_NODISCARD dkm_local dkm_words_split(dkm_ctx *ctx, const char *text, dkm_idx length,
                                        dkm_words *w);

/** Less than, equal to or greater than 0 as @p u comes before @p v, by their bytes. Local. */
int dkm_word_order(const dkm_word *u, const dkm_word *v);

/** Add the set of the words of a text to the object being made. Local. */
DKM_NODISCARD dkm_local dkm_word_set_add(dkm_builder *g, const char *text, dkm_idx length,
                                         dkm_words *w);

#endif
