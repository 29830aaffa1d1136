/** @file utf8.h  Characters of UTF-8 text. All local. */
#ifndef DKMAP_SELECTION_METRICS_UTF8_H
#define DKMAP_SELECTION_METRICS_UTF8_H

#include <dkmap/types.h>

/** The characters of @p n bytes; a byte that is not UTF-8 is a character of its own, beyond those of
 *  Unicode.
 *  @param[out] characters  at most n; or NULL to count them
 *  @return how many there are */
dkm_idx dkm_utf8_decode(const char *bytes, dkm_idx n, uint32_t *characters);

#endif
